/**
 * Topics within one process. A caller that first watches, then looks, then waits misses nothing: a notification in
 * between is kept for the next wait.
 */

/**
 * Result of a wait: a notification, with its value if it had one, or none in time. Two notifications since the last
 * wait merge into one without a value, because their order is not known here.
 */
export type Told<Value> = { told: boolean; value?: Value };

export type Watch<Value> = {
  /** Resolves with the notification, or without one after `ms`, when the signal aborts, or at shutdown. */
  next(ms: number, signal?: AbortSignal): Promise<Told<Value>>;
  end(): void;
};

export type Topics<Value> = {
  watch(topic: string): Watch<Value>;
  /** Wakes all watchers of the topic. */
  ring(topic: string, value?: Value): void;
  /** Wakes all watchers of all topics, because notifications may have been missed. */
  ringAll(): void;
  /** Ends every wait, present and future. */
  close(): void;
  readonly closed: boolean;
  /** Number of waits at this moment. */
  readonly waiting: number;
};

type Watcher<Value> = {
  news: Told<Value> | undefined;
  wake: (() => void) | undefined;
};

const untold = { told: false } as const;
const toldOnly = { told: true } as const;

/** Creates the topics. */
export const createTopics = <Value>(): Topics<Value> => {
  const topics = new Map<string, Set<Watcher<Value>>>();
  let closed = false;
  let waiting = 0;

  const tell = (watcher: Watcher<Value>, news: Told<Value> | undefined): void => {
    if (news !== undefined) watcher.news = watcher.news === undefined ? news : toldOnly;
    watcher.wake?.();
  };

  const forget = (topic: string, watcher: Watcher<Value>): void => {
    const watchers = topics.get(topic);
    watchers?.delete(watcher);
    if (watchers?.size === 0) topics.delete(topic);
  };

  const sleep = (watcher: Watcher<Value>, ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      waiting += 1;
      const wake = (): void => {
        if (watcher.wake !== wake) return;
        waiting -= 1;
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        watcher.wake = undefined;
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal?.addEventListener('abort', wake);
      watcher.wake = wake;
    });

  return {
    watch(topic) {
      const watcher: Watcher<Value> = { news: undefined, wake: undefined };
      const watchers = topics.get(topic) ?? new Set();
      topics.set(topic, watchers.add(watcher));
      return {
        async next(ms, signal) {
          const quiet = watcher.news === undefined && !closed && signal?.aborted !== true;
          if (quiet && ms > 0) await sleep(watcher, ms, signal);
          const news = watcher.news ?? untold;
          watcher.news = undefined;
          return news;
        },
        end: () => {
          forget(topic, watcher);
          tell(watcher, undefined);
        },
      };
    },
    ring(topic, value) {
      const news: Told<Value> = value === undefined ? { told: true } : { told: true, value };
      for (const watcher of topics.get(topic) ?? []) tell(watcher, news);
    },
    ringAll() {
      for (const watchers of topics.values()) {
        for (const watcher of watchers) tell(watcher, { told: true });
      }
    },
    close() {
      closed = true;
      for (const watchers of topics.values()) {
        for (const watcher of watchers) tell(watcher, undefined);
      }
    },
    get closed() {
      return closed;
    },
    get waiting() {
      return waiting;
    },
  };
};
