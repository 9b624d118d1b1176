/**
 * Parses the `query` parameter of `/metrics`: JSON from a client, validated against what the query's view supports. Has
 * no side effects.
 */
import { isObject } from '#domain/json.ts';
import { parseTimeUs } from '#observability/iso-time.ts';
import { type Filter, readFilter } from '../../platform/lists/filter.ts';
import { invalidParameter } from '../../platform/lists/query.ts';
import { filterColumns, type View, type ViewName, views } from './views.ts';

export const aggregations = [
  'sum',
  'avg',
  'count',
  'max',
  'min',
  'p50',
  'p75',
  'p90',
  'p95',
  'p99',
  'histogram',
  'uniq',
] as const;
export type Aggregation = (typeof aggregations)[number];

export const granularities = ['minute', 'hour', 'day', 'week', 'month'] as const;
export type Granularity = (typeof granularities)[number];

export type Metric = { measure: string; aggregation: Aggregation };

/** A valid query: its view has all dimensions and measures that the query names. */
export type MetricsQuery = {
  viewName: ViewName;
  view: View;
  metrics: readonly Metric[];
  dimensions: readonly string[];
  filter: Filter;
  /** Filters as JSON text. */
  filterText: string;
  granularity: Granularity | null;
  /** Time range in milliseconds since 1970, from `from` to `to`. */
  from: number;
  to: number;
  orderBy: readonly { field: string; isDescending: boolean }[];
  bins: number;
  rowLimit: number;
};

/** Rules that differ between the two routes. */
export type Rules = {
  views: readonly ViewName[];
  /** True if queries may group by ids. */
  groupsByIds: boolean;
  usualRows: number;
};

const all = Object.keys(views) as ViewName[];
export const olderRules: Rules = { views: all, groupsByIds: true, usualRows: 10_000 };
export const presentRules: Rules = {
  views: all.filter((name) => name !== 'traces'),
  groupsByIds: false,
  usualRows: 100,
};

const mostMetrics = 20;
const mostDimensions = 10;
const mostRows = 1_000;
const mostBins = 100;
const usualBins = 10;
/** Maximum number of time buckets in an answer. They are limited because buckets without data are filled in. */
const mostBuckets = 10_000;

export const timeField = 'time_dimension';
export const keyOfMetric = ({ measure, aggregation }: Metric): string =>
  `${aggregation}_${measure}`;

const refuse = (message: string) => invalidParameter('query', message);

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 100) ?? 'nothing';

const oneOf = <Word extends string>(words: readonly Word[], given: unknown, what: string): Word => {
  const known = words.find((word) => word === given);
  if (known !== undefined) return known;
  throw refuse(`has an invalid ${what} ${shown(given)}: it must be one of ${words.join(', ')}`);
};

const readList = (given: unknown, name: string, most: number): readonly unknown[] => {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw refuse(`needs a list as ${name}`);
  if (given.length > most) throw refuse(`has more than ${most} ${name}`);
  return given;
};

const readMetric = (given: unknown, { measures }: View): Metric => {
  if (!isObject(given)) throw refuse('needs objects {measure, aggregation} as metrics');
  const measure = oneOf(Object.keys(measures), given.measure, 'metric');
  const aggregation = oneOf(aggregations, given.aggregation, 'aggregation');
  const kind = measures[measure]?.kind;
  const counts: readonly Aggregation[] = ['count', 'sum', 'uniq'];
  if (kind !== 'number' && !counts.includes(aggregation)) {
    throw refuse(`asks for ${aggregation} of ${measure}, which can only be counted`);
  }
  return { measure, aggregation };
};

const readDimension = (given: unknown, { dimensions }: View, { groupsByIds }: Rules): string => {
  if (!isObject(given)) throw refuse('needs objects {field} as dimensions');
  const field = oneOf(Object.keys(dimensions), given.field, 'dimension');
  if (!groupsByIds && dimensions[field]?.isIdLike) {
    throw refuse(
      `groups by the dimension "${field}", whose value differs in nearly every row: filter by it instead`,
    );
  }
  return field;
};

const readTime = (given: unknown, name: string): number => {
  const us = parseTimeUs(given);
  if (us !== undefined) return us / 1_000;
  throw refuse(`needs an ISO 8601 time with its offset as ${name}`);
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const leastMs: Readonly<Record<Granularity, number>> = {
  minute: 60_000,
  hour: hourMs,
  day: dayMs,
  week: 7 * dayMs,
  month: 28 * dayMs,
};

const autoOf = (ms: number): Granularity => {
  if (ms < 2 * hourMs) return 'minute';
  if (ms < 72 * hourMs) return 'hour';
  if (ms < 60 * dayMs) return 'day';
  return ms < 365 * dayMs ? 'week' : 'month';
};

const readGranularity = (given: unknown, ms: number): Granularity | null => {
  if (given === undefined || given === null) return null;
  if (!isObject(given)) throw refuse('needs an object {granularity} as timeDimension');
  const asked = oneOf(['auto', ...granularities], given.granularity, 'granularity');
  const granularity = asked === 'auto' ? autoOf(ms) : asked;
  if (ms / leastMs[granularity] <= mostBuckets) return granularity;
  throw refuse(
    `asks for more than ${mostBuckets} time buckets: use a coarser granularity or a shorter time range`,
  );
};

const readOrder = (given: unknown, fields: readonly string[]) => {
  if (!isObject(given)) throw refuse('needs objects {field, direction} as orderBy');
  const field = oneOf(fields, given.field, 'orderBy field');
  return { field, isDescending: oneOf(['asc', 'desc'], given.direction, 'direction') === 'desc' };
};

const readNumber = (given: unknown, name: string, most: number, usual: number): number => {
  if (given === undefined || given === null) return usual;
  if (Number.isInteger(given) && (given as number) >= 1 && (given as number) <= most) {
    return given as number;
  }
  throw refuse(`needs a whole number from 1 to ${most} as config.${name}`);
};

const parse = (text: string): Record<string, unknown> => {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw refuse('is invalid: Invalid JSON in query parameter');
  }
  if (isObject(given)) return given;
  throw refuse('must be an object');
};

/**
 * Parses the query. Throws `invalid` with a message that names the wrong part and, if the part has a fixed set of
 * values, the valid values.
 */
export const readMetricsQuery = (text: string, rules: Rules): MetricsQuery => {
  const given = parse(text);
  const viewName = oneOf(rules.views, given.view, 'view');
  const view: View = views[viewName];
  const metrics = readList(given.metrics, 'metrics', mostMetrics).map((one) =>
    readMetric(one, view),
  );
  if (metrics.length === 0) throw refuse('needs at least one entry in metrics');
  const dimensions = readList(given.dimensions, 'dimensions', mostDimensions).map((one) =>
    readDimension(one, view, rules),
  );
  const from = readTime(given.fromTimestamp, 'fromTimestamp');
  const to = readTime(given.toTimestamp, 'toTimestamp');
  if (from >= to) throw refuse('needs a fromTimestamp before its toTimestamp');
  const granularity = readGranularity(given.timeDimension, to - from);
  const filterText = JSON.stringify(readList(given.filters, 'filters', 50));
  const fields = [
    ...dimensions,
    ...metrics.map(keyOfMetric),
    ...(granularity === null ? [] : [timeField]),
  ];
  const config = isObject(given.config) ? given.config : {};
  return {
    viewName,
    view,
    metrics: [...new Map(metrics.map((one) => [keyOfMetric(one), one])).values()],
    dimensions: [...new Set(dimensions)],
    filter: readFilter({ filter: filterText }, filterColumns(view)),
    filterText,
    granularity,
    from,
    to,
    orderBy: readList(given.orderBy, 'orderBy', 20).map((one) => readOrder(one, fields)),
    bins: readNumber(config.bins, 'bins', mostBins, usualBins),
    rowLimit: readNumber(config.row_limit, 'row_limit', mostRows, rules.usualRows),
  };
};
