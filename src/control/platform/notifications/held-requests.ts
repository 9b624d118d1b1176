/**
 * Long polls: requests whose answer is held until there is one. Each looks, waits for a notification, and looks again.
 * A notification is only a hint, so it also looks at regular intervals without one.
 */

import type { Notifications, NotifiedValues } from './notifications.ts';
import type { Notified, Watch } from './topics.ts';

export type Hold<Value> = {
  /** Maximum time to wait, in milliseconds. */
  ms: number;
  signal: AbortSignal;
  /** Looks for the answer, with the value of the notification if it had one; undefined means that there is none yet. */
  look(brought: NotifiedValues | undefined): Promise<Value | undefined>;
  /** Runs instead of a plain wait and must call `wait`; a returned value becomes the answer. */
  rest?(wait: () => Promise<void>): Promise<Value | undefined>;
};

/** Interval at which a waiter looks again without a notification, in milliseconds. */
const lookAgainMs = 5_000;

/** Converts seconds of a query parameter to milliseconds. */
export const toMs = (seconds: number | undefined): number => (seconds ?? 0) * 1_000;

const restOnly = async (wait: () => Promise<void>): Promise<undefined> => {
  await wait();
};

/**
 * Looks until there is an answer, the time is over, the client disconnects, or the program stops. The caller must
 * create `watch` before it reads the state that `look` starts from, so that no notification is missed.
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

/** Waits like `holdWatching`, with its own watch on a topic. */
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

/** Returns a watch on several topics: it resolves with the first notification on any of them, without a value. */
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
