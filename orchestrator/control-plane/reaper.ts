/**
 * The reaper's clock. What is over its limits, and whether it may be ended, is one conditional statement
 * in the control plane on the database's clock; here is only the rhythm, so nothing is lost when this
 * process is.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { PoolApi, ReapLimits } from './pool.ts';

const everyMs = 2_000;
/** Longer than any session has been in a state. */
const neverMs = 2 ** 31 - 1;

/**
 * Returns limits for sessions whose host could not report while the control plane was away: an ended session's
 * ledger, a world that is loaded, a request that was answered. After a gap they count only once a living host has been
 * heard again, or for the whole limit where that is less.
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
 * Asks the control plane every two seconds to end the sessions that reached a limit, by the limits as they are
 * at that moment; each tick returns the sessions it ended.
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
