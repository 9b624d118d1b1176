/**
 * Finds how pods reach a control plane on this machine: at the address of a node, when this machine is that node. A
 * control plane that runs in the cluster is reached by its service, which the operator names.
 */
import { hostname } from 'node:os';
import { isOurs } from '../own-address.ts';
import { type Cluster, clusterRefusal, isStatus } from './cluster.ts';

const nodesAsked = 20;

const nodeAddresses = async ({ core }: Cluster): Promise<string[]> => {
  try {
    const { items } = await core.listNode({ limit: nodesAsked });
    return items.flatMap(({ status }) =>
      (status?.addresses ?? [])
        .filter(({ type }) => type === 'InternalIP')
        .map(({ address }) => address),
    );
  } catch (error) {
    // Rights in a namespace alone do not include nodes; an orchestrator with only those usually runs in a pod itself.
    if (isStatus(error, 403)) return [];
    throw clusterRefusal('listing nodes', error);
  }
};

/** Returns where the control plane has to listen, if anywhere, and the address by which pods reach its machine. */
export const meetingPoint = async (
  cluster: Cluster,
  given: string | undefined,
): Promise<{ listen: string | null; host: string }> => {
  if (given !== undefined) return { listen: (await isOurs(given)) ? given : null, host: given };
  for (const address of await nodeAddresses(cluster)) {
    if (await isOurs(address)) return { listen: address, host: address };
  }
  return { listen: null, host: hostname() };
};
