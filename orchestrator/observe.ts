/**
 * Looking at the world before a plan: the pool's rows and the runtime's containers, read side by side.
 * Two watchers say when to look again, and carry nothing but that: the pool view's long poll (demand
 * and states) and the driver's notices (containers that ended). A lost notice costs one tick.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Background } from './background.ts';
import type { Driver } from './driver/driver.ts';
import type { Observation } from './plan.ts';
import type { PoolApi } from './pool.ts';

/** Looks further apart than this leave a gap: the control plane or this machine stood still. */
const gapMs = 5_000;
const viewHoldMs = 20_000;

export type Observe = (signal: AbortSignal) => Promise<Observation>;

/**
 * An observer. `now` is the time of day in milliseconds: unlike a monotonic clock it also shows the
 * time for which a suspended machine stood still.
 */
export const createObserver = (
  pool: PoolApi,
  driver: Driver,
  background: Background,
  now: () => number,
): Observe => {
  let steadySince = now();
  let lastSeenAt = now();
  return async (signal) => {
    const busy = new Map(background.busy);
    const [view, containers] = await Promise.all([pool.observe({ signal }), driver.list()]);
    const seenAt = now();
    if (seenAt - lastSeenAt > gapMs) steadySince = seenAt;
    lastSeenAt = seenAt;
    return { view, containers, busy, steadyMs: Math.max(0, seenAt - steadySince) };
  };
};

/** Calls back whenever the pool's view changes, by long poll. */
export const watchPool = (pool: PoolApi, onChange: () => void, log: Log): Loop<string> => {
  let revision: string | undefined;
  return startLoop({
    name: 'watch-pool',
    everyMs: 0,
    log,
    tick: async (signal) => {
      const after = revision === undefined ? {} : { after: revision };
      const view = await pool.observe({ ...after, holdMs: viewHoldMs, signal });
      if (view.revision !== revision) onChange();
      revision = view.revision;
      return view.revision;
    },
  });
};
