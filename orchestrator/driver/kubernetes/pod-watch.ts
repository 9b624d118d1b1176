/**
 * Keeps the installation's pods by a watch: one list, then each change as it arrives, with bookmarks so that a broken
 * watch resumes where it was. If the cluster has forgotten the resource version (410), the watch lists again. While
 * the watch is broken, readers get an error: pods are never taken for gone because the API server does not answer.
 */
import { type V1Pod, Watch as WatchRequest } from '@kubernetes/client-node';
import { AppError, describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, type LoopStatus, startLoop } from '#runtime/loop.ts';
import type { LoopView } from '#runtime/loop-board.ts';
import { type Cluster, isStatus } from './cluster.ts';
import { type KnownPod, KnownPods } from './known-pods.ts';
import { hostSelector, type Pods } from './pods.ts';
import type { ResourceScope } from './resources.ts';

/** Time for which a broken watch's pods stay valid, in milliseconds; a watch usually reconnects at once. */
const usuallyToleratedMs = 3_000;
/** Time after which the API server ends a watch and it is opened again, in seconds. */
const watchSeconds = 300;
const reopenMs = 100;

export type PodWatchOptions = ResourceScope & {
  cluster: Cluster;
  pods: Pods;
  log: Log;
  /** Time for which a broken watch still answers, in milliseconds; a few seconds if absent. */
  toleratedMs?: number;
  onChange(): void;
};

type WatchEvent = { type: string; object: V1Pod & { code?: number; message?: string } };

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

/** A watch of the installation's pods; it starts at once. */
export class PodWatch implements LoopView {
  readonly #options: PodWatchOptions;
  readonly #known: KnownPods;
  readonly #loop: Loop<void>;
  /** Version from which the watch resumes; undefined if it has to begin with a list. */
  #resourceVersion: string | undefined;
  /** Time since which there is no watch; undefined while there is one. */
  #brokenSince: number | undefined = Number.NEGATIVE_INFINITY;
  #lastError = 'they are being listed';

  constructor(options: PodWatchOptions) {
    this.#options = options;
    this.#known = new KnownPods(options.onChange);
    this.#loop = startLoop({
      name: 'watch-pods',
      everyMs: reopenMs,
      log: options.log,
      tick: (signal) => this.#tick(signal),
    });
  }

  /** Returns every pod. Throws `unavailable` while the watch is broken. */
  list(): KnownPod[] {
    if (!this.#isBroken()) return this.#known.all();
    throw new AppError(
      'unavailable',
      `Kubernetes: the list of pods is not available now: ${this.#lastError}`,
    );
  }

  /** Returns every pod as last seen, even while the watch is broken. */
  last(): KnownPod[] {
    return this.#known.all();
  }

  /** Returns true if a pod of this name and uid is known to exist now. */
  has(name: string, uid: string): boolean {
    return !this.#isBroken() && this.#known.has(name, uid);
  }

  /** Records a pod that was just created or changed, before the watch reports it. */
  expect(pod: V1Pod): void {
    this.#known.putOwn(pod);
  }

  /** Records that a pod of this name is gone. */
  forget(name: string): void {
    this.#known.forget(name);
  }

  status(): LoopStatus<void> {
    return this.#loop.status();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #tick(signal: AbortSignal): Promise<void> {
    try {
      if (this.#resourceVersion === undefined) await this.#relist();
      await readWatch(this.#options, this.#resourceVersion ?? '', signal, {
        open: () => {
          this.#brokenSince = undefined;
        },
        event: (event) => this.#onEvent(event),
      });
      this.#markBroken('the watch of pods has ended');
    } catch (error) {
      if (isStatus(error, 410)) this.#resourceVersion = undefined;
      this.#markBroken(error);
      throw error;
    }
  }

  async #relist(): Promise<void> {
    const startedAt = performance.now();
    const listed = await this.#options.pods.list();
    this.#known.replace(listed.pods, startedAt);
    this.#resourceVersion = listed.resourceVersion;
    this.#options.onChange();
  }

  #onEvent({ type, object }: WatchEvent): void {
    if (type === 'ERROR') {
      // This event ends the watch; the next one begins with a list.
      this.#resourceVersion = undefined;
      const { code, message } = object;
      this.#options.log.debug({ code, message }, 'the watch of pods ended');
      return;
    }
    if (type === 'ADDED' || type === 'MODIFIED') this.#known.put(object);
    if (type === 'DELETED') this.#known.remove(object);
    this.#resourceVersion = object.metadata?.resourceVersion ?? this.#resourceVersion;
  }

  #isBroken(): boolean {
    const { toleratedMs = usuallyToleratedMs } = this.#options;
    return this.#brokenSince !== undefined && performance.now() - this.#brokenSince > toleratedMs;
  }

  #markBroken(error: unknown): void {
    this.#brokenSince ??= performance.now();
    this.#lastError = describeError(error);
  }
}
