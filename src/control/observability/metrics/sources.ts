/**
 * Sources of a query's rows: the view's tables, or the daily sums if they can answer the query. With daily sums, whole
 * days come from the sums, and the partial days at both ends from the tables. The source for rollups is in
 * `daily-rollups.ts`.
 */
import type { Bind, Condition } from '../../db/core/where.ts';
import { readFilter } from '../../platform/lists/filter.ts';
import type { Aggregation, Metric, MetricsQuery } from './read-query.ts';
import { type Dimension, type Measure, type Need, type View, views } from './views.ts';

export type Source = {
  from: (bind: Bind) => string;
  conditions: readonly Condition[];
  time: string;
  dimension(name: string): string;
  /** Returns the SQL of a measure's number in each row, for histograms. */
  number(measure: string): string;
  aggregate(metric: Metric): string;
};

/** Percentile aggregations, each with its fraction. */
export const shares: Partial<Record<Aggregation, number>> = {
  p50: 0.5,
  p75: 0.75,
  p90: 0.9,
  p95: 0.95,
  p99: 0.99,
};

const aggregateOf = ({ sql, kind }: Measure, aggregation: Aggregation): string => {
  if (kind === 'rows') return 'count(*)::float8';
  if (kind === 'text' || aggregation === 'uniq') return `count(distinct ${sql})::float8`;
  const share = shares[aggregation];
  if (share !== undefined) {
    return `percentile_cont(${share}) within group (order by (${sql})::float8)`;
  }
  if (aggregation === 'sum') return `coalesce(sum(${sql})::float8, 0)`;
  return `${aggregation}(${sql})::float8`;
};

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** Returns the condition that a time is in a range. The range is in milliseconds since 1970; its end is excluded. */
export const within =
  (time: string, from: number, to: number): Condition =>
  (bind) =>
    `${time} >= ${bind(isoOf(from))}::timestamptz and ${time} < ${bind(isoOf(to))}::timestamptz`;

const sqlOf = (
  named: Readonly<Record<string, Dimension>> | Readonly<Record<string, Measure>>,
  name: string,
): string => {
  const found = named[name];
  if (found === undefined) throw new Error(`the view has no column for "${name}"`);
  return found.sql;
};

const needsOf = (view: View, { dimensions, metrics, filter }: MetricsQuery): Set<Need> => {
  const names = [...dimensions, ...filter.columns];
  const measures = [...metrics.map(({ measure }) => measure), ...filter.columns];
  const needs = [
    ...names.map((name) => view.dimensions[name]?.needs),
    ...measures.map((name) => view.measures[name]?.needs),
    ...(filter.columns.has('metadata') ? [view.metadata?.needs] : []),
  ];
  return new Set(needs.filter((need) => need !== undefined));
};

/** Returns the view's tables as a source. */
export const tablesOf = (projectId: string, query: MetricsQuery): Source => {
  const { view, filter, from, to } = query;
  const needs = needsOf(view, query);
  const joins = Object.entries(view.joins).flatMap(([need, join]) =>
    needs.has(need as Need) ? [join] : [],
  );
  const only = view.only;
  return {
    from: () => [view.table, ...joins].join(' '),
    conditions: [
      (bind) => `${view.project} = ${bind(projectId)}`,
      within(view.time, from, to),
      ...(only === undefined ? [] : [() => only]),
      ...filter.conditions,
    ],
    time: view.time,
    dimension: (name) => sqlOf(view.dimensions, name),
    number: (measure) => sqlOf(view.measures, measure),
    aggregate({ measure, aggregation }) {
      const found = view.measures[measure];
      if (found === undefined) throw new Error(`the view has no measure "${measure}"`);
      return aggregateOf(found, aggregation);
    },
  };
};

const dayMs = 86_400_000;

/**
 * Returns the whole UTC days between two times, and the partial days at both ends; undefined if there is no whole day.
 */
export const splitDays = (from: number, to: number) => {
  const [first, last] = [Math.ceil(from / dayMs) * dayMs, Math.floor(to / dayMs) * dayMs];
  if (first >= last) return undefined;
  const ends = [
    [from, first],
    [last, to],
  ] as const;
  return { first, last, ends: ends.filter(([begin, end]) => begin < end) };
};

/** Daily sums for a view: the dimensions that they have, and the measures that can be summed. */
type Summary = {
  dimensions: Readonly<Record<string, Dimension>>;
  sums: Readonly<Record<string, string>>;
  /** SQL that selects the sums of whole days. */
  days: string;
  /**
   * Returns SQL that selects table rows with the columns of `days`. It joins traces only if one of the named dimensions
   * needs them.
   */
  rows(names: ReadonlySet<string>): string;
  time: string;
};

const text = (sql: string): Dimension => ({ sql, kind: 'text' });
const atDay = `u.day::timestamp at time zone 'utc' as at`;

const tokens = ['input_usage', 'output_usage', 'total_usage'];
const costs = ['input_cost', 'output_cost', 'total_cost'];

const observationSummary: Summary = {
  dimensions: { traceName: text('d.trace_name'), providedModelName: text('d.model') },
  sums: {
    count: 'd.n',
    inputTokens: 'd.input_usage',
    outputTokens: 'd.output_usage',
    totalTokens: 'd.total_usage',
    inputCost: 'd.input_cost',
    outputCost: 'd.output_cost',
    totalCost: 'd.total_cost',
  },
  days: `select ${atDay}, u.trace_name, u.model, u.observations::float8 as n,
      ${tokens.map((name) => `u.${name}::float8 as ${name}`).join(', ')},
      ${costs.map((name) => `u.${name}::float8 / 1e12 as ${name}`).join(', ')}
    from daily_usage u where u.environment is not null`,
  rows: (names) => `select o.began_at, ${names.has('traceName') ? 't.name' : 'null'}, o.model, 1,
      ${[...tokens, ...costs].map((name) => `o.${name}::float8`).join(', ')}
    from observations o ${names.has('traceName') ? 'left join traces t on t.key = o.trace_key' : ''}
    where o.project_id =`,
  time: 'o.began_at',
};

const traceSummary: Summary = {
  dimensions: { name: text('d.name'), environment: text('d.environment') },
  sums: { count: 'd.n' },
  days: `select ${atDay}, u.trace_name as name, u.environment, u.traces::float8 as n
    from daily_usage u where u.environment is not null`,
  rows: () =>
    `select t.began_at, t.name, coalesce(t.environment, 'default'), 1 from traces t where t.project_id =`,
  time: 't.began_at',
};

const summaries = new Map<View, Summary>([
  [views.observations, observationSummary],
  [views.traces, traceSummary],
]);

const summed: readonly Aggregation[] = ['sum', 'count'];

/** Returns true if the daily sums can answer the query exactly. */
const fits = ({ dimensions, sums }: Summary, query: MetricsQuery): boolean => {
  const { metrics, granularity, filter } = query;
  const isKnown = (name: string): boolean => Object.hasOwn(dimensions, name);
  const isSum = ({ measure, aggregation }: Metric): boolean =>
    Object.hasOwn(sums, measure) &&
    (measure === 'count' ? summed.includes(aggregation) : aggregation === 'sum');
  return (
    metrics.every(isSum) &&
    query.dimensions.every(isKnown) &&
    [...filter.columns].every(isKnown) &&
    granularity !== 'minute' &&
    granularity !== 'hour'
  );
};

/** Returns the daily sums as a source; undefined if they cannot answer the query. */
export const daysOf = (projectId: string, query: MetricsQuery): Source | undefined => {
  const summary = summaries.get(query.view);
  const split = splitDays(query.from, query.to);
  if (summary === undefined || split === undefined || !fits(summary, query)) return undefined;
  const { dimensions, sums, days, rows, time } = summary;
  const { first, last, ends } = split;
  const names = new Set([...query.dimensions, ...query.filter.columns]);
  const isLeft = (name: string): boolean => Object.hasOwn(sums, name);
  return {
    from(bind) {
      const whole = `${days} and u.project_id = ${bind(projectId)}
        and u.day >= ${bind(isoOf(first).slice(0, 10))}::date and u.day < ${bind(isoOf(last).slice(0, 10))}::date`;
      const left = ends.map(
        ([begin, end]) => `${rows(names)} ${bind(projectId)} and ${within(time, begin, end)(bind)}`,
      );
      return `(${[whole, ...left].join(' union all ')}) d`;
    },
    // Rows whose sums fell to zero do not count as rows.
    conditions: [
      () => 'd.n <> 0',
      ...readFilter(
        { filter: query.filterText },
        Object.fromEntries(
          Object.entries(dimensions).map(([name, { sql, kind }]) => [name, { sql, kind }]),
        ),
      ).conditions,
    ],
    time: 'd.at',
    dimension: (name) => sqlOf(dimensions, name),
    number: (measure) => (isLeft(measure) ? (sums[measure] ?? '0') : '0'),
    aggregate: ({ measure }) => `coalesce(sum(${sums[measure]}), 0)::float8`,
  };
};
