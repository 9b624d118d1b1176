/**
 * What an installation has in a cluster besides its hosts' pods, and how it is known as its own: a name
 * and labels that it is applied with, and removed by.
 */
import type { KubernetesObject, V1ObjectMeta } from '@kubernetes/client-node';
import { PatchStrategy } from '@kubernetes/client-node';
import { labelNames } from '../labels.ts';
import { type Cluster, clusterRefusal, isStatus } from './cluster.ts';

/** The installation that resources of a cluster belong to, and the namespace that they are in. */
export type ResourceScope = { installation: string; namespace: string };

/** Who applies; fields that others set stay theirs. */
const fieldManager = 'svc-orchestrator';

export const managedBy = { 'app.kubernetes.io/managed-by': fieldManager } as const;

/** The names of an installation's network policy and disruption budget, after its own. */
export const fenceName = 'hosts';
export const budgetName = 'serving';

/** Selects what belongs to an installation. */
export const selectorOf = (installation: string): string =>
  `${labelNames.installation}=${installation}`;

/** Name and labels of an object of an installation. */
export const resourceMetadata = (
  { installation, namespace }: ResourceScope,
  what: string,
): V1ObjectMeta => ({
  name: `svc-${installation}-${what}`,
  namespace,
  labels: { ...managedBy, [labelNames.installation]: installation },
});

/** Makes an object, or makes it as it is given here, by server-side apply; answers what it is then. */
export const apply = async <Kind extends KubernetesObject>(
  { objects }: Cluster,
  object: Kind,
): Promise<KubernetesObject> => {
  try {
    return await objects.patch(
      object,
      undefined,
      undefined,
      fieldManager,
      true,
      PatchStrategy.ServerSideApply,
    );
  } catch (error) {
    const { kind, metadata } = object;
    throw clusterRefusal(`applying ${kind} ${metadata?.namespace}/${metadata?.name}`, error);
  }
};

/** A ConfigMap that owned the pods of the release before. It goes last: what it still owns goes with it. */
const formerOwnerName = 'hosts';

/** Removes all that was applied for an installation. */
export const removeResources = async (cluster: Cluster, scope: ResourceScope): Promise<void> => {
  const { networking, policy, apps, core } = cluster;
  const { installation, namespace } = scope;
  const refusal = (error: unknown) =>
    clusterRefusal(`removing what ${installation} has in namespace ${namespace}`, error);
  const absent = async (removal: Promise<unknown>): Promise<void> => {
    try {
      await removal;
    } catch (error) {
      if (!isStatus(error, 404)) throw refusal(error);
    }
  };
  const nameOf = (what: string): { name: string; namespace: string } => ({
    name: resourceMetadata(scope, what).name ?? '',
    namespace,
  });
  const labelSelector = selectorOf(installation);
  const listing = apps.listNamespacedDaemonSet({ namespace, labelSelector });
  const sets = await listing.catch((error: unknown) => {
    throw refusal(error);
  });
  const setNames = sets.items.flatMap(({ metadata }) => metadata?.name ?? []);
  await Promise.all([
    ...setNames.map((name) => absent(apps.deleteNamespacedDaemonSet({ name, namespace }))),
    absent(networking.deleteNamespacedNetworkPolicy(nameOf(fenceName))),
    absent(policy.deleteNamespacedPodDisruptionBudget(nameOf(budgetName))),
    absent(core.deleteNamespacedConfigMap(nameOf(formerOwnerName))),
  ]);
};
