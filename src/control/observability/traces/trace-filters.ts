/** Filter columns and conditions of the lists of traces, observations and sessions. */
import { levels, observationTypes } from '#observability/object.ts';
import type { Condition } from '../../db/core/where.ts';
import {
  anyOf,
  before,
  equals,
  hasAll,
  keyed,
  on,
  oneOf,
  since,
} from '../../platform/lists/conditions.ts';
import { type Columns, readFilter, withFilter } from '../../platform/lists/filter.ts';
import {
  metadataColumn,
  textColumn,
  toolNamesColumn,
} from '../../platform/lists/metadata-column.ts';
import { invalidParameter, type RawQuery, textIn } from '../../platform/lists/query.ts';

const environmentOf = (table: string): string => `coalesce(${table}.environment, 'default')`;
const levelOf = `coalesce(o.level, 'DEFAULT')`;

const scoresOf = (what: string, type: string, held: 'number' | 'text' | 'boolean') =>
  ({
    kind: 'byKey',
    held,
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
  environment: { kind: 'text', sql: environmentOf('t') },
  version: { kind: 'text', sql: 't.version' },
  release: { kind: 'text', sql: 't.release' },
  tags: { kind: 'list', sql: 't.tags' },
  bookmarked: { kind: 'boolean', sql: 'false' },
  metadata: metadataColumn('t.metadata'),
  input: textColumn('t.input'),
  output: textColumn('t.output'),
  scores_avg: scoresOf('avg(s.value)', 'NUMERIC', 'number'),
  score_categories: scoresOf('s.string_value', 'CATEGORICAL', 'text'),
  score_booleans: scoresOf('s.value = 1', 'BOOLEAN', 'boolean'),
};

/** Filter columns that aggregate over all observations of a trace. */
const aggregatedColumns: Columns = {
  /** Most severe level of the observations. */
  level: {
    kind: 'text',
    sql: `case when m.errors > 0 then 'ERROR' when m.warnings > 0 then 'WARNING' when m.defaults > 0 then 'DEFAULT'
      when m.debugs > 0 then 'DEBUG' end`,
  },
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

/** Returns the conditions on traces `t`; `isAggregated` is true if they need aggregates over observations. */
export const traceConditions = (
  query: RawQuery,
  projectId: string,
): { conditions: Condition[]; isAggregated: boolean } => {
  const filter = readFilter(query, { ...traceColumns, ...aggregatedColumns });
  const simple = [
    ['userId', userCondition(query)],
    ['name', equals(query, 'name', 't.name')],
    ['sessionId', keyed(query, projectId, 'sessionId', 't.session_key')],
    ['tags', hasAll(query, 'tags', 't.tags')],
    ['version', equals(query, 'version', 't.version')],
    ['release', equals(query, 'release', 't.release')],
    ['environment', anyOf(query, 'environment', environmentOf('t'))],
    ['timestamp', since(query, 'fromTimestamp', 't.began_at')],
    ['timestamp', before(query, 'toTimestamp', 't.began_at')],
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
  level: { kind: 'text', sql: levelOf },
  statusMessage: { kind: 'text', sql: 'o.status_message' },
  startTime: { kind: 'time', sql: 'o.began_at' },
  endTime: { kind: 'time', sql: 'o.end_time' },
  traceId: { kind: 'text', sql: 'o.trace_id' },
  parentObservationId: { kind: 'text', sql: 'o.parent_id' },
  environment: { kind: 'text', sql: environmentOf('o') },
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
  tags: { kind: 'list', sql: 't.tags' },
  isRootObservation: { kind: 'boolean', sql: '(o.parent_id is null)' },
  metadata: metadataColumn('o.metadata'),
  input: textColumn('o.input'),
  output: textColumn('o.output'),
  toolNames: toolNamesColumn('o.input'),
};

/** Returns the condition on the level. It has the form that an index covers, unless the level is `DEFAULT`. */
const levelCondition = (query: RawQuery): Condition | undefined => {
  const isIndexed = textIn(query, 'level') !== 'DEFAULT';
  return oneOf(query, 'level', levels, isIndexed ? 'o.level' : levelOf);
};

const mostIndexedBytes = 500;

const nameCondition = (query: RawQuery): Condition | undefined => {
  const isIndexed = Buffer.byteLength(textIn(query, 'name') ?? '') <= mostIndexedBytes;
  const indexed = isIndexed ? ` and octet_length(o.name) <= ${mostIndexedBytes}` : '';
  return on(textIn(query, 'name'), (name) => `o.name = ${name}${indexed}`);
};

const rootCondition = (query: RawQuery): Condition | undefined => {
  const root = textIn(query, 'isRootObservation');
  if (root === undefined) return undefined;
  if (root !== 'true' && root !== 'false') {
    throw invalidParameter('isRootObservation', 'must be true or false');
  }
  return () => `(o.parent_id is null) = ${root}`;
};

/** Returns the conditions on observations `o` and their traces `t`. */
export const observationConditions = (query: RawQuery, projectId: string): Condition[] =>
  withFilter(
    [
      ['name', nameCondition(query)],
      ['userId', userCondition(query)],
      ['sessionId', equals(query, 'sessionId', 't.session_id')],
      ['type', oneOf(query, 'type', observationTypes, 'o.type')],
      ['traceId', keyed(query, projectId, 'traceId', 'o.trace_key')],
      ['level', levelCondition(query)],
      ['parentObservationId', equals(query, 'parentObservationId', 'o.parent_id')],
      ['isRootObservation', rootCondition(query)],
      ['environment', anyOf(query, 'environment', environmentOf('o'))],
      ['version', equals(query, 'version', 'o.version')],
      ['startTime', since(query, 'fromStartTime', 'o.began_at')],
      ['startTime', before(query, 'toStartTime', 'o.began_at')],
    ],
    readFilter(query, observationColumns),
  );

/** Returns the conditions on trace sessions `s`. */
export const sessionConditions = (query: RawQuery): Condition[] =>
  [
    anyOf(query, 'environment', 's.environment'),
    since(query, 'fromTimestamp', 's.created_at'),
    before(query, 'toTimestamp', 's.created_at'),
  ].filter((condition) => condition !== undefined);
