/**
 * The loop that adds up days that have come to rest (db/observability/rollup-job.ts), in each control plane; one of them is at it at a
 * time. It does little at a time, and leaves room for others between two days.
 */
import { type Loop, startLoop } from '#runtime/loop.ts';
import { type RollRules, rollOneDay } from '../../db/observability/rollup-job.ts';
import type { ObservabilityParts } from '../parts.ts';

const everyMs = 10_000;
/** Which days it adds up. */
export const rollRules: RollRules = { restSeconds: 60, leastObservations: 5_000, mostShare: 0.25 };
/** Days that one tick adds up at the most. */
const mostDays = 30;

type Rolled = { days: number };

const tick = async (
  { traces: { db } }: ObservabilityParts,
  signal: AbortSignal,
): Promise<Rolled> => {
  let days = 0;
  while (days < mostDays && !signal.aborted && (await rollOneDay(db, rollRules))) days += 1;
  return { days };
};

/** Starts it. */
export const startRollups = (parts: ObservabilityParts): Loop<Rolled> =>
  startLoop({
    name: 'day-rolls',
    everyMs,
    log: parts.log,
    tick: (signal) => tick(parts, signal),
  });
