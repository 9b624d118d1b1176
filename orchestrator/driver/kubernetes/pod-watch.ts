/**
 * The installation's pods as a watch keeps them: one list, then each change as it comes, with bookmarks so
 * that a broken watch goes on where it was; a version that the cluster has forgotten (410) leads to a new
 * list. While the watch is broken nothing is known, and that is what a reader is told: pods are never
 * taken for gone because the API server does not answer.
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

/** A watch that breaks is as a rule back at once; what is known stays good for so long. */
const usuallyToleratedMs = 3_000;
/** The API server ends a watch after this long, and it is opened again. */
const watchSeconds = 300;
const reopenMs = 100;

/** A pod as far as it matters here. */
export type KnownPod = {
  uid: string;
  /** Its resource version. */
  version: string;
  name: string;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  container: Container;
  /** When it was described, in milliseconds since 1970. */
  describedAt: number;
};

export type PodWatch = LoopView & {
  /** Every pod. Throws `unavailable` while the watch is broken. */
  list(): KnownPod[];
  /** Every pod as it was last known. */
  last(): KnownPod[];
  /** Whether this very pod is known to be there now. */
  has(name: string, uid: string): boolean;
  /** Notes a pod as it was just made, of which the watch may not have heard. */
  expect(pod: V1Pod): void;
  /** Notes that a pod of this name is known to be gone. */
  forget(name: string): void;
  stop(): Promise<void>;
};

export type PodWatchOptions = ResourceScope & {
  cluster: Cluster;
  pods: Pods;
  log: Log;
  /** How long a broken watch is as good as one that is not; absent: some seconds. */
  toleratedMs?: number;
  onChange(): void;
};

type WatchEvent = { type: string; object: V1Pod & { code?: number; message?: string } };

/** Whether a version of an object comes before another; versions that are no numbers tell nothing. */
const isOlder = (one: string, other: string): boolean =>
  /^\d+$/.test(one) && /^\d+$/.test(other) && BigInt(one) < BigInt(other);

const versionOf = (pod: V1Pod): string | undefined => pod.metadata?.resourceVersion;

/**
 * Reads a watch to its end: resolves when the API server ends it or it was silent for long, rejects when
 * it breaks. `onOpen` is told when it is established.
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
  /** Since when pods are known by what was done to them here, by name: a list may be older than that. */
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

  /** Takes a pod for what it is now, unless a later version of it is known. */
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
      // What follows is the end of the watch; the next one begins with a list.
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
