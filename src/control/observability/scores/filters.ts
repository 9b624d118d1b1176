/** Filter columns of score lists. */
import { scoreSources, scoreTypes } from '#observability/score.ts';
import type { Condition } from '../../db/core/where.ts';
import {
  anyKeyed,
  anyOf,
  before,
  equals,
  hasAll,
  on,
  oneOf,
  since,
} from '../../platform/lists/conditions.ts';
import { type Columns, readFilter, withFilter } from '../../platform/lists/filter.ts';
import { metadataColumn } from '../../platform/lists/metadata-column.ts';
import { invalidParameter, type RawQuery, textIn } from '../../platform/lists/query.ts';

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
  metadata: metadataColumn('s.metadata'),
};

const operators: Readonly<Record<string, string>> = {
  '<': '<',
  '>': '>',
  '<=': '<=',
  '>=': '>=',
  '!=': '<>',
  '=': '=',
};

/**
 * Returns the condition from the parameters `value` and `operator`. An operator without a value is ignored, because
 * some clients always send one.
 */
const valueCondition = (query: RawQuery): Condition | undefined => {
  const [value, operator] = [textIn(query, 'value'), textIn(query, 'operator')];
  if (value === undefined) return undefined;
  const sql = Object.hasOwn(operators, operator ?? '') ? operators[operator ?? ''] : undefined;
  if (sql === undefined) {
    throw invalidParameter('operator', `must be one of ${Object.keys(operators).join(' ')}`);
  }
  const number = Number(value);
  if (!Number.isFinite(number)) {
    throw invalidParameter('value', 'must be a number');
  }
  return on(number, (bound) => `s.value ${sql} ${bound}::float8`);
};

/** Returns the conditions on scores `s` and their traces `t`. */
export const scoreConditions = (query: RawQuery, projectId: string): Condition[] =>
  withFilter(
    [
      ['name', equals(query, 'name', 's.name')],
      ['userId', equals(query, 'userId', 't.user_id')],
      ['tags', hasAll(query, 'traceTags', 't.tags')],
      ['timestamp', since(query, 'fromTimestamp', 's.scored_at')],
      ['timestamp', before(query, 'toTimestamp', 's.scored_at')],
      ['environment', anyOf(query, 'environment', 's.environment')],
      ['source', oneOf(query, 'source', scoreSources, 's.source')],
      ['value', valueCondition(query)],
      ['id', anyKeyed(query, projectId, 'scoreIds', 's.key')],
      ['configId', equals(query, 'configId', 's.config_id')],
      ['queueId', equals(query, 'queueId', 's.queue_id')],
      ['dataType', oneOf(query, 'dataType', scoreTypes, 's.data_type')],
      ['traceId', anyKeyed(query, projectId, 'traceId', 's.trace_key')],
      ['sessionId', anyKeyed(query, projectId, 'sessionId', 's.session_key')],
      ['datasetRunId', equals(query, 'datasetRunId', 's.dataset_run_id')],
      ['observationId', anyOf(query, 'observationId', 's.observation_id')],
    ],
    readFilter(query, columns),
  );

/** Condition of the older list of scores: it has only scores of traces, without corrections. */
export const ofTraces: Condition = () => `s.trace_id is not null and s.data_type <> 'CORRECTION'`;
