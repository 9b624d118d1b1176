/** What lists of scores can be filtered by. */
import { keyOf } from '../db/trace-keys.ts';
import type { Condition } from '../db/where.ts';
import { type Columns, readFilter, withFilter } from '../traces/filter.ts';
import { invalidParameter, listIn, type RawQuery, textIn, timeIn } from '../traces/query.ts';

const columns: Columns = {
  id: { kind: 'text', sql: 's.id' },
  name: { kind: 'text', sql: 's.name' },
  value: { kind: 'number', sql: 's.value' },
  stringValue: { kind: 'text', sql: 's.string_value' },
  dataType: { kind: 'text', sql: 's.data_type' },
  source: { kind: 'text', sql: 's.source' },
  comment: { kind: 'text', sql: 's.comment' },
  configId: { kind: 'text', sql: 's.config_id' },
  queueId: { kind: 'text', sql: 's.queue_id' },
  environment: { kind: 'text', sql: 's.environment' },
  timestamp: { kind: 'time', sql: 's.scored_at' },
  traceId: { kind: 'text', sql: 's.trace_id' },
  observationId: { kind: 'text', sql: 's.observation_id' },
  sessionId: { kind: 'text', sql: 's.session_id' },
  datasetRunId: { kind: 'text', sql: 's.dataset_run_id' },
  userId: { kind: 'text', sql: 't.user_id' },
  traceName: { kind: 'text', sql: 't.name' },
  tags: { kind: 'list', sql: 't.tags' },
};

const operators: Readonly<Record<string, string>> = {
  '<': '<',
  '>': '>',
  '<=': '<=',
  '>=': '>=',
  '!=': '<>',
  '=': '=',
};

/** `value` with its `operator`; neither means anything without the other. */
const valueCondition = (query: RawQuery): Condition | undefined => {
  const [value, operator] = [textIn(query, 'value'), textIn(query, 'operator')];
  if (value === undefined && operator === undefined) return undefined;
  const sql = Object.hasOwn(operators, operator ?? '') ? operators[operator ?? ''] : undefined;
  if (sql === undefined) {
    throw invalidParameter('operator', `must be one of ${Object.keys(operators).join(' ')}`);
  }
  const number = Number(value);
  if (value === undefined || !Number.isFinite(number)) {
    throw invalidParameter('value', 'must be a number');
  }
  return (bind) => `s.value ${sql} ${bind(number)}::float8`;
};

const equals = (query: RawQuery, name: string, sql: string): Condition | undefined => {
  const text = textIn(query, name);
  return text === undefined ? undefined : (bind) => `${sql} = ${bind(text)}`;
};

const anyOf = (query: RawQuery, name: string, sql: string): Condition | undefined => {
  const texts = listIn(query, name);
  return texts === undefined ? undefined : (bind) => `${sql} = any(${bind(texts)}::text[])`;
};

const keyed = (
  query: RawQuery,
  projectId: string,
  name: string,
  sql: string,
): Condition | undefined => {
  const ids = listIn(query, name);
  if (ids === undefined) return undefined;
  const keys = ids.map((id) => keyOf(projectId, id));
  return (bind) => `${sql} = any(${bind(keys)}::uuid[])`;
};

const since = (query: RawQuery, name: string, operator: '>=' | '<'): Condition | undefined => {
  const at = timeIn(query, name);
  return at === undefined
    ? undefined
    : (bind) => `s.scored_at ${operator} ${bind(at)}::timestamptz`;
};

const tagged = (query: RawQuery): Condition | undefined => {
  const tags = listIn(query, 'traceTags');
  return tags === undefined ? undefined : (bind) => `t.tags @> ${bind(tags)}::text[]`;
};

/** Conditions on scores `s` and their traces `t`. */
export const scoreConditions = (query: RawQuery, projectId: string): Condition[] =>
  withFilter(
    [
      ['name', equals(query, 'name', 's.name')],
      ['userId', equals(query, 'userId', 't.user_id')],
      ['tags', tagged(query)],
      ['timestamp', since(query, 'fromTimestamp', '>=')],
      ['timestamp', since(query, 'toTimestamp', '<')],
      ['environment', anyOf(query, 'environment', 's.environment')],
      ['source', equals(query, 'source', 's.source')],
      ['value', valueCondition(query)],
      ['id', keyed(query, projectId, 'scoreIds', 's.key')],
      ['configId', equals(query, 'configId', 's.config_id')],
      ['queueId', equals(query, 'queueId', 's.queue_id')],
      ['dataType', equals(query, 'dataType', 's.data_type')],
      ['traceId', keyed(query, projectId, 'traceId', 's.trace_key')],
      ['sessionId', keyed(query, projectId, 'sessionId', 's.session_key')],
      ['datasetRunId', equals(query, 'datasetRunId', 's.dataset_run_id')],
      ['observationId', anyOf(query, 'observationId', 's.observation_id')],
    ],
    readFilter(query, columns),
  );

/** Of the older list: scores of traces, without corrections. */
export const ofTraces: Condition = () => `s.trace_id is not null and s.data_type <> 'CORRECTION'`;
