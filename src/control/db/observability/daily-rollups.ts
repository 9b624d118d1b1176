/**
 * Daily rollups: the observations of whole days, added up by several breakdowns into rollup rows. The rollup job
 * (rollup-job.ts) builds them once nothing has been written to a day for a while. A later write to the day raises the
 * day's change counter, and the rollup is then ignored.
 */
import { type Queryable, statement } from '../core/database.ts';

/** Columns by which breakdowns group observations. */
export const rollupColumns = [
  'hour',
  'name',
  'type',
  'level',
  'environment',
  'model',
  'user_id',
] as const;
export type RollupColumn = (typeof rollupColumns)[number];

export type Breakdown = {
  name: string;
  columns: readonly RollupColumn[];
  /** True if the rows of the breakdown contain a latency sketch. */
  isSketched: boolean;
};

/** Breakdowns, the coarsest first. */
export const breakdowns: readonly Breakdown[] = [
  { name: 'model', columns: ['environment', 'type', 'level', 'model'], isSketched: true },
  { name: 'name', columns: ['environment', 'type', 'level', 'name'], isSketched: true },
  { name: 'hour', columns: ['hour', 'environment', 'type', 'level', 'model'], isSketched: false },
  { name: 'user', columns: ['environment', 'user_id'], isSketched: false },
];

/** Sums of usage and costs in each rollup row. Costs are in dollars. */
export const rollupSums = [
  'input_usage',
  'output_usage',
  'total_usage',
  'input_cost',
  'output_cost',
  'total_cost',
] as const;

const rolledStatement = statement(
  'find_rolled_days',
  `select r.day::text as day from day_rolls r
    where r.project_id = :projectId and r.day >= :from::date and r.day < :to::date and :breakdown = any(r.kept)
      and r.touches = (select sum(m.touches) from day_marks m where m.project_id = r.project_id and m.day = r.day)
    order by r.day`,
);

/**
 * Returns the days, as `2026-03-01`, from `from` up to but not including `to`, that have a valid rollup of this
 * breakdown. For hourly rollups, the breakdown is `hoursBreakdown` (hourly-rollups.ts).
 */
export const findRolledDays = async (
  tx: Queryable,
  asked: { projectId: string; breakdown: string; from: string; to: string },
): Promise<string[]> =>
  (await tx.query<{ day: string }>(rolledStatement, asked)).map(({ day }) => day);

const countStatement = statement(
  'count_observations_of_days',
  `select coalesce(sum(observations), 0)::float8 as found from daily_usage
    where project_id = :projectId and day >= :from::date and day <= :to::date and environment is not null`,
);

/** Returns the number of observations that began on the days from `from` to `to`, both included. */
export const countOfDays = async (
  tx: Queryable,
  asked: { projectId: string; from: string; to: string },
): Promise<number> => (await tx.query<{ found: number }>(countStatement, asked))[0]?.found ?? 0;
