/**
 * Waiting for news about a topic, inside one process. Whoever watches first, then looks, then waits
 * misses nothing: news that comes between is kept for the next wait.
 */

/**
 * What a wait ended with: news, with its value if it brought one, or nothing in time. News that came twice since
 * the last wait bring none: which of the two is the later one is not known here.
 */
export type Told<Value> = { told: boolean; value?: Value };

export type Watch<Value> = {
  /** Resolves with the news, or untold after `ms`, when the signal aborts, or at shutdown. */
  next(ms: number, signal?: AbortSignal): Promise<Told<Value>>;
  end(): void;
};

export type Topics<Value> = {
  watch(topic: string): Watch<Value>;
  /** Wakes everyone who watches the topic. */
  ring(topic: string, value?: Value): void;
  /** Wakes everyone: news may have been missed. */
  ringAll(): void;
  /** Ends every wait, now and from now on. */
  close(): void;
  readonly closed: boolean;
  /** How many wait at this moment. */
  readonly waiting: number;
};

type Watcher<Value> = {
  news: Told<Value> | undefined;
  wake: (() => void) | undefined;
};

const untold = { told: false } as const;
const toldOnly = { told: true } as const;

/** Makes a bell. */
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
