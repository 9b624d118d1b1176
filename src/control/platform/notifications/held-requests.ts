/**
 * Requests that hold their answer until there is one: each looks, waits for news, and looks again. News is a
 * hint, so it looks now and then without any, too.
 */

import type { Brought, Notifications } from './notifications.ts';
import type { Told, Watch } from './topics.ts';

export type Hold<Value> = {
  /** How long to wait in all, in milliseconds. */
  ms: number;
  signal: AbortSignal;
  /** Looks, with what news brought, if they did; undefined means that there is nothing to answer yet. */
  look(news: Brought | undefined): Promise<Value | undefined>;
  /** What is done while it waits; it may end with the answer. */
  rest?(wait: () => Promise<void>): Promise<Value | undefined>;
};

/** A waiter looks again after so long, whether it was told anything or not. */
const lookAgainMs = 5_000;

/** Seconds of a query as milliseconds. */
export const toMs = (seconds: number | undefined): number => (seconds ?? 0) * 1_000;

const restOnly = async (wait: () => Promise<void>): Promise<undefined> => {
  await wait();
};

/**
 * Looks until there is something to answer, the time is over, the client has gone, or the program stops.
 * `watch` must be older than what `look` knows already, so that no news falls between.
 */
export const holdWatching = async <Value>(
  notifications: Pick<Notifications, 'closed'>,
  watch: Watch<Brought>,
  { ms, signal, look, rest = restOnly }: Hold<Value>,
): Promise<Value | undefined> => {
  const endsAt = performance.now() + ms;
  let told: Told<Brought> | undefined;
  for (;;) {
    const found = await look(told?.value);
    const leftMs = endsAt - performance.now();
    if (found !== undefined || leftMs <= 0 || signal.aborted || notifications.closed) return found;
    const early = await rest(async () => {
      told = await watch.next(Math.min(leftMs, lookAgainMs), signal);
    });
    if (early !== undefined) return early;
  }
};

/** The same with a watch of its own over a topic. */
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

/** A watch over several topics: it is told as soon as one of them is, and brings nothing. */
export const watchAny = (
  notifications: Pick<Notifications, 'watch'>,
  topics: readonly string[],
): Watch<Brought> => {
  const watches = topics.map((topic) => notifications.watch(topic));
  return {
    async next(ms, signal) {
      const others = new AbortController();
      const ends = signal === undefined ? [] : [signal];
      const cut = AbortSignal.any([others.signal, ...ends]);
      const { told } = await Promise.race(watches.map((watch) => watch.next(ms, cut)));
      others.abort();
      return { told };
    },
    end() {
      for (const watch of watches) watch.end();
    },
  };
};
