/** The three lists of scores: scores of traces, all scores, and the plain list with a cursor. */
import { limits } from '#domain/limits.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { Database } from '../../db/core/database.ts';
import type { Condition } from '../../db/core/where.ts';
import {
  countScores,
  listScores,
  type ScoreRow,
  type ScoreTrace,
} from '../../db/observability/score-reads.ts';
import { openCursorPage } from '../../platform/lists/cursor.ts';
import {
  fieldsIn,
  invalidParameter,
  metaOf,
  pageIn,
  type RawQuery,
  textIn,
} from '../../platform/lists/query.ts';
import { viewScore } from '../traces/score-view.ts';
import { ofTraces, scoreConditions } from './filters.ts';

type Row = ScoreRow & ScoreTrace;

const traceOf = (row: Row, hasSession: boolean) => ({
  userId: row.traceUser,
  tags: row.traceTags ?? [],
  environment: row.traceEnvironment,
  ...(hasSession ? { sessionId: row.traceSession } : {}),
});

const readPage = async (
  db: Database,
  projectId: string,
  query: RawQuery,
  conditions: readonly Condition[],
) => {
  const page = pageIn(query);
  const [rows, count] = await Promise.all([
    listScores(db, projectId, conditions, page),
    countScores(db, projectId, conditions),
  ]);
  return { rows, meta: metaOf(page, count) };
};

/** Returns a page of scores of traces, each with fields of its trace. */
export const readTraceScores = async (db: Database, projectId: string, query: RawQuery) => {
  const conditions = [...scoreConditions(query, projectId), ofTraces];
  const { rows, meta } = await readPage(db, projectId, query, conditions);
  const data = rows.map((row) => ({ ...viewScore(row, projectId), trace: traceOf(row, false) }));
  return { data, meta };
};

const groups = ['score', 'trace'] as const;

/** Returns a page of all scores; clients choose whether each score has the fields of its trace. */
export const readAllScores = async (db: Database, projectId: string, query: RawQuery) => {
  const asked = fieldsIn(query, groups, groups);
  if (!asked.has('score'))
    throw invalidParameter('fields', 'must include "score" if it includes "trace"');
  const hasTrace = asked.has('trace');
  const isOfTrace = textIn(query, 'userId') ?? textIn(query, 'traceTags');
  if (!hasTrace && isOfTrace !== undefined) {
    throw invalidParameter('fields', 'must include "trace" for the filters userId and traceTags');
  }
  const conditions = scoreConditions(query, projectId);
  const { rows, meta } = await readPage(db, projectId, query, conditions);
  const data = rows.map((row) => ({
    ...viewScore(row, projectId),
    ...(hasTrace ? { trace: row.hasTrace ? traceOf(row, true) : null } : {}),
  }));
  return { data, meta };
};

const plainGroups = ['details', 'subject', 'annotation'] as const;
type PlainGroup = (typeof plainGroups)[number];

const parts: Record<PlainGroup, (row: Row) => object> = {
  details: ({ comment, metadata, configId }) => ({
    comment,
    metadata: new JsonText(metadata),
    configId,
  }),
  subject: ({ traceId, observationId, sessionId, datasetRunId }) => ({
    traceId,
    observationId,
    sessionId,
    datasetRunId,
  }),
  annotation: ({ authorUserId, queueId }) => ({ authorUserId, queueId }),
};

/** Returns the value of a score in the type of its data: boolean, number or text. */
const plainValue = ({ dataType, value, stringValue }: Row): number | boolean | string | null => {
  if (dataType === 'BOOLEAN') return value === 1;
  return dataType === 'NUMERIC' ? value : stringValue;
};

const viewPlain = (row: Row, projectId: string, asked: ReadonlySet<PlainGroup>) => {
  const { id, name, dataType, source, environment, timestamp, createdAt, updatedAt } = viewScore(
    row,
    projectId,
  );
  const core = { id, projectId, name, dataType, source, environment };
  const times = { timestamp, createdAt, updatedAt };
  const members = [...asked].map((group) => parts[group](row));
  return Object.assign({ ...core, ...times, value: plainValue(row) }, ...members);
};

const bounds = { least: 1, most: limits.pageMax, usual: limits.pageDefault };
const order = { time: 's.scored_at', key: 's.key' };

/** Returns a page of scores by cursor; each value has the type of its data. */
export const readPlainScores = async (db: Database, projectId: string, query: RawQuery) => {
  const page = openCursorPage(query, projectId, bounds, order);
  const asked = fieldsIn(query, plainGroups, []);
  const conditions = [...scoreConditions(query, projectId), ...page.conditions];
  const rows = await listScores(db, projectId, conditions, page.range);
  const { shown, meta } = page.show(rows, ({ timestamp, id }) => [timestamp, id]);
  return {
    data: shown.map((row) => viewPlain(row, projectId, asked)),
    meta: { limit: page.limit, ...meta },
  };
};
