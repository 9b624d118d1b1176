/**
 * Runs the reaper at intervals. In the control plane, one conditional statement on the database's clock decides which
 * sessions are over a limit and ends them. This file only requests that, so nothing is lost when this process stops.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { PoolApi, ReapLimits } from './pool.ts';

const everyMs = 2_000;
/** Limit that no session reaches, in milliseconds. */
const neverMs = 2 ** 31 - 1;

/**
 * Returns the limits to apply after the control plane was away. Three limits depend on reports that hosts could not
 * send meanwhile: an ended session's ledger, a loaded world, an answered request. Such a limit applies only once a
 * living host has had the time to report again, or after the limit itself if that is shorter.
 */
export const limitsAfterGap = (
  limits: ReapLimits,
  steadyMs: number,
  heardMs: number,
): ReapLimits => {
  const afterGap = (limitMs: number): number =>
    steadyMs > Math.min(limitMs, heardMs) ? limitMs : neverMs;
  const { idleMs, provisionMs, closingMs, ...others } = limits;
  return {
    ...others,
    idleMs: afterGap(idleMs),
    provisionMs: afterGap(provisionMs),
    closingMs: afterGap(closingMs),
  };
};

/**
 * Starts a loop that every two seconds asks the control plane to end the sessions over a limit, by the limits current
 * at that moment. Each tick returns the sessions that it ended.
 */
export const startReaper = (pool: PoolApi, limits: () => ReapLimits, log: Log): Loop<string[]> =>
  startLoop({
    name: 'reap',
    everyMs,
    log,
    tick: async () => {
      const ended = await pool.reap(limits());
      if (ended.length > 0) log.info({ ended }, 'reaped');
      return ended;
    },
  });
