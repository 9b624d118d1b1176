/**
 * Long polls: requests that are held until they have an answer. Each request queries the state, waits for a
 * notification, and queries again. A notification only hints at a change, so the request also queries at regular
 * intervals without one.
 */

import type { Notifications, NotifiedValues } from './notifications.ts';
import type { Notified, Watch } from './topics.ts';

export type Hold<Value> = {
  /** Maximum time for which the request is held, in milliseconds. */
  ms: number;
  signal: AbortSignal;
  /**
   * Queries the state and returns the answer; undefined if there is none yet. `brought` has the values of the
   * notification; undefined if it has none.
   */
  look(brought: NotifiedValues | undefined): Promise<Value | undefined>;
  /** Runs instead of a plain wait, and must call `wait`. If it returns a value, that is the answer. */
  rest?(wait: () => Promise<void>): Promise<Value | undefined>;
};

/** Interval at which a held request queries the state without a notification, in milliseconds. */
const lookAgainMs = 5_000;

/** Converts seconds in a query parameter to milliseconds; undefined to 0. */
export const toMs = (seconds: number | undefined): number => (seconds ?? 0) * 1_000;

const restOnly = async (wait: () => Promise<void>): Promise<undefined> => {
  await wait();
};

/**
 * Calls `look` until there is an answer, the time is over, the client disconnects, or the program stops. Returns the
 * answer; undefined if there is none. The caller must create `watch` before it reads the state on which the first call
 * of `look` is based, so that no notification is missed.
 */
export const holdWatching = async <Value>(
  notifications: Pick<Notifications, 'closed'>,
  watch: Watch<NotifiedValues>,
  { ms, signal, look, rest = restOnly }: Hold<Value>,
): Promise<Value | undefined> => {
  const endsAt = performance.now() + ms;
  let notified: Notified<NotifiedValues> | undefined;
  for (;;) {
    const found = await look(notified?.value);
    const leftMs = endsAt - performance.now();
    if (found !== undefined || leftMs <= 0 || signal.aborted || notifications.closed) return found;
    const early = await rest(async () => {
      notified = await watch.next(Math.min(leftMs, lookAgainMs), signal);
    });
    if (early !== undefined) return early;
  }
};

/** Holds a request like `holdWatching`, with a watch on a topic that it creates itself. */
export const holdUntil = async <Value>(
  notifications: Pick<Notifications, 'closed' | 'watch'>,
  { topic, ...hold }: Hold<Value> & { topic: string },
): Promise<Value | undefined> => {
  const watch = notifications.watch(topic);
  try {
    return await holdWatching(notifications, watch, hold);
  } finally {
    watch.end();
  }
};

/**
 * Returns a watch on several topics. It resolves with the first notification on any of them, without the value of the
 * notification.
 */
export const watchAny = (
  notifications: Pick<Notifications, 'watch'>,
  topics: readonly string[],
): Watch<NotifiedValues> => {
  const watches = topics.map((topic) => notifications.watch(topic));
  return {
    async next(ms, signal) {
      const others = new AbortController();
      const ends = signal === undefined ? [] : [signal];
      const cut = AbortSignal.any([others.signal, ...ends]);
      const { isNotified } = await Promise.race(watches.map((watch) => watch.next(ms, cut)));
      others.abort();
      return { isNotified };
    },
    end() {
      for (const watch of watches) watch.end();
    },
  };
};
