/**
 * Answers metrics queries on observations from daily rollups (`db/observability/daily-rollups.ts`). Whole days that
 * have not changed since their rollup was built are read from the rollup, and all other times from rows. Percentiles
 * over more than `exactObservations` observations are computed from buckets (`db/observability/latency-sketch.ts`),
 * also for times that are read from rows.
 */
import type { Queryable } from '../../db/core/database.ts';
import type { Bind, Condition } from '../../db/core/where.ts';
import {
  type Breakdown,
  breakdowns,
  countOfDays,
  findRolledDays,
  type RollupColumn,
  rollupSums,
} from '../../db/observability/daily-rollups.ts';
import { bucketOf, latencyOf, msOf } from '../../db/observability/latency-sketch.ts';
import { readFilter } from '../../platform/lists/filter.ts';
import type { Metric, MetricsQuery } from './read-query.ts';
import { type Source, shares, within } from './sources.ts';
import { views } from './views.ts';

/** Maximum number of observations for which percentiles are computed exactly, from every row. */
export const exactObservations = 200_000;

/** Maximum number of time ranges that are each read by a separate select. */
const mostStretches = 12;

const dayMs = 86_400_000;

type Known = { column: RollupColumn; row: string; needsTrace?: true };

/**
 * Dimensions that rollups have: their column in rollup rows, and their SQL on observations `o` and their traces `t`.
 */
const known: Readonly<Record<string, Known>> = {
  environment: { column: 'environment', row: `coalesce(o.environment, 'default')` },
  type: { column: 'type', row: 'o.type' },
  level: { column: 'level', row: `coalesce(o.level, 'DEFAULT')` },
  name: { column: 'name', row: 'o.name' },
  providedModelName: { column: 'model', row: 'o.model' },
  userId: { column: 'user_id', row: 't.user_id', needsTrace: true },
};

const sums: Readonly<Record<string, (typeof rollupSums)[number]>> = {
  inputTokens: 'input_usage',
  outputTokens: 'output_usage',
  totalTokens: 'total_usage',
  inputCost: 'input_cost',
  outputCost: 'output_cost',
  totalCost: 'total_cost',
};

const isPercentile = ({ aggregation }: Metric): boolean => shares[aggregation] !== undefined;

/** Returns the SQL of an aggregate over the rows of `d`; undefined if rollups cannot answer it. */
const aggregateOf = ({ measure, aggregation }: Metric): string | undefined => {
  const sum = sums[measure];
  if (sum !== undefined) {
    return aggregation === 'sum' ? `coalesce(sum(d.${sum}), 0)::float8` : undefined;
  }
  if (measure === 'count') {
    return aggregation === 'sum' || aggregation === 'count'
      ? 'coalesce(sum(d.observations), 0)::float8'
      : undefined;
  }
  if (measure !== 'latency') return undefined;
  const share = shares[aggregation];
  if (share !== undefined) {
    const reached = `d.bucket is not null and d.reached > ${share} * (d.latencies_in_all - 1)`;
    const value = `min(${msOf('d.bucket')}) filter (where ${reached})`;
    return `greatest(min(d.latency_least), least(max(d.latency_most), ${value}))`;
  }
  const aggregates: Partial<Record<Metric['aggregation'], string>> = {
    sum: 'coalesce(sum(d.latency_sum), 0)',
    count: 'coalesce(sum(d.latencies), 0)::float8',
    avg: 'sum(d.latency_sum) / nullif(sum(d.latencies), 0)',
    min: 'min(d.latency_least)',
    max: 'max(d.latency_most)',
  };
  return aggregates[aggregation];
};

/** Returns the coarsest breakdown whose rollups can answer the query; undefined if none can. */
export const breakdownOf = (query: MetricsQuery): Breakdown | undefined => {
  const { view, metrics, dimensions, filter, granularity } = query;
  if (view !== views.observations || granularity === 'minute') return undefined;
  const names = [...dimensions, ...filter.columns];
  if (!names.every((name) => Object.hasOwn(known, name))) return undefined;
  if (!metrics.every((metric) => aggregateOf(metric) !== undefined)) return undefined;
  const columns = new Set(names.flatMap((name) => known[name]?.column ?? []));
  if (granularity === 'hour') columns.add('hour');
  return breakdowns.find(
    (one) =>
      [...columns].every((column) => one.columns.includes(column)) &&
      (one.isSketched || !metrics.some(isPercentile)),
  );
};

type Stretch = readonly [from: number, to: number];

/** Returns the parts of a time range that the given days do not cover. */
const stretchesBeside = (days: readonly number[], from: number, to: number): Stretch[] => {
  const begins = [from, ...days.map((day) => day + dayMs)];
  const ends = [...days, to];
  return begins.flatMap((begin, index): Stretch[] => {
    const end = ends[index] ?? to;
    return begin < end ? [[begin, end]] : [];
  });
};

const figures = ['observations', ...rollupSums, 'latencies', 'latency_sum'];
const bounds = ['latency_least', 'latency_most'];

type Asked = {
  projectId: string;
  breakdown: Breakdown;
  names: readonly string[];
  days: readonly string[];
  stretches: readonly Stretch[];
  isSketched: boolean;
};

const columnOf = (name: string): string => known[name]?.column ?? 'name';

/**
 * Returns selects of rollup rows. The latency buckets of the rollups are selected separately, because a join with them
 * would multiply the counts.
 */
const rollupParts = ({ projectId, breakdown, names, days, isSketched }: Asked, bind: Bind) => {
  if (days.length === 0) return [];
  const hour = breakdown.columns.includes('hour') ? ` + c.hour * interval '1 hour'` : '';
  const own = [
    `(c.day + interval '0'${hour}) at time zone 'utc' as at`,
    ...names.map((name) => `c.${columnOf(name)}`),
  ];
  const where = `where c.project_id = ${bind(projectId)} and c.breakdown = ${bind(breakdown.name)}
    and c.day = any(${bind(days)}::date[])`;
  const plain = [...figures, ...bounds].map((name) => `c.${name}`);
  const buckets = isSketched ? ['null::smallint as bucket', '0::float8 as bucket_count'] : [];
  const whole = `select ${[...own, ...plain, ...buckets].join(', ')} from day_cells c ${where}`;
  if (!isSketched) return [whole];
  const none = [...figures.map(() => '0'), ...bounds.map(() => 'null')];
  return [
    whole,
    `select ${[...own, ...none, 'b.bucket', 'b.bucket_count::float8'].join(', ')} from day_cells c
      cross join lateral unnest(c.buckets, c.bucket_counts) as b(bucket, bucket_count) ${where}`,
  ];
};

/** Returns selects of table rows, with the same columns as the selects of rollup rows. */
const rowParts = ({ projectId, names, stretches, isSketched }: Asked, bind: Bind): string[] => {
  if (stretches.length === 0) return [];
  const trace = names.some((name) => known[name]?.needsTrace)
    ? 'left join traces t on t.key = o.trace_key'
    : '';
  const latency = 'l.latency';
  const values = [
    'o.began_at as at',
    ...names.map((name) => `${known[name]?.row} as ${columnOf(name)}`),
    '1::float8 as observations',
    ...rollupSums.map((name) => `coalesce(o.${name}, 0)::float8 as ${name}`),
    `(${latency} is not null)::integer::float8 as latencies`,
    `coalesce(${latency}, 0) as latency_sum`,
    `${latency} as latency_least`,
    `${latency} as latency_most`,
    ...(isSketched
      ? [
          `${bucketOf(latency)} as bucket`,
          `(${latency} is not null)::integer::float8 as bucket_count`,
        ]
      : []),
  ];
  const project = bind(projectId);
  const times = stretches.map(([from, to]) => within('o.began_at', from, to)(bind));
  const wheres =
    times.length > mostStretches ? [times.map((time) => `(${time})`).join(' or ')] : times;
  return wheres.map(
    (where) => `select ${values.join(', ')} from observations o ${trace}
      cross join lateral (select ${latencyOf} as latency) l where o.project_id = ${project} and (${where})`,
  );
};

/**
 * Returns SQL that sums the latency buckets of each group. For each bucket it has the number of latencies up to and
 * including the bucket, and the number in the whole group.
 */
const sketched = (
  from: string,
  where: string,
  groups: readonly string[],
  shown: readonly string[],
) => {
  const partition = groups.length === 0 ? '' : `partition by ${groups.join(', ')}`;
  const counts = 'sum(sum(d.bucket_count))';
  return `(select ${[...shown, 'd.bucket'].join(', ')},
      ${figures.map((name) => `sum(d.${name}) as ${name}`).join(', ')},
      min(d.latency_least) as latency_least, max(d.latency_most) as latency_most,
      ${counts} over (${partition} order by d.bucket) as reached, ${counts} over (${partition}) as latencies_in_all
    from ${from} where ${where} group by ${[...groups, 'd.bucket'].join(', ')}) d`;
};

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * Returns the rollups as the source of a query. Returns undefined if the query must read the tables: if no day has a
 * rollup, or if percentiles cover at most `exact` observations. This call and the query must run in one transaction
 * with one snapshot.
 */
export const rollupSourceOf = async (
  tx: Queryable,
  projectId: string,
  query: MetricsQuery,
  breakdown: Breakdown,
  exact: number,
): Promise<Source | undefined> => {
  const { from, to, granularity } = query;
  const isSketched = query.metrics.some(isPercentile);
  if (isSketched) {
    const range = { projectId, from: dateOf(from), to: dateOf(to - 1) };
    if ((await countOfDays(tx, range)) <= exact) return undefined;
  }
  const [first, last] = [Math.ceil(from / dayMs) * dayMs, Math.floor(to / dayMs) * dayMs];
  const range = { from: dateOf(first), to: dateOf(last) };
  const days = await findRolledDays(tx, { projectId, breakdown: breakdown.name, ...range });
  if (days.length === 0 && !isSketched) return undefined;
  const begins = days.map((day) => Date.parse(`${day}T00:00:00Z`));
  const names = [...new Set([...query.dimensions, ...query.filter.columns])];
  const stretches = stretchesBeside(begins, from, to);
  const asked: Asked = { projectId, breakdown, names, days, stretches, isSketched };
  const columns = Object.fromEntries(
    names.map((name) => [name, { kind: 'text' as const, sql: `d.${columnOf(name)}` }]),
  );
  const filters = readFilter({ filter: query.filterText }, columns).conditions;
  const parts = (bind: Bind): string =>
    `(${[...rollupParts(asked, bind), ...rowParts(asked, bind)].join(' union all ')}) d`;
  const time =
    granularity === null
      ? []
      : [`date_trunc('${granularity}', d.at at time zone 'utc') at time zone 'utc'`];
  const own = query.dimensions.map((name) => `d.${columnOf(name)}`);
  const groups = [...own, ...time];
  const shown = [...own, ...time.map((sql) => `${sql} as at`)];
  const inBuckets = (bind: Bind): string => {
    const where = filters.map((condition: Condition) => `(${condition(bind)})`).join(' and ');
    return sketched(parts(bind), where === '' ? 'true' : where, groups, shown);
  };
  return {
    from: isSketched ? inBuckets : parts,
    conditions: isSketched ? [] : filters,
    time: 'd.at',
    dimension: (name) => `d.${columnOf(name)}`,
    number: () => '0',
    aggregate: (metric) => aggregateOf(metric) ?? 'null::float8',
  };
};
