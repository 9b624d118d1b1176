/**
 * Hourly rollups of days that the rollup job (rollup-job.ts) has added up, in the columns of the daily sums. They
 * answer the part of a day that a time range covers. A trace counts for a model at the hours of its first and last
 * observation of that day. Traces with an observation after an hour are those that end after it; traces with one
 * before it are those that begin before it.
 */
import type { Bind } from '../core/where.ts';

/** Name under which `day_rolls` lists the hourly rollups of a day. */
export const hoursBreakdown = 'trace';

/** Sums besides observations and traces; costs are in dollars. */
export const hourSums = ['input_usage', 'output_usage', 'total_usage', 'total_cost'] as const;

/** Half-open range that excludes `to`: days in UTC, as `2026-03-01`, or times as ISO texts. */
export type Range = readonly [from: string, to: string];

/** Whole hours at the end or the beginning of a day, and the remainder of the time range. */
export type DayHours = {
  /** Day, as `2026-03-01`. */
  day: string;
  /** True if the hours reach to the end of the day, false if they start at its beginning. */
  areLast: boolean;
  /** Hours from 0 to 24; the last one is excluded. */
  hours: readonly [from: number, to: number];
  /** The same hours as times. */
  whole: Range;
  /** Remainder of less than an hour, which is read from rows; undefined if there is none. */
  rest: Range | undefined;
};

/** Builds the condition that a time lies in a range. */
export const inRange = (column: string, [from, to]: Range, bind: Bind): string =>
  `(${column} >= ${bind(from)}::timestamptz and ${column} < ${bind(to)}::timestamptz)`;

/** Filters of the query: conditions on hours `u`, and conditions on a trace `t`. */
export type HoursOf = {
  projectId: string;
  ofDays: (bind: Bind) => string;
  ofTraces: (bind: Bind) => string;
  /** Join of `t` to observations `o`; empty without conditions on `t`. */
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
 * Builds the query for the remainder. The rows of the time are found first, and then their traces. If a trace has an
 * observation of the same model in the whole hours, the rollup has counted it already.
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
 * Builds the queries. Their columns are day, model, traces (always 0), traces of the model, observations, usage, and
 * cost in 1e-12 dollars. One day may have several rows.
 */
export const hourParts = (of: HoursOf, days: readonly DayHours[], bind: Bind): string[] =>
  days.flatMap((one) => [
    rollupPart(of, one, bind),
    ...(one.rest === undefined ? [] : [rowPart(of, one, one.rest, bind)]),
  ]);
