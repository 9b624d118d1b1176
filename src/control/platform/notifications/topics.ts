/**
 * Topics within one process. A caller that first creates a watch, then reads the state, then waits, misses no
 * notification: a notification that comes before the wait is kept for that wait.
 */

/**
 * Result of a wait: a notification, with its value if it carried one, or none in time. Two notifications since the last
 * wait become one without a value, because their order is not known here.
 */
export type Notified<Value> = { isNotified: boolean; value?: Value };

export type Watch<Value> = {
  /**
   * Resolves with the next notification. Resolves without one after `ms` milliseconds, when the signal aborts, or when
   * the topics are closed.
   */
  next(ms: number, signal?: AbortSignal): Promise<Notified<Value>>;
  end(): void;
};

export type Topics<Value> = {
  watch(topic: string): Watch<Value>;
  /** Wakes all watches of the topic. */
  notify(topic: string, value?: Value): void;
  /** Wakes all watches of all topics, because notifications may have been missed. */
  notifyAll(): void;
  /** Ends all current waits, and every later wait at once. */
  close(): void;
  readonly closed: boolean;
  /** Number of current waits. */
  readonly waiting: number;
};

type Watcher<Value> = {
  /** Notification that came since the last wait; undefined if none did. */
  pending: Notified<Value> | undefined;
  wake: (() => void) | undefined;
};

const none = { isNotified: false } as const;
const withoutValue = { isNotified: true } as const;

/** Creates the topics. */
export const createTopics = <Value>(): Topics<Value> => {
  const topics = new Map<string, Set<Watcher<Value>>>();
  let closed = false;
  let waiting = 0;

  const wakeUp = (watcher: Watcher<Value>, notified: Notified<Value> | undefined): void => {
    if (notified !== undefined)
      watcher.pending = watcher.pending === undefined ? notified : withoutValue;
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
      const watcher: Watcher<Value> = { pending: undefined, wake: undefined };
      const watchers = topics.get(topic) ?? new Set();
      topics.set(topic, watchers.add(watcher));
      return {
        async next(ms, signal) {
          const quiet = watcher.pending === undefined && !closed && signal?.aborted !== true;
          if (quiet && ms > 0) await sleep(watcher, ms, signal);
          const notified = watcher.pending ?? none;
          watcher.pending = undefined;
          return notified;
        },
        end: () => {
          forget(topic, watcher);
          wakeUp(watcher, undefined);
        },
      };
    },
    notify(topic, value) {
      const notified: Notified<Value> =
        value === undefined ? { isNotified: true } : { isNotified: true, value };
      for (const watcher of topics.get(topic) ?? []) wakeUp(watcher, notified);
    },
    notifyAll() {
      for (const watchers of topics.values()) {
        for (const watcher of watchers) wakeUp(watcher, { isNotified: true });
      }
    },
    close() {
      closed = true;
      for (const watchers of topics.values()) {
        for (const watcher of watchers) wakeUp(watcher, undefined);
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
