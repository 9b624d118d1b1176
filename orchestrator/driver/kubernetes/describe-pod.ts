/**
 * Interprets a pod's status for its host: whether it runs, why it does not run yet, how it ended, and whether the
 * cluster evicts it.
 */

import type { V1ContainerState, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { own } from '#domain/json.ts';
import { type LedgerMark, readLedgerMark } from '#domain/ledger.ts';
import type { Container, ContainerExit, ContainerTrouble, Reclaim } from '../driver.ts';
import { heapExit, heapStatus } from '../heap.ts';
import { ownerOf } from '../labels.ts';

/** Name of the single container of a host's pod. */
export const hostContainer = 'host';

const troubles: Readonly<Record<string, ContainerTrouble['kind']>> = {
  ErrImagePull: 'image',
  ImagePullBackOff: 'image',
  ErrImageNeverPull: 'image',
  ImageInspectError: 'image',
  InvalidImageName: 'image',
  RegistryUnavailable: 'image',
  SignatureValidationFailed: 'image',
  CrashLoopBackOff: 'crash_loop',
  CreateContainerConfigError: 'refused',
  CreateContainerError: 'refused',
  RunContainerError: 'refused',
  PreCreateHookError: 'refused',
  PreStartHookError: 'refused',
  PostStartHookError: 'refused',
};

/** Reasons with which a kubelet ends a pod through no fault of the pod. */
const takenAway = new Set([
  'Evicted',
  'NodeAffinity',
  'NodeLost',
  'NodeShutdown',
  'Preempting',
  'Shutdown',
  'Terminated',
]);

const joined = (...parts: (string | undefined)[]): string =>
  parts
    .map((part) => part?.trim())
    .filter(Boolean)
    .join(': ');

const conditionOf = (pod: V1Pod, type: string) =>
  pod.status?.conditions?.find((condition) => condition.type === type);

/** Returns a time of the API in milliseconds since 1970; a list returns it parsed, a watch as text. */
const msOf = (time: Date | string | undefined): number | undefined =>
  time === undefined ? undefined : new Date(time).getTime();

/** Returns when a deletion was requested: its time stamp is the end of the grace period. */
const deletedAt = ({ metadata }: V1Pod): number | undefined => {
  const endsAt = msOf(metadata?.deletionTimestamp);
  return endsAt && endsAt - (metadata?.deletionGracePeriodSeconds ?? 0) * 1_000;
};

const reclaimedOf = (pod: V1Pod, now: number): Reclaim | undefined => {
  const { status } = pod;
  const disruption = conditionOf(pod, 'DisruptionTarget');
  const isDisrupted = disruption?.status === 'True';
  const since = deletedAt(pod) ?? (isDisrupted ? msOf(disruption.lastTransitionTime) : now);
  const notice = (why: string): Reclaim => ({ why, forMs: Math.max(0, now - (since ?? now)) });
  if (isDisrupted) return notice(joined(disruption.reason, disruption.message));
  if (takenAway.has(status?.reason ?? '')) return notice(joined(status?.reason, status?.message));
  if (deletedAt(pod) === undefined) return undefined;
  return notice(`the pod is being deleted${status?.reason ? `: ${status.reason}` : ''}`);
};

const troubleOf = (
  pod: V1Pod,
  state: V1ContainerState | undefined,
): ContainerTrouble | undefined => {
  const { reason = '', message } = state?.waiting ?? {};
  const kind = own(troubles, reason);
  if (kind !== undefined) return { kind, message: joined(reason, message) };
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason === 'SchedulingGated') return undefined;
  return { kind: 'unschedulable', message: joined(scheduled.reason, scheduled.message) };
};

/** Reads the mark of a ledger from the termination message, where hosts write it. */
const markOf = (state: V1ContainerState | undefined): LedgerMark | undefined =>
  readLedgerMark(state?.terminated?.message ?? '');

const exitOf = (pod: V1Pod, state: V1ContainerState | undefined): ContainerExit => {
  const ended = state?.terminated;
  const message = markOf(state) === undefined ? ended?.message : undefined;
  if (ended?.reason === 'OOMKilled') {
    return { reason: 'out_of_memory', detail: joined('killed: out of memory', message) };
  }
  if (ended?.exitCode === heapStatus) return heapExit;
  const status = ended === undefined ? undefined : `exit status ${ended.exitCode}`;
  const reason = ended?.reason === 'Error' ? undefined : ended?.reason;
  const detail = joined(status, reason, message, pod.status?.reason, pod.status?.message);
  return { reason: 'exited', detail: detail || 'the pod ended without a reason' };
};

const hasEnded = ({ status }: V1Pod, state: V1ContainerState | undefined): boolean =>
  state?.terminated !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed';

const isHost = ({ name }: V1ContainerStatus): boolean => name === hostContainer;

/**
 * Describes a pod as a container, at a time in milliseconds since 1970. Returns undefined when the pod's labels name no
 * host.
 */
export const describePod = (pod: V1Pod, now = Date.now()): Container | undefined => {
  const owner = ownerOf(pod.metadata?.labels ?? {});
  if (owner === undefined) return undefined;
  const { hostId, digest } = owner;
  const state = pod.status?.containerStatuses?.find(isHost)?.state;
  const reclaimed = reclaimedOf(pod, now);
  const node = pod.spec?.nodeName;
  const known = {
    hostId,
    digest,
    ...(node === undefined ? {} : { node }),
    ...(reclaimed === undefined ? {} : { reclaimed }),
  };
  if (hasEnded(pod, state)) {
    const ledger = markOf(state);
    const exit = exitOf(pod, state);
    return { ...known, phase: 'exited', exit, ...(ledger === undefined ? {} : { ledger }) };
  }
  if (state?.running !== undefined) return { ...known, phase: 'running' };
  if ((pod.spec?.schedulingGates ?? []).length > 0) return { ...known, phase: 'created' };
  const trouble = troubleOf(pod, state);
  return { ...known, phase: 'pending', ...(trouble === undefined ? {} : { trouble }) };
};
