/**
 * Observes the pool before each plan: reads the control plane's view and the runtime's containers at the same time.
 * Two watchers only trigger the next observation: the long poll of the view's revision (demand and states) and the
 * driver's events (containers that ended). A lost event costs one tick.
 *
 * The view of ten thousand hosts is large, so observations are paced by how long the last one took.
 */
import type { Log } from '#runtime/log.ts';
import { startLongPoll } from '#runtime/long-poll.ts';
import type { Loop } from '#runtime/loop.ts';
import { pause, restAfter } from '#runtime/pause.ts';
import type { PoolApi } from '../control-plane/pool.ts';
import type { Driver } from '../driver/driver.ts';
import type { Observation } from '../plan/terms.ts';
import type { Background } from './background.ts';

/**
 * Interval between two observations, in milliseconds, from which on it counts as a gap: the control plane or this
 * machine stood still.
 */
const gapMs = 5_000;
const viewHoldMs = 20_000;
/**
 * Longest pause between two observations, in milliseconds: far below the deadlines that observations are compared with.
 */
const longestRestMs = 2_000;
/**
 * Minimum interval between a reported change and the request for the next one, in milliseconds. Under load each session
 * changes the view several times, and one observation covers many changes. A change after a quiet time is reported at
 * once.
 */
const changesApartMs = 200;

export type Observer = {
  /** Observes, after the pause that the last observation requires. */
  observe(signal: AbortSignal): Promise<Observation>;
  /**
   * Returns how long to pause before the next observation, in milliseconds; it depends on how long the last one took.
   */
  restMs(): number;
  /** Returns how long the control plane has answered without a gap, in milliseconds, as of the last observation. */
  steadyMs(): number;
};

/**
 * Creates an observer. `now` is the time of day in milliseconds: unlike a monotonic clock it also shows the time for
 * which a machine was suspended.
 */
export const createObserver = (
  pool: PoolApi,
  driver: Driver,
  background: Background,
  now: () => number,
): Observer => {
  let steadySince = now();
  let lastSeenAt = now();
  let restMs = 0;
  let endedAt = Number.NEGATIVE_INFINITY;
  return {
    restMs: () => restMs,
    steadyMs: () => Math.max(0, lastSeenAt - steadySince),
    async observe(signal) {
      await pause(Math.max(0, endedAt + restMs - performance.now()), signal);
      const beganAt = performance.now();
      const busy = new Map(background.busy);
      const [view, containers] = await Promise.all([pool.observe(signal), driver.list()]);
      endedAt = performance.now();
      restMs = restAfter(endedAt - beganAt, longestRestMs);
      const seenAt = now();
      if (seenAt - lastSeenAt > gapMs) steadySince = seenAt;
      lastSeenAt = seenAt;
      return { view, containers, busy, steadyMs: Math.max(0, seenAt - steadySince) };
    },
  };
};

/** Calls `onChange` when the pool's view has changed, by long poll, at intervals of at least `restMs`. */
export const watchPool = (
  pool: PoolApi,
  onChange: () => void,
  restMs: () => number,
  log: Log,
): Loop<string> => {
  let seen: string | undefined;
  return startLongPoll({
    name: 'watch-pool',
    holdMs: viewHoldMs,
    log,
    ask: async (poll) => ({ revision: await pool.awaitChange(poll) }),
    take: async ({ revision }, signal) => {
      const hasChanged = revision !== seen;
      seen = revision;
      if (hasChanged) {
        onChange();
        await pause(Math.max(restMs(), changesApartMs), signal);
      }
      return revision;
    },
  });
};
