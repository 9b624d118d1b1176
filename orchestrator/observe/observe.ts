/**
 * Looking at the world before a plan: the pool's rows and the runtime's containers, read side by side.
 * Two watchers say when to look again, and carry nothing but that: the long poll of the view's revision
 * (demand and states) and the driver's notices (containers that ended). A lost notice costs one tick.
 *
 * The view of ten thousand hosts is large, so looks are paced by how long the last one took.
 */
import type { Log } from '#runtime/log.ts';
import { startLongPoll } from '#runtime/long-poll.ts';
import type { Loop } from '#runtime/loop.ts';
import { pause, restAfter } from '#runtime/pause.ts';
import type { PoolApi } from '../control-plane/pool.ts';
import type { Driver } from '../driver/driver.ts';
import type { Observation } from '../plan/terms.ts';
import type { Background } from './background.ts';

/** Looks further apart than this leave a gap: the control plane or this machine stood still. */
const gapMs = 5_000;
const viewHoldMs = 20_000;
/** The longest rest between two looks: far below the deadlines that are judged by them. */
const longestRestMs = 2_000;
/**
 * After a change that was told, the next is not asked for sooner: where sessions come and go each changes
 * the view several times, and one look sees what all of them left. What comes after a quiet time is told at once.
 */
const changesApartMs = 200;

export type Observer = {
  /** Looks, after the rest that the last look calls for. */
  observe(signal: AbortSignal): Promise<Observation>;
  /** The rest that the last look calls for, in milliseconds. */
  restMs(): number;
  /** Returns how long the control plane has answered without a gap, in milliseconds, as of the last look. */
  steadyMs(): number;
};

/**
 * An observer. `now` is the time of day in milliseconds: unlike a monotonic clock it also shows the
 * time for which a suspended machine stood still.
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

/** Calls back when the pool's view has changed, by long poll; `restMs` paces it. */
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
