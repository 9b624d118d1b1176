/**
 * Runs hosts as pods. A host's pod has a name that nothing else can take, labels that identify its installation, and a
 * network policy that exists before the pod. The host itself reports its address, once it has one.
 *
 * While a watch runs, the driver answers from it; without a watch, each listing asks the API server.
 */
import type { V1OwnerReference, V1Pod } from '@kubernetes/client-node';
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import type { Container, Driver, Launched, LaunchSpec } from '../driver.ts';
import { containerName } from '../labels.ts';
import { checkAccess } from './access.ts';
import { type Arrangement, startArrangement } from './arrangement.ts';
import { type Cluster, clusterRefusal, isStatus } from './cluster.ts';
import { describePod } from './describe-pod.ts';
import { meetingPoint } from './meeting-point.ts';
import { ensureNamespace, podOwner, removeNamespace } from './namespace.ts';
import { type FenceSettings, networkPolicyOf } from './network-policy.ts';
import { createNodes } from './nodes.ts';
import { addressing, type PodSettings, podDigest, podOf, secretOf } from './pod.ts';
import { type KnownPod, type PodWatch, startPodWatch } from './pod-watch.ts';
import { createPods, type FoundPod, foreignPod } from './pods.ts';
import { apply, removeResources } from './resources.ts';

/** Grace period for a destroyed host to release its work, in seconds. */
const endSeconds = 1;
const endTimeoutMs = 20_000;
const endPollMs = 250;
/** Time after a pod's due end from which its node counts as unresponsive, in milliseconds. */
const overdueMs = 30_000;
/** Age at which the network policy is applied again, before a launch or by the arrangement, in milliseconds. */
const fenceMs = 25_000;

export type KubernetesDriverOptions = PodSettings &
  Pick<FenceSettings, 'controlPeers' | 'controlPorts' | 'callerPeers'> & {
    cluster: Cluster;
    /** Address by which pods reach the machine of the control plane; absent: the driver finds it. */
    hostAddress: string | undefined;
    /** True if images are pulled to nodes before a host is launched there. */
    prePull: boolean;
    /** Time for which a premium session may stay on a node that is being drained, in milliseconds. */
    drainWaitMs: number;
    log: Log;
  };

/** Returns true if the API server accepted the whole pod, and its deletion was not requested. */
const isAccepted = ({ pod }: FoundPod): boolean => {
  const phase = describePod(pod)?.phase;
  const isLeaving = pod.metadata?.deletionTimestamp !== undefined;
  return !isLeaving && (phase === 'pending' || phase === 'running');
};

/** Returns true if a pod still exists well past the time at which the kubelet had to have removed it. */
const isOverdue = ({ pod }: FoundPod): boolean => {
  const due = pod.metadata?.deletionTimestamp;
  return due !== undefined && Date.now() - new Date(due).getTime() > overdueMs;
};

/** Returns the container of a pod, with the age of a reclaim notice as of now. */
const asOfNow = ({ container, describedAt }: KnownPod): Container => {
  const { reclaimed } = container;
  if (reclaimed === undefined) return container;
  const forMs = reclaimed.forMs + Math.max(0, Date.now() - describedAt);
  return { ...container, reclaimed: { ...reclaimed, forMs } };
};

/** Creates the driver of one installation's hosts in one namespace. */
export const createKubernetesDriver = (options: KubernetesDriverOptions): Driver => {
  const { cluster, namespace, images, log } = options;
  const pods = createPods(cluster, options);
  const nodes = createNodes(cluster, log);
  const watchers = new Set<() => void>();
  let watch: PodWatch | undefined;
  let arrangement: Arrangement | undefined;
  let fencedAt = Number.NEGATIVE_INFINITY;
  let owner: V1OwnerReference | undefined;

  /** Applies the network policy of hosts unless it is recent; returns the object that owns the pods. */
  const fence = async (): Promise<V1OwnerReference> => {
    const now = performance.now();
    if (owner !== undefined && now - fencedAt < fenceMs) return owner;
    const { controlUrl } = options.host;
    await apply(cluster, networkPolicyOf({ ...options, controlUrl }));
    owner = await podOwner(cluster, options);
    fencedAt = now;
    return owner;
  };

  const giveToken = async (spec: LaunchSpec, podUid: string): Promise<void> => {
    try {
      await cluster.core.createNamespacedSecret({
        namespace,
        body: secretOf(spec, options, podUid),
      });
    } catch (error) {
      if (isStatus(error, 409)) return; // of a launch before this one
      throw clusterRefusal(`creating secret ${namespace}/${containerName(spec.hostId)}`, error);
    }
  };

  /** Returns the host's pod, created now or by an earlier launch. */
  const makePod = async (spec: LaunchSpec, owner: V1OwnerReference): Promise<V1Pod> => {
    const made = await pods.create(podOf(spec, options, owner));
    if (made !== undefined) return made;
    const found = await pods.find(spec.hostId);
    if (found === undefined) throw foreignPod(spec.hostId, options);
    return found.pod;
  };

  /** Ends a pod and resolves when it is gone. */
  const endOf = async (found: FoundPod): Promise<void> => {
    const { name, uid, owner } = found;
    const node = found.pod.spec?.nodeName;
    if (isOverdue(found)) log.warn({ pod: name, node }, 'its node does not end it');
    await pods.remove(found, isOverdue(found) ? 0 : endSeconds);
    const isGone = async (): Promise<boolean> =>
      watch?.has(name, uid) !== true && (await pods.find(owner.hostId))?.uid !== uid;
    const what = `the end of pod ${name} on node ${node ?? '(none)'}`;
    await until(isGone, { timeoutMs: endTimeoutMs, everyMs: endPollMs, what });
  };

  const begin = (): void => {
    const onChange = (): void => {
      for (const notify of watchers) notify();
    };
    const watching = startPodWatch({ ...options, pods, onChange });
    watch = watching;
    arrangement = startArrangement({ ...options, pods, nodes, fence, known: watching.last });
  };

  return {
    runtime: 'kubernetes',
    addressing,
    startsAtOnce: (node) => Math.max(2, nodes.processorsOf(node ?? '')),
    digestOf: (shape) => podDigest(shape, options),
    async prepare(preparing) {
      preparing.onProgress(`Kubernetes at ${cluster.address}, namespace ${namespace}`);
      await ensureNamespace(cluster, options);
      await checkAccess(cluster, namespace);
      return { ...(await meetingPoint(cluster, options.hostAddress)), image: images.world };
    },
    async list() {
      if (watch !== undefined) return watch.list().map(asOfNow);
      const { pods: found } = await pods.list();
      return found
        .map((pod) => describePod(pod))
        .filter((one): one is Container => one !== undefined);
    },
    async launch(spec): Promise<Launched> {
      const pod = await makePod(spec, await fence());
      const { name = '', uid = '' } = pod.metadata ?? {};
      if ((pod.spec?.schedulingGates ?? []).length > 0) {
        await giveToken(spec, uid);
        const freed = await pods.patch(name, uid, { spec: { schedulingGates: null } });
        if (freed === undefined) throw new AppError('unavailable', `pod ${name} was taken away`);
        watch?.expect(freed);
      }
      return { runtimeId: uid };
    },
    async adopt(hostId) {
      await fence();
      const found = await pods.find(hostId);
      if (found === undefined || !isAccepted(found)) {
        throw new AppError('not_found', `no pod of host ${hostId} runs`);
      }
      return { runtimeId: found.uid };
    },
    async destroy(hostId) {
      const found = await pods.find(hostId);
      if (found !== undefined) await endOf(found);
      watch?.forget(containerName(hostId));
    },
    async logs(hostId) {
      const found = await pods.find(hostId);
      return found === undefined ? '' : pods.logs(found);
    },
    watch(onChange) {
      watchers.add(onChange);
      if (watch === undefined) begin();
      return {
        loops: [watch, arrangement].filter((loop) => loop !== undefined),
        async stop() {
          watchers.delete(onChange);
          if (watchers.size > 0) return;
          const last = [watch, arrangement];
          watch = undefined;
          arrangement = undefined;
          await Promise.all(last.map((loop) => loop?.stop()));
        },
      };
    },
    arrange: (wanted) => arrangement?.want(wanted),
    async dismantle() {
      await removeResources(cluster, options);
      await removeNamespace(cluster, options);
    },
  };
};
