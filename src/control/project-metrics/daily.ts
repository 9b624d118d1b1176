/** `/metrics/daily`: what a project came to day by day, the latest first, with models. Days are those of UTC. */
import type { DailyMetricsView } from '#wire/public-api/metrics.ts';
import { type DailyQuestion, listDays, type Range } from '../db/daily-metrics.ts';
import type { Database } from '../db/database.ts';
import { seeingOneMoment } from '../db/metric-rows.ts';
import type { Condition } from '../db/where.ts';
import { anyOf, equals, hasAll } from '../lists/conditions.ts';
import {
  invalidParameter,
  listIn,
  metaOf,
  pageIn,
  type RawQuery,
  textIn,
  timeIn,
} from '../lists/query.ts';
import { splitDays } from './sources.ts';

const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(2200, 0, 1);

const isoOf = (ms: number): string => new Date(ms).toISOString();

const msIn = (query: RawQuery, name: string, usual: number): number => {
  const time = timeIn(query, name);
  return time === undefined ? usual : Date.parse(time);
};

const given = (conditions: readonly (Condition | undefined)[]): Condition[] =>
  conditions.filter((condition) => condition !== undefined);

const questionIn = (query: RawQuery): DailyQuestion => {
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
  const split = isOfTraces ? undefined : splitDays(from, to);
  const range = ([begin, end]: readonly [number, number]): Range => [isoOf(begin), isoOf(end)];
  if (split === undefined) return { days: undefined, ofDays, times: [range([from, to])], ofTraces };
  const days: Range = [isoOf(split.first).slice(0, 10), isoOf(split.last).slice(0, 10)];
  return { days, ofDays, times: split.ends.map(range), ofTraces };
};

/** A page of days. */
export const readDailyMetrics = async (db: Database, projectId: string, query: RawQuery) => {
  const page = pageIn(query);
  const question = questionIn(query);
  const days = await seeingOneMoment(db, (tx) => listDays(tx, projectId, question, page));
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
