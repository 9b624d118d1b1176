/** `/metrics/daily`: usage of a project by day, with a breakdown by model, latest day first. Days are in UTC. */
import type { DailyMetricsView } from '#wire/public-api/observability/metrics.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import type { Condition } from '../../db/core/where.ts';
import { type DailyQuestion, listDays } from '../../db/observability/daily-metrics.ts';
import { findRolledDays } from '../../db/observability/daily-rollups.ts';
import {
  type DayHours,
  hoursBreakdown,
  type Range,
} from '../../db/observability/hourly-rollups.ts';
import { seeingOneMoment } from '../../db/observability/metric-rows.ts';
import { anyOf, equals, hasAll } from '../../platform/lists/conditions.ts';
import {
  invalidParameter,
  listIn,
  metaOf,
  pageIn,
  type RawQuery,
  textIn,
  timeIn,
} from '../../platform/lists/query.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(2200, 0, 1);

const isoOf = (ms: number): string => new Date(ms).toISOString();

const msIn = (query: RawQuery, name: string, usual: number): number => {
  const time = timeIn(query, name);
  return time === undefined ? usual : Date.parse(time);
};

const given = (conditions: readonly (Condition | undefined)[]): Condition[] =>
  conditions.filter((condition) => condition !== undefined);

/** Time range in milliseconds since 1970; the end is excluded. */
type Stretch = readonly [from: number, to: number];

const rangeOf = ([from, to]: Stretch): Range => [isoOf(from), isoOf(to)];
const dateOf = (ms: number): string => isoOf(ms).slice(0, 10);

/** Splits a range into its whole days and the partial days at both ends. */
const splitTimes = (from: number, to: number): { days: Stretch; ends: Stretch[] } => {
  const days = [Math.ceil(from / dayMs) * dayMs, Math.floor(to / dayMs) * dayMs] as const;
  const [first, last] = days;
  if (first > last) return { days, ends: [[from, to]] };
  const ends: Stretch[] = [
    [from, first],
    [last, to],
  ];
  return { days, ends: ends.filter(([begin, end]) => begin < end) };
};

/**
 * Splits a partial day into its whole hours and the remaining time. Returns undefined if it has no whole hour, or if it
 * touches neither the start nor the end of the day.
 */
const hoursOf = ([from, to]: Stretch): DayHours | undefined => {
  const day = Math.floor(from / dayMs) * dayMs;
  const areLast = to === day + dayMs;
  if (!areLast && from !== day) return undefined;
  const whole: Stretch = areLast
    ? [Math.ceil(from / hourMs) * hourMs, to]
    : [from, Math.floor(to / hourMs) * hourMs];
  if (whole[0] >= whole[1]) return undefined;
  const rest: Stretch = areLast ? [from, whole[0]] : [whole[1], to];
  return {
    ...{ day: dateOf(day), areLast, whole: rangeOf(whole) },
    hours: [(whole[0] - day) / hourMs, (whole[1] - day) / hourMs],
    rest: rest[0] < rest[1] ? rangeOf(rest) : undefined,
  };
};

/** The query, before it is decided which partial days are read from hourly rollups; `ends` are the partial days. */
type Asked = Omit<DailyQuestion, 'times' | 'ofRows' | 'hours'> & { ends: readonly Stretch[] };

const askedIn = (query: RawQuery): Asked => {
  const from = msIn(query, 'fromTimestamp', earliest);
  const to = msIn(query, 'toTimestamp', latest);
  if (from >= to) throw invalidParameter('toTimestamp', 'must be after fromTimestamp');
  const ofTraces = given([
    equals(query, 'traceName', 't.name'),
    anyOf(query, 'environment', `coalesce(t.environment, 'default')`),
    equals(query, 'userId', 't.user_id'),
    hasAll(query, 'tags', 't.tags'),
  ]);
  const ofDays = given([
    equals(query, 'traceName', 'u.trace_name'),
    anyOf(query, 'environment', 'u.environment'),
  ]);
  const isOfTraces = textIn(query, 'userId') !== undefined || listIn(query, 'tags') !== undefined;
  if (isOfTraces) return { days: undefined, ofDays, ends: [[from, to]], ofTraces };
  const { days, ends } = splitTimes(from, to);
  return { days: [dateOf(days[0]), dateOf(days[1])], ofDays, ends, ofTraces };
};

/** Returns true if the day has hourly rollups that are still valid. */
const isRolled = async (tx: Queryable, projectId: string, day: string): Promise<boolean> => {
  const to = dateOf(Date.parse(day) + dayMs);
  const asked = { projectId, breakdown: hoursBreakdown, from: day, to };
  return (await findRolledDays(tx, asked)).length > 0;
};

const questionOf = async (
  tx: Queryable,
  projectId: string,
  { ends, ...asked }: Asked,
): Promise<DailyQuestion> => {
  const hours: DayHours[] = [];
  const ofRows: Range[] = [];
  for (const end of ends) {
    const found = asked.days === undefined ? undefined : hoursOf(end);
    if (found !== undefined && (await isRolled(tx, projectId, found.day))) hours.push(found);
    else ofRows.push(rangeOf(end));
  }
  return { ...asked, times: ends.map(rangeOf), ofRows, hours };
};

/** Returns a page of days. */
export const readDailyMetrics = async (db: Database, projectId: string, query: RawQuery) => {
  const page = pageIn(query);
  const asked = askedIn(query);
  const days = await seeingOneMoment(db, async (tx) =>
    listDays(tx, projectId, await questionOf(tx, projectId, asked), page),
  );
  const data = days.map(
    ({ day, traces, observations, totalCost, models }): DailyMetricsView => ({
      date: day,
      countTraces: traces,
      countObservations: observations,
      totalCost,
      usage: models.map((one) => ({
        model: one.model,
        inputUsage: one.inputUsage,
        outputUsage: one.outputUsage,
        totalUsage: one.totalUsage,
        totalCost: one.totalCost,
        countObservations: one.observations,
        countTraces: one.traces,
      })),
    }),
  );
  return { data, meta: metaOf(page, { total: days[0]?.days ?? 0, isLowerBound: false }) };
};
