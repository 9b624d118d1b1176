/**
 * Loop of each control plane that builds rollups (`db/observability/rollup-job.ts`) of days that are quiesced. Only one
 * control plane builds rollups at a time. The loop does little in each tick and pauses between two days.
 */
import { type Loop, startLoop } from '#runtime/loop.ts';
import { type RollupRules, rollUpOneDay } from '../../db/observability/rollup-job.ts';
import type { ObservabilityParts } from '../parts.ts';

const everyMs = 10_000;
/** Conditions for a day to be rolled up. */
export const rollupRules: RollupRules = {
  restSeconds: 60,
  leastObservations: 5_000,
  mostShare: 0.25,
};
/** Maximum number of days for which one tick builds rollups. */
const mostDays = 30;

type Rolled = { days: number };

const tick = async (
  { traces: { db } }: ObservabilityParts,
  signal: AbortSignal,
): Promise<Rolled> => {
  let days = 0;
  while (days < mostDays && !signal.aborted && (await rollUpOneDay(db, rollupRules))) days += 1;
  return { days };
};

/** Starts the loop. */
export const startRollups = (parts: ObservabilityParts): Loop<Rolled> =>
  startLoop({
    name: 'day-rolls',
    everyMs,
    log: parts.log,
    tick: (signal) => tick(parts, signal),
  });
