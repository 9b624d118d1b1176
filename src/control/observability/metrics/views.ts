/**
 * Views that metrics queries can use, each with its dimensions and measures. Every name maps to SQL that is part of
 * this program; values from clients are always parameters.
 */
import { latencyOf } from '../../db/observability/latency-sketch.ts';
import type { Column, Columns } from '../../platform/lists/filter.ts';
import { metadataColumn } from '../../platform/lists/metadata-column.ts';

/** Joins that a dimension or a measure may need in addition to the view's own table. */
export type Need =
  | 'trace'
  | 'observation'
  | 'tally'
  | 'span'
  | 'scores'
  | 'session'
  | 'build'
  | 'calls';

type Kind = 'text' | 'number' | 'time' | 'boolean' | 'list';

export type Dimension = {
  sql: string;
  kind: Kind;
  needs?: Need;
  /** True for ids and similar values, which queries must not group by if there are very many rows. */
  isIdLike?: true;
};

export type Measure = {
  /** SQL of the measure's value in each row, null if the row has none. Of text, only distinct values can be counted. */
  sql: string;
  kind: 'rows' | 'number' | 'text';
  needs?: Need;
};

export type View = {
  /** The view's own table with its alias, and the joins that a query may need. */
  table: string;
  joins: Partial<Record<Need, string>>;
  project: string;
  time: string;
  /** Condition that a row must fulfil to belong to the view. */
  only?: string;
  dimensions: Readonly<Record<string, Dimension>>;
  measures: Readonly<Record<string, Measure>>;
  /** Metadata that filters can search: SQL of their JSON text. */
  metadata?: { sql: string; needs?: Need };
};

const month = (time: string): Dimension => ({
  sql: `to_char(${time} at time zone 'utc', 'YYYY-MM')`,
  kind: 'text',
});
const day = (time: string): Dimension => ({
  sql: `to_char(${time} at time zone 'utc', 'YYYY-MM-DD')`,
  kind: 'text',
});
const text = (sql: string, needs?: Need): Dimension => ({
  sql,
  kind: 'text',
  ...(needs === undefined ? {} : { needs }),
});
const id = (sql: string, needs?: Need): Dimension => ({ ...text(sql, needs), isIdLike: true });
const number = (sql: string, needs?: Need): Measure => ({
  sql,
  kind: 'number',
  ...(needs === undefined ? {} : { needs }),
});
const rows: Measure = { sql: '1', kind: 'rows' };

const msBetween = (from: string, to: string): string =>
  `extract(epoch from ${to} - ${from})::float8 * 1000`;

const environmentOf = (table: string): string => `coalesce(${table}.environment, 'default')`;

/** Dimensions of a world session `ws`, shared by the views of other tables. */
const sessionDimensions: View['dimensions'] = {
  world: text('ws.world', 'session'),
  task: text('ws.task_name', 'session'),
  run: text('ws.run', 'session'),
  build: text('ws.build_hash', 'session'),
  sessionState: text('ws.state', 'session'),
  verdict: text('ws.verdict', 'session'),
};

/**
 * Returns the join of a trace's world session as `ws`, found by the trace's external id. `from` is SQL that selects the
 * trace as `wt`.
 */
const sessionOf = (from: string): string => `left join lateral (
    select coalesce(w.former_slug, w.slug) as world, s.task_name, s.state, s.verdict, b.build_hash,
           coalesce(s.run_id, s.dataset_run_id, s.agent_run_id) as run
      from ${from} join sessions s on s.id = wt.external_id and s.project_id = wt.project_id
      join worlds w on w.id = s.world_id left join agent_builds b on b.id = s.build_id) ws on true`;
const sessionOfTrace = sessionOf('(select t.external_id, t.project_id) wt');
const sessionOfKey = (key: string): string =>
  sessionOf(`(select x.external_id, x.project_id from traces x where x.key = ${key}) wt`);

/**
 * Join of the sums over the observations of a trace. The sums are stored with the trace (`src/observability/tally.ts`).
 */
const tallyJoin = `cross join lateral (
    select coalesce(sum((e ->> 2)::numeric), 0)::float8 as observations,
           coalesce(sum((e ->> 5)::numeric), 0)::float8 as tokens,
           coalesce(sum((e ->> 8)::numeric), 0)::float8 / 1e12 as cost
      from json_array_elements(t.tally::json) e) tl`;

const spanJoin = `cross join lateral (
    select ${msBetween('min(x.began_at)', 'max(greatest(x.end_time, x.began_at))')} as latency
      from observations x where x.trace_key = t.key and x.week = t.week) sp`;

const traces: View = {
  table: 'traces t',
  joins: {
    tally: tallyJoin,
    span: spanJoin,
    scores: `cross join lateral (select count(*)::float8 as scores from scores x where x.trace_key = t.key) sc`,
    session: sessionOfTrace,
  },
  project: 't.project_id',
  time: 't.began_at',
  dimensions: {
    id: id('t.id'),
    name: text('t.name'),
    tags: { sql: 't.tags', kind: 'list' },
    userId: id('t.user_id'),
    sessionId: id('t.session_id'),
    release: text('t.release'),
    version: text('t.version'),
    environment: text(environmentOf('t')),
    timestampMonth: month('t.began_at'),
    ...sessionDimensions,
  },
  measures: {
    count: rows,
    observationsCount: number('tl.observations', 'tally'),
    scoresCount: number('sc.scores', 'scores'),
    uniqueUserIds: { sql: 't.user_id', kind: 'text' },
    uniqueSessionIds: { sql: 't.session_id', kind: 'text' },
    latency: number('sp.latency', 'span'),
    totalTokens: number('tl.tokens', 'tally'),
    totalCost: number('tl.cost', 'tally'),
  },
  metadata: { sql: 't.metadata' },
};

const perSecond = (tokens: string): Measure =>
  number(
    `o.${tokens}::float8 / nullif(extract(epoch from greatest(o.end_time, o.began_at) - o.began_at)::float8, 0)`,
  );

const observations: View = {
  table: 'observations o',
  joins: {
    trace: 'left join traces t on t.key = o.trace_key',
    scores: `cross join lateral (
      select count(*)::float8 as scores from scores x where x.trace_key = o.trace_key and x.observation_id = o.id) sc`,
    session: sessionOfKey('o.trace_key'),
  },
  project: 'o.project_id',
  time: 'o.began_at',
  dimensions: {
    id: id('o.id'),
    traceId: id('o.trace_id'),
    traceName: text('t.name', 'trace'),
    environment: text(environmentOf('o')),
    parentObservationId: id('o.parent_id'),
    type: text('o.type'),
    name: text('o.name'),
    level: text(`coalesce(o.level, 'DEFAULT')`),
    version: text('o.version'),
    tags: { sql: 't.tags', kind: 'list', needs: 'trace' },
    providedModelName: text('o.model'),
    promptName: text('o.prompt_name'),
    promptVersion: { sql: 'o.prompt_version', kind: 'number' },
    userId: id('t.user_id', 'trace'),
    sessionId: id('t.session_id', 'trace'),
    traceRelease: text('t.release', 'trace'),
    traceVersion: text('t.version', 'trace'),
    startTimeMonth: month('o.began_at'),
    ...sessionDimensions,
  },
  measures: {
    count: rows,
    latency: number(latencyOf),
    streamingLatency: number(msBetween('o.completion_start_time', 'o.end_time')),
    timeToFirstToken: number(msBetween('o.began_at', 'o.completion_start_time')),
    inputTokens: number('o.input_usage::float8'),
    outputTokens: number('o.output_usage::float8'),
    totalTokens: number('o.total_usage::float8'),
    outputTokensPerSecond: perSecond('output_usage'),
    tokensPerSecond: perSecond('total_usage'),
    inputCost: number('o.input_cost'),
    outputCost: number('o.output_cost'),
    totalCost: number('o.total_cost'),
    countScores: number('sc.scores', 'scores'),
  },
  metadata: { sql: 'o.metadata' },
};

const scoreDimensions: View['dimensions'] = {
  id: id('s.id'),
  environment: text('s.environment'),
  name: text('s.name'),
  source: text('s.source'),
  dataType: text('s.data_type'),
  traceId: id('s.trace_id'),
  configId: text('s.config_id'),
  timestampMonth: month('s.scored_at'),
  timestampDay: day('s.scored_at'),
  observationId: id('s.observation_id'),
  traceName: text('t.name', 'trace'),
  tags: { sql: 't.tags', kind: 'list', needs: 'trace' },
  userId: id('t.user_id', 'trace'),
  sessionId: id('coalesce(s.session_id, t.session_id)', 'trace'),
  datasetRunId: id('s.dataset_run_id'),
  traceRelease: text('t.release', 'trace'),
  traceVersion: text('t.version', 'trace'),
  observationName: text('o.name', 'observation'),
  observationModelName: text('o.model', 'observation'),
  observationPromptName: text('o.prompt_name', 'observation'),
  observationPromptVersion: { sql: 'o.prompt_version', kind: 'number', needs: 'observation' },
  ...sessionDimensions,
};

/** Builds the view of one kind of score, with the dimensions and measures of that kind. */
const scoresOf = (only: string, own: View['dimensions'], measures: View['measures']): View => ({
  table: 'scores s',
  joins: {
    trace: 'left join traces t on t.key = s.trace_key',
    observation:
      'left join observations o on o.trace_key = s.trace_key and o.id = s.observation_id',
    session: sessionOfKey('s.trace_key'),
  },
  project: 's.project_id',
  time: 's.scored_at',
  only,
  dimensions: { ...scoreDimensions, ...own },
  measures: { count: rows, ...measures },
  metadata: { sql: 's.metadata' },
});

const value = number('s.value');

const userEvents: View = {
  table: 'user_events e',
  joins: { trace: 'left join traces t on t.key = e.trace_key' },
  project: 'e.project_id',
  time: 'e.happened_at',
  dimensions: {
    id: id('e.id'),
    event: text('e.event'),
    userId: id('e.user_id'),
    traceId: id('e.trace_id'),
    sessionId: id('e.session_id'),
    timestampMonth: month('e.happened_at'),
    timestampDay: day('e.happened_at'),
    traceName: text('t.name', 'trace'),
    tags: { sql: 't.tags', kind: 'list', needs: 'trace' },
    traceRelease: text('t.release', 'trace'),
    traceVersion: text('t.version', 'trace'),
  },
  measures: {
    count: rows,
    value: number('e.value'),
    uniqueUserIds: { sql: 'e.user_id', kind: 'text' },
  },
};

// View of world sessions. Sessions opened by tests and proofs of worlds are excluded, as no agent used them.
const worldSessions: View = {
  table: 'sessions ws join worlds w on w.id = ws.world_id',
  joins: {
    build: 'left join agent_builds b on b.id = ws.build_id',
    calls: `cross join lateral (
      select count(*)::float8 as calls from calls x where x.session_id = ws.id and x.kind = 'tool') ca`,
  },
  project: 'ws.project_id',
  time: 'ws.created_at',
  only: 'ws.run_id is null',
  dimensions: {
    id: id('ws.id'),
    traceId: id('ws.trace_id'),
    world: text('coalesce(w.former_slug, w.slug)'),
    worldVersionId: text('ws.version_id'),
    task: text('ws.task_name'),
    taskId: text('ws.task_id'),
    run: text('coalesce(ws.dataset_run_id, ws.agent_run_id)'),
    agent: text('b.agent_id', 'build'),
    build: text('b.build_hash', 'build'),
    buildVersion: text('b.semantic_ver', 'build'),
    sessionState: text('ws.state'),
    endReason: text('ws.end_reason'),
    verdict: text('ws.verdict'),
    timestampMonth: month('ws.created_at'),
    timestampDay: day('ws.created_at'),
  },
  measures: {
    count: rows,
    passed: number(`case ws.verdict when 'pass' then 1 when 'fail' then 0 end::float8`),
    score: number('ws.score'),
    duration: number(msBetween('ws.created_at', 'ws.closed_at')),
    toolCalls: number('ca.calls', 'calls'),
  },
};

export const views = {
  traces,
  observations,
  'scores-numeric': scoresOf(
    `s.data_type = 'NUMERIC'`,
    { value: { sql: 's.value', kind: 'number' } },
    { value },
  ),
  'scores-boolean': scoresOf(
    `s.data_type = 'BOOLEAN'`,
    { booleanValue: { sql: '(s.value = 1)', kind: 'boolean' } },
    { value },
  ),
  'scores-categorical': scoresOf(
    `s.data_type = 'CATEGORICAL'`,
    { stringValue: text('s.string_value') },
    {},
  ),
  'user-events': userEvents,
  'world-sessions': worldSessions,
} as const satisfies Record<string, View>;

export type ViewName = keyof typeof views;

/** Returns the filter columns of a view. */
export const filterColumns = ({ dimensions, measures, metadata, time }: View): Columns => ({
  ...Object.fromEntries(
    Object.entries(measures)
      .filter(([, { kind }]) => kind === 'number')
      .map(([name, { sql }]): [string, Column] => [name, { kind: 'number', sql }]),
  ),
  ...Object.fromEntries(
    Object.entries(dimensions).map(([name, { sql, kind }]): [string, Column] => [
      name,
      { kind, sql },
    ]),
  ),
  timestamp: { kind: 'time', sql: time },
  startTime: { kind: 'time', sql: time },
  ...(metadata === undefined ? {} : { metadata: metadataColumn(metadata.sql) }),
});
