/**
 * Volumes for tests on a cluster that provides none. They are folders of one node, which a pod of their own creates and
 * removes, and are bound to their claims beforehand.
 */
import { randomBytes } from 'node:crypto';
import { until } from '#runtime/pause.ts';
import type { Cluster } from '../../../orchestrator/driver/kubernetes/cluster.ts';

export type HostVolumes = {
  /** Storage class that the claims have to name. */
  className: string;
  /** Node with the folders; pods that use them must run there. */
  node: string;
  /** Empties the volumes, once the claims are gone. */
  renew(): Promise<void>;
  remove(): Promise<void>;
};

const above = '/var/tmp';
const timeoutMs = 60_000;

/** Creates a volume for each claim in a namespace. `image` must have a shell, and be on the node. */
export const makeHostVolumes = async (
  { core }: Cluster,
  image: string,
  namespace: string,
  claims: readonly string[],
): Promise<HostVolumes> => {
  const className = `svc-test-${randomBytes(4).toString('hex')}`;
  const { items } = await core.listNode();
  const node = items[0]?.metadata?.labels?.['kubernetes.io/hostname'] ?? '';
  await core.createNamespace({ body: { metadata: { name: className } } });

  /** Runs a command as root on the node with the folders. */
  const runOnNode = async (what: string, command: string): Promise<void> => {
    const name = `${what}-${randomBytes(4).toString('hex')}`;
    await core.createNamespacedPod({
      namespace: className,
      body: {
        metadata: { name },
        spec: {
          restartPolicy: 'Never',
          nodeSelector: { 'kubernetes.io/hostname': node },
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: what,
              image,
              imagePullPolicy: 'IfNotPresent',
              command: ['sh', '-c', command],
              securityContext: { runAsUser: 0 },
              volumeMounts: [{ name: 'above', mountPath: '/above' }],
            },
          ],
          volumes: [{ name: 'above', hostPath: { path: above } }],
        },
      },
    });
    const isDone = async (): Promise<boolean> => {
      const { status } = await core.readNamespacedPod({ name, namespace: className });
      return status?.phase === 'Succeeded';
    };
    await until(isDone, { timeoutMs, everyMs: 250, what: `${command} on ${node}` });
  };

  const folders = claims.map((claim) => `/above/${className}/${claim}`).join(' ');
  const fill = async (): Promise<void> => {
    await runOnNode('make', `mkdir -p ${folders} && chmod 777 ${folders}`);
    for (const claim of claims) {
      await core.createPersistentVolume({
        body: {
          metadata: { name: `${className}-${claim}` },
          spec: {
            storageClassName: className,
            capacity: { storage: '1Gi' },
            accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
            persistentVolumeReclaimPolicy: 'Retain',
            claimRef: { namespace, name: claim },
            hostPath: { path: `${above}/${className}/${claim}` },
          },
        },
      });
    }
  };
  const empty = async (): Promise<void> => {
    for (const claim of claims) {
      await core.deletePersistentVolume({ name: `${className}-${claim}` });
    }
    await runOnNode('remove', `rm -rf /above/${className}`);
  };
  await fill();
  return {
    className,
    node,
    async renew() {
      await empty();
      await fill();
    },
    async remove() {
      await empty();
      await core.deleteNamespace({ name: className });
    },
  };
};
