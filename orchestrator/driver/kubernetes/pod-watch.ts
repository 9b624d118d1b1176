/**
 * Keeps the installation's pods by a watch: one list, then each change as it arrives, with bookmarks so that a broken
 * watch resumes where it was. If the cluster has forgotten the resource version (410), the watch lists again. While
 * the watch is broken, readers get an error: pods are never taken for gone because the API server does not answer.
 */
import { type V1Pod, Watch as WatchRequest } from '@kubernetes/client-node';
import { AppError, describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { LoopView } from '#runtime/loop-board.ts';
import type { Container } from '../driver.ts';
import { type Cluster, isStatus } from './cluster.ts';
import { describePod } from './describe-pod.ts';
import { hostSelector, type Pods } from './pods.ts';
import type { ResourceScope } from './resources.ts';

/** Time for which a broken watch's pods stay valid, in milliseconds; a watch usually reconnects at once. */
const usuallyToleratedMs = 3_000;
/** Time after which the API server ends a watch and it is opened again, in seconds. */
const watchSeconds = 300;
const reopenMs = 100;

/** A pod, reduced to the fields that the orchestrator uses. */
export type KnownPod = {
  uid: string;
  /** Resource version of the pod. */
  version: string;
  name: string;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  container: Container;
  /** Time at which it was described, in milliseconds since 1970. */
  describedAt: number;
};

export type PodWatch = LoopView & {
  /** Returns every pod. Throws `unavailable` while the watch is broken. */
  list(): KnownPod[];
  /** Returns every pod as last seen, even while the watch is broken. */
  last(): KnownPod[];
  /** Returns true if a pod of this name and uid is known to exist now. */
  has(name: string, uid: string): boolean;
  /** Records a pod that was just created or changed, before the watch reports it. */
  expect(pod: V1Pod): void;
  /** Records that a pod of this name is gone. */
  forget(name: string): void;
  stop(): Promise<void>;
};

export type PodWatchOptions = ResourceScope & {
  cluster: Cluster;
  pods: Pods;
  log: Log;
  /** Time for which a broken watch still answers, in milliseconds; absent: some seconds. */
  toleratedMs?: number;
  onChange(): void;
};

type WatchEvent = { type: string; object: V1Pod & { code?: number; message?: string } };

/** Returns true if one resource version precedes another; false for versions that are not numbers. */
const isOlder = (one: string, other: string): boolean =>
  /^\d+$/.test(one) && /^\d+$/.test(other) && BigInt(one) < BigInt(other);

const versionOf = (pod: V1Pod): string | undefined => pod.metadata?.resourceVersion;

/**
 * Reads a watch to its end. Resolves when the API server ends it or it was silent for long; rejects when it breaks.
 * Calls `open` when it is established.
 */
const readWatch = async (
  { cluster, installation, namespace }: PodWatchOptions,
  resourceVersion: string,
  signal: AbortSignal,
  on: { open(): void; event(event: WatchEvent): void },
): Promise<void> => {
  const ended = Promise.withResolvers<void>();
  const end = (error: unknown): void => {
    if (error instanceof Error && error.name !== 'TimeoutError') ended.reject(error);
    else ended.resolve();
  };
  let isOver = false;
  const onEnd = (error: unknown): void => {
    isOver = true;
    end(error);
  };
  const request = new WatchRequest(cluster.config).watch(
    `/api/v1/namespaces/${namespace}/pods`,
    {
      labelSelector: hostSelector(installation),
      allowWatchBookmarks: true,
      resourceVersion,
      timeoutSeconds: watchSeconds,
    },
    (type, object) => on.event({ type, object }),
    onEnd,
  );
  const abort = (): void => {
    ended.resolve();
    request.then(
      (controller) => controller.abort(),
      () => undefined, // it never began
    );
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    request.then(() => {
      if (!isOver) on.open();
    }, end);
    await ended.promise;
  } finally {
    signal.removeEventListener('abort', abort);
    abort();
  }
};

/** Starts to watch. */
export const startPodWatch = (options: PodWatchOptions): PodWatch => {
  const { onChange, log, toleratedMs = usuallyToleratedMs } = options;
  let known = new Map<string, KnownPod>();
  /** Time of the last local change to each pod, by name; a list that began earlier may not show it. */
  const done = new Map<string, number>();
  let resourceVersion: string | undefined;
  let brokenSince: number | undefined = Number.NEGATIVE_INFINITY;
  let lastError = 'they are being listed';

  const knownPod = (pod: V1Pod): KnownPod | undefined => {
    const { name, uid, labels = {}, annotations = {} } = pod.metadata ?? {};
    const describedAt = Date.now();
    const container = describePod(pod, describedAt);
    if (name === undefined || uid === undefined || container === undefined) return undefined;
    const version = versionOf(pod) ?? '';
    return { name, uid, labels, annotations, container, describedAt, version };
  };

  /** Stores a pod's state, unless a later version of it is known. */
  const put = (now: KnownPod): void => {
    const before = known.get(now.name);
    if (before?.uid === now.uid && isOlder(now.version, before.version)) return;
    known.set(now.name, now);
    const isSame = JSON.stringify(before?.container) === JSON.stringify(now.container);
    if (!isSame) onChange();
  };

  const keep = (pod: V1Pod): void => {
    const now = knownPod(pod);
    if (now !== undefined) put(now);
  };

  const markBroken = (error: unknown): void => {
    brokenSince ??= performance.now();
    lastError = describeError(error);
  };

  const relist = async (): Promise<void> => {
    const startedAt = performance.now();
    const listed = await options.pods.list();
    const read = listed.pods.flatMap((pod) => knownPod(pod) ?? []);
    const before = known;
    known = new Map(read.map((pod) => [pod.name, pod]));
    for (const [name, since] of done) {
      const pod = before.get(name);
      if (since < startedAt) done.delete(name);
      else if (pod !== undefined) put(pod);
    }
    resourceVersion = listed.resourceVersion;
    onChange();
  };

  const drop = (pod: V1Pod): void => {
    const { name = '', uid } = pod.metadata ?? {};
    if (known.get(name)?.uid !== uid) return;
    known.delete(name);
    done.delete(name);
    onChange();
  };

  const onEvent = ({ type, object }: WatchEvent): void => {
    if (type === 'ERROR') {
      // This event ends the watch; the next one begins with a list.
      resourceVersion = undefined;
      log.debug({ code: object.code, message: object.message }, 'the watch of pods ended');
      return;
    }
    if (type === 'ADDED' || type === 'MODIFIED') keep(object);
    if (type === 'DELETED') drop(object);
    resourceVersion = versionOf(object) ?? resourceVersion;
  };

  const tick = async (signal: AbortSignal): Promise<void> => {
    try {
      if (resourceVersion === undefined) await relist();
      await readWatch(options, resourceVersion ?? '', signal, {
        open: () => {
          brokenSince = undefined;
        },
        event: onEvent,
      });
      markBroken('the watch of pods has ended');
    } catch (error) {
      if (isStatus(error, 410)) resourceVersion = undefined;
      markBroken(error);
      throw error;
    }
  };

  const loop: Loop<void> = startLoop({ name: 'watch-pods', everyMs: reopenMs, log, tick });

  const isBroken = (): boolean =>
    brokenSince !== undefined && performance.now() - brokenSince > toleratedMs;

  const last = (): KnownPod[] => [...known.values()];

  return {
    last,
    list() {
      if (!isBroken()) return last();
      throw new AppError('unavailable', `Kubernetes: pods are not known now: ${lastError}`);
    },
    has: (name, uid) => !isBroken() && known.get(name)?.uid === uid,
    expect(pod) {
      keep(pod);
      done.set(pod.metadata?.name ?? '', performance.now());
    },
    forget(name) {
      known.delete(name);
      done.delete(name);
    },
    status: loop.status,
    stop: () => loop.stop(),
  };
};
