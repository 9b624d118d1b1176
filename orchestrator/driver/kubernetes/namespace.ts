/**
 * The namespace of an installation, which owns its pods. A namespace that the operator names is used as it is. Without
 * a name the installation gets one of its own, which enforces the Pod Security level "restricted" for its pods and is
 * removed with it.
 */
import type { V1OwnerReference } from '@kubernetes/client-node';
import { AppError } from '#domain/error.ts';
import { labelNames } from '../labels.ts';
import { type Cluster, clusterRefusal, isStatus } from './cluster.ts';
import { managedBy, type ResourceScope } from './resources.ts';

export const ownNamespace = (installation: string): string => `svc-${installation}`;

const readOwner = async (
  { core }: Cluster,
  name: string,
): Promise<{ owner: string | undefined } | undefined> => {
  try {
    const { metadata } = await core.readNamespace({ name });
    if (metadata?.deletionTimestamp !== undefined) {
      throw new AppError('unavailable', `Kubernetes: namespace ${name} is being deleted`);
    }
    return { owner: metadata?.labels?.[labelNames.installation] };
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    // Rights inside a namespace do not include reading the namespace. The operator who granted them has created it.
    if (isStatus(error, 403)) return { owner: undefined };
    throw clusterRefusal(`reading namespace ${name}`, error);
  }
};

/**
 * Creates the installation's own namespace unless it exists. Throws `not_found` for a missing one that the operator
 * has to create.
 */
export const ensureNamespace = async (
  cluster: Cluster,
  { installation, namespace }: ResourceScope,
): Promise<void> => {
  if ((await readOwner(cluster, namespace)) !== undefined) return;
  if (namespace !== ownNamespace(installation)) {
    throw new AppError('not_found', `Kubernetes: namespace ${namespace} does not exist: create it`);
  }
  const labels = {
    ...managedBy,
    [labelNames.installation]: installation,
    'pod-security.kubernetes.io/enforce': 'restricted',
  };
  try {
    await cluster.core.createNamespace({ body: { metadata: { name: namespace, labels } } });
  } catch (error) {
    if (!isStatus(error, 409)) throw clusterRefusal(`creating namespace ${namespace}`, error);
  }
};

/**
 * Returns the object that pods name as their controller. Drains (`kubectl drain`, autoscalers) evict only pods with a
 * controller, and the cluster removes pods whose owner is removed. The namespace serves as the owner, since pods
 * cannot exist without it anyway.
 */
export const podOwner = async (
  { core }: Cluster,
  { namespace: name }: ResourceScope,
): Promise<V1OwnerReference> => {
  try {
    const { metadata } = await core.readNamespace({ name });
    return {
      apiVersion: 'v1',
      kind: 'Namespace',
      name,
      uid: metadata?.uid ?? '',
      controller: true,
    };
  } catch (error) {
    throw clusterRefusal(`reading namespace ${name}`, error);
  }
};

/** Removes the namespace if it was created for this installation and holds no other pods. */
export const removeNamespace = async (
  cluster: Cluster,
  { installation, namespace }: ResourceScope,
): Promise<void> => {
  if (namespace !== ownNamespace(installation)) return;
  const found = await readOwner(cluster, namespace);
  if (found?.owner !== installation) return;
  try {
    const { items } = await cluster.core.listNamespacedPod({ namespace, limit: 1 });
    if (items.length === 0) await cluster.core.deleteNamespace({ name: namespace });
  } catch (error) {
    if (!isStatus(error, 404)) throw clusterRefusal(`deleting namespace ${namespace}`, error);
  }
};
