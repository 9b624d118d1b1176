/**
 * Applies and removes the cluster resources of an installation besides its hosts' pods. Names and labels identify them
 * as the installation's own.
 */
import type { KubernetesObject, V1ObjectMeta } from '@kubernetes/client-node';
import { PatchStrategy } from '@kubernetes/client-node';
import { labelNames } from '../labels.ts';
import { type Cluster, clusterRefusal, isStatus } from './cluster.ts';

/** Installation that resources of a cluster belong to, and their namespace. */
export type ResourceScope = { installation: string; namespace: string };

/** Field manager of server-side apply; fields that other managers set stay theirs. */
const fieldManager = 'svc-orchestrator';

export const managedBy = { 'app.kubernetes.io/managed-by': fieldManager } as const;

/** Names of an installation's network policy and disruption budget; each follows the installation's name. */
export const policyName = 'hosts';
export const budgetName = 'serving';

/** Returns the selector for all objects of an installation. */
export const selectorOf = (installation: string): string =>
  `${labelNames.installation}=${installation}`;

/** Returns the name and labels of an object of an installation. */
export const resourceMetadata = (
  { installation, namespace }: ResourceScope,
  what: string,
): V1ObjectMeta => ({
  name: `svc-${installation}-${what}`,
  namespace,
  labels: { ...managedBy, [labelNames.installation]: installation },
});

/** Creates or updates an object by server-side apply; returns its resulting state. */
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

/**
 * Name of the ConfigMap that owned the pods of the previous release. It is removed last, since the cluster then also
 * removes every object that it still owns.
 */
const formerOwnerName = 'hosts';

/** Removes everything that was applied for an installation. */
export const removeResources = async (cluster: Cluster, scope: ResourceScope): Promise<void> => {
  const { networking, policy, apps, core } = cluster;
  const { installation, namespace } = scope;
  const refusal = (error: unknown) =>
    clusterRefusal(`removing the objects of ${installation} in namespace ${namespace}`, error);
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
    absent(networking.deleteNamespacedNetworkPolicy(nameOf(policyName))),
    absent(policy.deleteNamespacedPodDisruptionBudget(nameOf(budgetName))),
    absent(core.deleteNamespacedConfigMap(nameOf(formerOwnerName))),
  ]);
};
