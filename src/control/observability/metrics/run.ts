/**
 * Runs a query of `/metrics`. It returns ordered rows of dimensions and metrics, with rows for times without data
 * filled in.
 */
import { AppError } from '#domain/error.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  type Grouping,
  type GroupRow,
  readGroups,
  readSpread,
  type SpreadRow,
  seeingOneMoment,
} from '../../db/observability/metric-rows.ts';
import { breakdownOf, exactObservations, rollupSourceOf } from './daily-rollups.ts';
import {
  type Granularity,
  keyOfMetric,
  type Metric,
  type MetricsQuery,
  timeField,
} from './read-query.ts';
import { daysOf, type Source, tablesOf } from './sources.ts';

export type MetricRow = Record<string, unknown>;

const mostSpreadRows = 100_000;

const truncated = (granularity: Granularity, time: string): string =>
  `date_trunc('${granularity}', ${time} at time zone 'utc')`;

/** Returns the SQL of the grouping and of the shown columns; the time is the last column. */
const groupsOf = (source: Source, { dimensions, granularity }: MetricsQuery) => {
  const own = dimensions.map((name) => source.dimension(name));
  if (granularity === null) return { groups: own, shown: own, fields: [...dimensions] };
  const time = truncated(granularity, source.time);
  return {
    groups: [...own, time],
    shown: [...own, `extract(epoch from ${time})::float8 * 1000`],
    fields: [...dimensions, timeField],
  };
};

type Order = MetricsQuery['orderBy'];

/**
 * Returns the requested order. By default, rows are ordered by time, then by the first metric in descending order, then
 * by dimensions.
 */
const orderOf = ({ orderBy, granularity, dimensions, metrics }: MetricsQuery): Order => {
  if (orderBy.length > 0) return orderBy;
  const byTime = granularity === null ? [] : [{ field: timeField, isDescending: false }];
  const [metric] = metrics.filter(({ aggregation }) => aggregation !== 'histogram');
  const byMetric = metric === undefined ? [] : [{ field: keyOfMetric(metric), isDescending: true }];
  const byDimensions = dimensions.map((field) => ({ field, isDescending: false }));
  return [...byTime, ...byMetric, ...byDimensions];
};

const shownOf = (field: string, value: unknown): unknown =>
  field === timeField && typeof value === 'number'
    ? new Date(value).toISOString()
    : (value ?? null);

const toRow = (fields: readonly string[], values: GroupRow): MetricRow =>
  Object.fromEntries(fields.map((field, place) => [field, shownOf(field, values[place])]));

const groupKey = (values: readonly unknown[]): string => JSON.stringify(values);

type Bin = [lower: number, upper: number, height: number];

const binOf = ({ low, high, bin, count }: SpreadRow, bins: number): Bin => {
  const width = (high - low) / bins;
  const upper = bin === bins || high === low ? high : low + bin * width;
  return [low + (bin - 1) * width, upper, count];
};

/** Returns a histogram of a measure for each group. */
const spreadOf = async (
  db: Queryable,
  source: Source,
  query: MetricsQuery,
  { measure }: Metric,
): Promise<Map<string, Bin[]>> => {
  const { groups, shown } = groupsOf(source, query);
  const { from, conditions } = source;
  const { bins } = query;
  const sql = source.number(measure);
  const spread = { from, conditions, groups, shown, sql, bins, limit: mostSpreadRows };
  const found = new Map<string, Bin[]>();
  for (const row of await readSpread(db, spread)) {
    const key = groupKey(row.shown);
    found.set(key, [...(found.get(key) ?? []), binOf(row, bins)]);
  }
  return found;
};

const nextTime = (ms: number, granularity: Granularity): number => {
  const date = new Date(ms);
  if (granularity === 'month') return date.setUTCMonth(date.getUTCMonth() + 1);
  const lengths = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 };
  return ms + lengths[granularity];
};

const firstTime = (ms: number, granularity: Granularity): number => {
  const date = new Date(ms);
  if (granularity === 'minute') return date.setUTCSeconds(0, 0);
  if (granularity === 'hour') return date.setUTCMinutes(0, 0, 0);
  date.setUTCHours(0, 0, 0, 0);
  if (granularity === 'month') return date.setUTCDate(1);
  // Weeks begin on Mondays.
  if (granularity === 'week')
    return date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.getTime();
};

const zeroes: readonly string[] = ['count', 'sum', 'uniq'];

/** Adds rows for times without data if time is the only grouping and rows are ordered by it. */
const fillGaps = (rows: MetricRow[], query: MetricsQuery): MetricRow[] => {
  const { granularity, dimensions, orderBy, metrics, from, to, rowLimit } = query;
  if (granularity === null || dimensions.length > 0 || orderBy.length > 0) return rows;
  const known = new Map(rows.map((row) => [row[timeField], row]));
  const nothing = metrics.map((metric) => [
    keyOfMetric(metric),
    zeroes.includes(metric.aggregation) ? 0 : null,
  ]);
  const filled: MetricRow[] = [];
  for (
    let at = firstTime(from, granularity);
    at < to && filled.length < rowLimit;
    at = nextTime(at, granularity)
  ) {
    const time = new Date(at).toISOString();
    filled.push(known.get(time) ?? { [timeField]: time, ...Object.fromEntries(nothing) });
  }
  return filled;
};

const run = async (db: Queryable, source: Source, query: MetricsQuery): Promise<MetricRow[]> => {
  const { groups, shown, fields } = groupsOf(source, query);
  const plain = query.metrics.filter(({ aggregation }) => aggregation !== 'histogram');
  const spread = query.metrics.filter(({ aggregation }) => aggregation === 'histogram');
  const all = [...fields, ...plain.map(keyOfMetric)];
  const grouping: Grouping = {
    ...{ from: source.from, conditions: source.conditions, groups, shown },
    aggregates: plain.map((metric) => source.aggregate(metric)),
    order: orderOf(query).flatMap(({ field, isDescending }) => {
      const place = all.indexOf(field);
      return place < 0 ? [] : [{ place, isDescending }];
    }),
    limit: query.rowLimit,
  };
  const values = all.length === 0 ? [[]] : await readGroups(db, grouping);
  const rows = values.map((row) => toRow(all, row));
  for (const metric of spread) {
    const bins = await spreadOf(db, source, query, metric);
    for (const [index, row] of rows.entries()) {
      const key = groupKey((values[index] ?? []).slice(0, fields.length));
      row[keyOfMetric(metric)] = bins.get(key) ?? [];
    }
  }
  return fillGaps(rows, query);
};

/**
 * Answers from the cheapest source that can answer the query: daily sums, else rollups together with rows, else rows
 * alone.
 */
const answer = async (
  db: Database,
  projectId: string,
  query: MetricsQuery,
  exact: number,
): Promise<MetricRow[]> => {
  const breakdown = breakdownOf(query);
  return seeingOneMoment(db, async (tx) => {
    const source =
      daysOf(projectId, query) ??
      (breakdown && (await rollupSourceOf(tx, projectId, query, breakdown, exact))) ??
      tablesOf(projectId, query);
    return run(tx, source, query);
  });
};

const tooLong = (query: MetricsQuery, cause: unknown): AppError => {
  const days = Math.ceil((query.to - query.from) / 86_400_000);
  const kept =
    'counts, sums and latencies of observations by environment, type, level and one of providedModelName, name and userId';
  return new AppError(
    'timeout',
    `the rows of ${days} days of ${query.viewName} take too long to read: shorten the time between fromTimestamp and toTimestamp, or use a query that rollups can answer: ${kept}`,
    { cause },
  );
};

/**
 * Returns the rows of a query; percentiles of latencies over at most `exact` observations are exact. Throws `timeout`
 * if the query takes too long.
 */
export const runMetricsQuery = async (
  db: Database,
  projectId: string,
  query: MetricsQuery,
  exact: number = exactObservations,
): Promise<MetricRow[]> => {
  try {
    return await answer(db, projectId, query, exact);
  } catch (error) {
    throw error instanceof AppError && error.code === 'timeout' ? tooLong(query, error) : error;
  }
};
