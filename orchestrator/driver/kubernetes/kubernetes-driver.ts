/**
 * Runs hosts as pods. A host's pod has a name that no other pod can have, labels that identify its installation, and a
 * network policy that exists before the pod. The host itself reports its address, once it has one.
 *
 * While a watch runs, the driver answers from it; without a watch, each listing asks the API server.
 */
import type { V1OwnerReference, V1Pod } from '@kubernetes/client-node';
import { AppError } from '#domain/error.ts';
import type { HostShape } from '#pools/pool-config.ts';
import type { Log } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import type {
  Container,
  Driver,
  Launched,
  LaunchSpec,
  Prepared,
  PrepareOptions,
  Wanted,
  Watch,
} from '../driver.ts';
import { containerName } from '../labels.ts';
import { checkAccess } from './access.ts';
import { type Arrangement, startArrangement } from './arrangement.ts';
import { clusterRefusal, isStatus } from './cluster.ts';
import { describePod } from './describe-pod.ts';
import { HostPolicy, type HostPolicyOptions } from './host-policy.ts';
import type { KnownPod } from './known-pods.ts';
import { meetingPoint } from './meeting-point.ts';
import { ensureNamespace, removeNamespace } from './namespace.ts';
import { createNodes, type Nodes } from './nodes.ts';
import { addressing, type PodSettings, podDigest, podOf, secretOf } from './pod.ts';
import { PodWatch } from './pod-watch.ts';
import { type FoundPod, foreignPod, Pods } from './pods.ts';
import { removeResources } from './resources.ts';

/** Grace period for a destroyed host to release its work, in seconds. */
const endSeconds = 1;
const endTimeoutMs = 20_000;
const endPollMs = 250;
/** Time after a pod's due end from which its node counts as unresponsive, in milliseconds. */
const overdueMs = 30_000;

export type KubernetesDriverOptions = PodSettings &
  HostPolicyOptions & {
    /** Address by which pods reach the machine of the control plane; if absent, the driver finds it. */
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

/** Driver of one installation's hosts in one namespace. */
export class KubernetesDriver implements Driver {
  readonly runtime = 'kubernetes';
  readonly addressing = addressing;
  /** Higher than on a single machine: the cluster only accepts a launch, and starts the pod on one of its nodes. */
  readonly changesAtOnce = 64;
  /** Longer than on a single machine, since it includes scheduling and the creation of the pod. */
  readonly startingMs = 20_000;
  readonly #options: KubernetesDriverOptions;
  readonly #pods: Pods;
  readonly #nodes: Nodes;
  readonly #policy: HostPolicy;
  readonly #watchers = new Set<() => void>();
  #watch: PodWatch | undefined;
  #arrangement: Arrangement | undefined;

  constructor(options: KubernetesDriverOptions) {
    const { cluster, log } = options;
    this.#options = options;
    this.#pods = new Pods(cluster, options);
    this.#nodes = createNodes(cluster, log);
    this.#policy = new HostPolicy(options);
  }

  startsAtOnce(node: string | undefined): number {
    return Math.max(2, this.#nodes.processorsOf(node ?? ''));
  }

  digestOf(shape: HostShape): string {
    return podDigest(shape, this.#options);
  }

  async prepare({ onProgress }: PrepareOptions): Promise<Prepared> {
    const { cluster, namespace, hostAddress, images } = this.#options;
    onProgress(`Kubernetes at ${cluster.address}, namespace ${namespace}`);
    await ensureNamespace(cluster, this.#options);
    await checkAccess(cluster, namespace);
    return { ...(await meetingPoint(cluster, hostAddress)), image: images.world };
  }

  async list(): Promise<Container[]> {
    if (this.#watch !== undefined) return this.#watch.list().map(asOfNow);
    const { pods } = await this.#pods.list();
    return pods.map((pod) => describePod(pod)).filter((one): one is Container => one !== undefined);
  }

  async launch(spec: LaunchSpec): Promise<Launched> {
    const pod = await this.#makePod(spec, await this.#policy.ensure());
    const { name = '', uid = '' } = pod.metadata ?? {};
    if ((pod.spec?.schedulingGates ?? []).length > 0) {
      await this.#giveToken(spec, uid);
      const freed = await this.#pods.patch(name, uid, { spec: { schedulingGates: null } });
      if (freed === undefined)
        throw new AppError('unavailable', `pod ${name} was deleted during its launch`);
      this.#watch?.expect(freed);
    }
    return { runtimeId: uid };
  }

  async adopt(hostId: string): Promise<Launched> {
    await this.#policy.ensure();
    const found = await this.#pods.find(hostId);
    if (found === undefined || !isAccepted(found)) {
      throw new AppError('not_found', `no pod of host ${hostId} runs`);
    }
    return { runtimeId: found.uid };
  }

  async destroy(hostId: string): Promise<void> {
    const found = await this.#pods.find(hostId);
    if (found !== undefined) await this.#end(found);
    this.#watch?.forget(containerName(hostId));
  }

  async logs(hostId: string): Promise<string> {
    const found = await this.#pods.find(hostId);
    return found === undefined ? '' : this.#pods.logs(found);
  }

  watch(onChange: () => void): Watch {
    this.#watchers.add(onChange);
    if (this.#watch === undefined) this.#startLoops();
    return {
      loops: [this.#watch, this.#arrangement].filter((loop) => loop !== undefined),
      stop: async () => {
        this.#watchers.delete(onChange);
        if (this.#watchers.size === 0) await this.#stopLoops();
      },
    };
  }

  arrange(wanted: Wanted): void {
    this.#arrangement?.want(wanted);
  }

  async dismantle(): Promise<void> {
    const { cluster } = this.#options;
    await removeResources(cluster, this.#options);
    await removeNamespace(cluster, this.#options);
  }

  /** Returns the host's pod, created now or by an earlier launch. */
  async #makePod(spec: LaunchSpec, owner: V1OwnerReference): Promise<V1Pod> {
    const made = await this.#pods.create(podOf(spec, this.#options, owner));
    if (made !== undefined) return made;
    const found = await this.#pods.find(spec.hostId);
    if (found === undefined) throw foreignPod(spec.hostId, this.#options);
    return found.pod;
  }

  async #giveToken(spec: LaunchSpec, podUid: string): Promise<void> {
    const { cluster, namespace } = this.#options;
    const body = secretOf(spec, this.#options, podUid);
    try {
      await cluster.core.createNamespacedSecret({ namespace, body });
    } catch (error) {
      if (isStatus(error, 409)) return; // of a launch before this one
      throw clusterRefusal(`creating secret ${namespace}/${containerName(spec.hostId)}`, error);
    }
  }

  /** Ends a pod and resolves when it is gone. */
  async #end(found: FoundPod): Promise<void> {
    const { name, uid, owner } = found;
    const node = found.pod.spec?.nodeName;
    const overdue = isOverdue(found);
    if (overdue)
      this.#options.log.warn({ pod: name, node }, 'the node of a pod does not end the pod');
    await this.#pods.remove(found, overdue ? 0 : endSeconds);
    const isGone = async (): Promise<boolean> =>
      this.#watch?.has(name, uid) !== true && (await this.#pods.find(owner.hostId))?.uid !== uid;
    const what = `the end of pod ${name} on node ${node ?? '(none)'}`;
    await until(isGone, { timeoutMs: endTimeoutMs, everyMs: endPollMs, what });
  }

  #startLoops(): void {
    const onChange = (): void => {
      for (const notify of this.#watchers) notify();
    };
    const pods = this.#pods;
    const watch = new PodWatch({ ...this.#options, pods, onChange });
    this.#watch = watch;
    this.#arrangement = startArrangement({
      ...this.#options,
      pods,
      nodes: this.#nodes,
      applyPolicy: () => this.#policy.ensure(),
      known: () => watch.last(),
    });
  }

  async #stopLoops(): Promise<void> {
    const loops = [this.#watch, this.#arrangement];
    this.#watch = undefined;
    this.#arrangement = undefined;
    await Promise.all(loops.map((loop) => loop?.stop()));
  }
}
