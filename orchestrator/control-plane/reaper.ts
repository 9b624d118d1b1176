/**
 * The reaper's clock. What is over its limits, and whether it may be ended, is one conditional statement
 * in the control plane on the database's clock; here is only the rhythm, so nothing is lost when this
 * process is.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { PoolApi, ReapLimits } from './pool.ts';

const everyMs = 2_000;

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
