/**
 * Hourly rollups of days that the rollup job (rollup-job.ts) has added up, with the columns of the daily sums. If a
 * time range covers only a part of a day, the hourly rollups answer that part. A trace is counted for a model in the
 * hours of its first and of its last observation on that day. So the traces with an observation after a given hour are
 * those whose last observation is after it; the traces with an observation before it are those whose first observation
 * is before it.
 */
import type { Bind } from '../core/where.ts';

/** Name of the hourly rollups of a day in `day_rolls`. */
export const hoursBreakdown = 'trace';

/** Sums besides the numbers of observations and traces. Costs are in dollars. */
export const hourSums = ['input_usage', 'output_usage', 'total_usage', 'total_cost'] as const;

/** Range that does not include `to`: days in UTC, as `2026-03-01`, or times as ISO texts. */
export type Range = readonly [from: string, to: string];

/** Whole hours at the beginning or the end of a day, and the remainder of the time range. */
export type DayHours = {
  /** Day, in the form `2026-03-01`. */
  day: string;
  /** True if the hours continue to the end of the day, false if they start at its beginning. */
  areLast: boolean;
  /** First hour and last hour, from 0 to 24; the last hour is not included. */
  hours: readonly [from: number, to: number];
  /** `hours` as times. */
  whole: Range;
  /** Remainder of less than an hour, which is read from rows; undefined if there is none. */
  rest: Range | undefined;
};

/** Builds the condition that a time lies within a range. */
export const inRange = (column: string, [from, to]: Range, bind: Bind): string =>
  `(${column} >= ${bind(from)}::timestamptz and ${column} < ${bind(to)}::timestamptz)`;

/** Filters of the query: conditions on the hours `u`, and conditions on a trace `t`. */
export type HoursOf = {
  projectId: string;
  ofDays: (bind: Bind) => string;
  ofTraces: (bind: Bind) => string;
  /** SQL that joins the trace `t` to observations `o`; empty if there are no conditions on `t`. */
  trace: string;
};

const sumsOf = (write: (name: string) => string): string => hourSums.map(write).join(', ');

const rollupPart = (of: HoursOf, { day, areLast, hours }: DayHours, bind: Bind): string =>
  `select u.day, u.model, 0, sum(u.${areLast ? 'traces_ended' : 'traces_begun'}), sum(u.observations),
      sum(u.input_usage), sum(u.output_usage), sum(u.total_usage), sum(u.total_cost)::numeric * 1000000000000
     from day_hours u
    where u.project_id = ${bind(of.projectId)} and u.day = ${bind(day)}::date
      and u.hour >= ${bind(hours[0])} and u.hour < ${bind(hours[1])} and ${of.ofDays(bind)}
    group by u.day, u.model`;

/**
 * Builds the query for the remainder. It finds the rows in the remainder first, and then their traces. A trace that has
 * an observation of the same model in the whole hours is not counted, because the rollup has counted it.
 */
const rowPart = (of: HoursOf, { day, whole }: DayHours, rest: Range, bind: Bind): string =>
  `(with near as materialized (
      select o.model, o.trace_key, o.week, ${sumsOf((name) => `coalesce(o.${name}::float8, 0) as ${name}`)}
        from observations o where o.project_id = ${bind(of.projectId)} and ${inRange('o.began_at', rest, bind)}
    ), own as materialized (
      select o.* from near o ${of.trace} where ${of.ofTraces(bind)}
    ), either as (
      select model, trace_key, 1 as found, ${hourSums.join(', ')} from own
      union all
      select x.model, known.trace_key, 0, ${sumsOf(() => '0')}
        from (select distinct trace_key, week from own) known cross join lateral (
          select x.model from observations x
           where x.trace_key = known.trace_key and x.week = known.week and ${inRange('x.began_at', whole, bind)} offset 0) x
    ), of_traces as (
      select model, min(found) as is_new, sum(found) as found, ${sumsOf((name) => `sum(${name}) as ${name}`)}
        from either group by model, trace_key having sum(found) > 0
    )
    select ${bind(day)}::date, model, 0, sum(is_new), sum(found), sum(input_usage), sum(output_usage), sum(total_usage),
        sum(total_cost)::numeric * 1000000000000
      from of_traces group by model)`;

/**
 * Builds the queries. Their columns are: day, model, traces (always 0), traces of the model, observations, usage, and
 * cost in units of 1e-12 dollars. There may be several rows for the same day.
 */
export const hourParts = (of: HoursOf, days: readonly DayHours[], bind: Bind): string[] =>
  days.flatMap((one) => [
    rollupPart(of, one, bind),
    ...(one.rest === undefined ? [] : [rowPart(of, one, one.rest, bind)]),
  ]);
