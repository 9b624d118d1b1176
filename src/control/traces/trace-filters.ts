/** What lists of traces, observations and sessions can be filtered by. */
import { levels, observationTypes } from '#observability/object.ts';
import { keyOf } from '../db/trace-keys.ts';
import type { Condition } from '../db/where.ts';
import { type Columns, readFilter, withFilter } from './filter.ts';
import { invalidParameter, listIn, type RawQuery, textIn, timeIn } from './query.ts';

/** A condition on a value, when there is one. */
const on = <Value>(
  value: Value | undefined,
  condition: (bound: string) => string,
): Condition | undefined => (value === undefined ? undefined : (bind) => condition(bind(value)));

const scoresOf = (what: string, type: string) =>
  ({
    kind: 'byKey',
    of: (key, test) => (bind) =>
      `exists (select from (select ${what} as held from scores s where s.trace_key = t.key
         and s.data_type = '${type}' and s.name = ${bind(key)}) scored where ${test('scored.held')(bind)})`,
  }) satisfies Columns[string];

const traceColumns: Columns = {
  id: { kind: 'text', sql: 't.id' },
  name: { kind: 'text', sql: 't.name' },
  timestamp: { kind: 'time', sql: 't.began_at' },
  userId: { kind: 'text', sql: 't.user_id' },
  sessionId: { kind: 'text', sql: 't.session_id' },
  environment: { kind: 'text', sql: `coalesce(t.environment, 'default')` },
  version: { kind: 'text', sql: 't.version' },
  release: { kind: 'text', sql: 't.release' },
  tags: { kind: 'list', sql: 't.tags' },
  bookmarked: { kind: 'boolean', sql: 'false' },
  scores_avg: scoresOf('avg(s.value)', 'NUMERIC'),
  score_categories: scoresOf('s.string_value', 'CATEGORICAL'),
  score_booleans: scoresOf('s.value = 1', 'BOOLEAN'),
};

/** Columns over all observations of a trace. */
const aggregatedColumns: Columns = {
  latency: { kind: 'number', sql: 'm.latency' },
  inputTokens: { kind: 'number', sql: 'm.input_tokens' },
  outputTokens: { kind: 'number', sql: 'm.output_tokens' },
  totalTokens: { kind: 'number', sql: 'm.total_tokens' },
  inputCost: { kind: 'number', sql: 'm.input_cost' },
  outputCost: { kind: 'number', sql: 'm.output_cost' },
  totalCost: { kind: 'number', sql: 'm.total_cost' },
  errorCount: { kind: 'number', sql: 'm.errors' },
  warningCount: { kind: 'number', sql: 'm.warnings' },
  defaultCount: { kind: 'number', sql: 'm.defaults' },
  debugCount: { kind: 'number', sql: 'm.debugs' },
};

const userCondition = (query: RawQuery): Condition | undefined =>
  on(
    textIn(query, 'userId'),
    (value) => `left(t.user_id, 100) = left(${value}::text, 100) and t.user_id = ${value}`,
  );

/** Conditions on traces `t`; whether they need what is aggregated of their observations. */
export const traceConditions = (
  query: RawQuery,
  projectId: string,
): { conditions: Condition[]; isAggregated: boolean } => {
  const filter = readFilter(query, { ...traceColumns, ...aggregatedColumns });
  const sessionId = textIn(query, 'sessionId');
  const session = sessionId === undefined ? undefined : keyOf(projectId, sessionId);
  const simple = [
    ['userId', userCondition(query)],
    ['name', on(textIn(query, 'name'), (value) => `t.name = ${value}`)],
    ['sessionId', on(session, (value) => `t.session_key = ${value}::uuid`)],
    ['tags', on(listIn(query, 'tags'), (value) => `t.tags @> ${value}::text[]`)],
    ['version', on(textIn(query, 'version'), (value) => `t.version = ${value}`)],
    ['release', on(textIn(query, 'release'), (value) => `t.release = ${value}`)],
    [
      'environment',
      on(
        listIn(query, 'environment'),
        (value) => `coalesce(t.environment, 'default') = any(${value}::text[])`,
      ),
    ],
    ['timestamp', on(timeIn(query, 'fromTimestamp'), (at) => `t.began_at >= ${at}::timestamptz`)],
    ['timestamp', on(timeIn(query, 'toTimestamp'), (at) => `t.began_at < ${at}::timestamptz`)],
  ] as const;
  return {
    conditions: withFilter(simple, filter),
    isAggregated: [...filter.columns].some((column) => Object.hasOwn(aggregatedColumns, column)),
  };
};

const seconds = (from: string, to: string): string => `extract(epoch from ${to} - ${from})`;

const observationColumns: Columns = {
  id: { kind: 'text', sql: 'o.id' },
  name: { kind: 'text', sql: 'o.name' },
  type: { kind: 'text', sql: 'o.type' },
  level: { kind: 'text', sql: `coalesce(o.level, 'DEFAULT')` },
  statusMessage: { kind: 'text', sql: 'o.status_message' },
  startTime: { kind: 'time', sql: 'o.began_at' },
  endTime: { kind: 'time', sql: 'o.end_time' },
  traceId: { kind: 'text', sql: 'o.trace_id' },
  parentObservationId: { kind: 'text', sql: 'o.parent_id' },
  environment: { kind: 'text', sql: `coalesce(o.environment, 'default')` },
  version: { kind: 'text', sql: 'o.version' },
  model: { kind: 'text', sql: 'o.model' },
  providedModelName: { kind: 'text', sql: 'o.model' },
  promptName: { kind: 'text', sql: 'o.prompt_name' },
  promptVersion: { kind: 'number', sql: 'o.prompt_version' },
  latency: { kind: 'number', sql: seconds('o.began_at', 'o.end_time') },
  timeToFirstToken: { kind: 'number', sql: seconds('o.began_at', 'o.completion_start_time') },
  inputTokens: { kind: 'number', sql: 'o.input_usage' },
  outputTokens: { kind: 'number', sql: 'o.output_usage' },
  totalTokens: { kind: 'number', sql: 'o.total_usage' },
  inputCost: { kind: 'number', sql: 'o.input_cost' },
  outputCost: { kind: 'number', sql: 'o.output_cost' },
  totalCost: { kind: 'number', sql: 'o.total_cost' },
  userId: { kind: 'text', sql: 't.user_id' },
  sessionId: { kind: 'text', sql: 't.session_id' },
  traceName: { kind: 'text', sql: 't.name' },
  traceTags: { kind: 'list', sql: 't.tags' },
};

const wordIn = (query: RawQuery, name: string, words: readonly string[]): string | undefined => {
  const text = textIn(query, name);
  if (text === undefined || words.includes(text)) return text;
  throw invalidParameter(name, `must be one of ${words.join(', ')}`);
};

/** Conditions on observations `o` and their traces `t`. */
export const observationConditions = (query: RawQuery, projectId: string): Condition[] => {
  const filter = readFilter(query, observationColumns);
  const traceId = textIn(query, 'traceId');
  const traceKey = traceId === undefined ? undefined : keyOf(projectId, traceId);
  const root = textIn(query, 'isRootObservation');
  return withFilter(
    [
      ['name', on(textIn(query, 'name'), (value) => `o.name = ${value}`)],
      ['userId', userCondition(query)],
      ['sessionId', on(textIn(query, 'sessionId'), (value) => `t.session_id = ${value}`)],
      ['type', on(wordIn(query, 'type', observationTypes), (value) => `o.type = ${value}`)],
      ['traceId', on(traceKey, (value) => `o.trace_key = ${value}::uuid`)],
      [
        'level',
        on(wordIn(query, 'level', levels), (value) => `coalesce(o.level, 'DEFAULT') = ${value}`),
      ],
      [
        'parentObservationId',
        on(textIn(query, 'parentObservationId'), (value) => `o.parent_id = ${value}`),
      ],
      [
        'parentObservationId',
        root === undefined ? undefined : () => `(o.parent_id is null) = ${root === 'true'}`,
      ],
      [
        'environment',
        on(
          listIn(query, 'environment'),
          (value) => `coalesce(o.environment, 'default') = any(${value}::text[])`,
        ),
      ],
      ['version', on(textIn(query, 'version'), (value) => `o.version = ${value}`)],
      ['startTime', on(timeIn(query, 'fromStartTime'), (at) => `o.began_at >= ${at}::timestamptz`)],
      ['startTime', on(timeIn(query, 'toStartTime'), (at) => `o.began_at < ${at}::timestamptz`)],
    ],
    filter,
  );
};

/** Conditions on sessions `s`. */
export const sessionConditions = (query: RawQuery): Condition[] =>
  [
    on(listIn(query, 'environment'), (value) => `s.environment = any(${value}::text[])`),
    on(timeIn(query, 'fromTimestamp'), (at) => `s.created_at >= ${at}::timestamptz`),
    on(timeIn(query, 'toTimestamp'), (at) => `s.created_at < ${at}::timestamptz`),
  ].filter((condition) => condition !== undefined);
