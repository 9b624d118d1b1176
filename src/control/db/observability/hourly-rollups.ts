/**
 * What the observations of whole hours come to, of days that were added up (rollup-job.ts), in the columns of the sums by
 * day. Traces of a model are counted by where their observations of the day begin and end: those that have one after an
 * hour are those that end after it, those that have one before it are those that begin before it.
 */
import type { Bind } from '../core/where.ts';

/** The name by which `day_rolls` knows that a day has them. */
export const hoursBreakdown = 'trace';

/** What is added up beside observations and traces; costs are in dollars. */
export const hourSums = ['input_usage', 'output_usage', 'total_usage', 'total_cost'] as const;

/** From one to before another: days by UTC, as `2026-03-01`, or times as ISO texts. */
export type Range = readonly [from: string, to: string];

/** Whole hours of a day, up to its end or from its beginning, and what is asked for beside them. */
export type DayHours = {
  /** As `2026-03-01`. */
  day: string;
  /** Whether they are up to the day's end. */
  areLast: boolean;
  /** Of 0 to 24, the last one left out. */
  hours: readonly [from: number, to: number];
  /** The same as times. */
  whole: Range;
  /** Less than an hour, which is read from rows; undefined: there is none. */
  rest: Range | undefined;
};

/** A time is in a range. */
export const inRange = (column: string, [from, to]: Range, bind: Bind): string =>
  `(${column} >= ${bind(from)}::timestamptz and ${column} < ${bind(to)}::timestamptz)`;

/** What is asked for: of whose hours, with conditions on `u`, and of whose rows, with conditions on a trace `t`. */
export type HoursOf = {
  projectId: string;
  ofDays: (bind: Bind) => string;
  ofTraces: (bind: Bind) => string;
  /** The join of `t` to observations `o`, where there are conditions on it. */
  trace: string;
};

const sumsOf = (write: (name: string) => string): string => hourSums.map(write).join(', ');

const cellPart = (of: HoursOf, { day, areLast, hours }: DayHours, bind: Bind): string =>
  `select u.day, u.model, 0, sum(u.${areLast ? 'traces_ended' : 'traces_begun'}), sum(u.observations),
      sum(u.input_usage), sum(u.output_usage), sum(u.total_usage), sum(u.total_cost)::numeric * 1000000000000
     from day_hours u
    where u.project_id = ${bind(of.projectId)} and u.day = ${bind(day)}::date
      and u.hour >= ${bind(hours[0])} and u.hour < ${bind(hours[1])} and ${of.ofDays(bind)}
    group by u.day, u.model`;

/**
 * The rows of the time are found first, and then their traces. A trace that has an observation of the same model in the
 * whole hours is counted there already.
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
 * Selects of day, model, no traces, traces of the model, observations, usage and cost in 1e-12 dollars; of one day
 * there may be several rows.
 */
export const hourParts = (of: HoursOf, days: readonly DayHours[], bind: Bind): string[] =>
  days.flatMap((one) => [
    cellPart(of, one, bind),
    ...(one.rest === undefined ? [] : [rowPart(of, one, one.rest, bind)]),
  ]);
