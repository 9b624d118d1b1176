/** Reads traces and trace sessions with their observations and scores. */

import { cut } from '#domain/cut.ts';
import { AppError } from '#domain/error.ts';
import type {
  ObservationView,
  TraceDetail,
  TraceSessionDetail,
  TraceView,
} from '#wire/public-api/observability/trace.ts';
import { createJsonEntries, sendEntries } from '../../base/json/json-entries.ts';
import { jsonWith, writeJson } from '../../base/json/json-text.ts';
import type { Database } from '../../db/core/database.ts';
import { eachObservationOf } from '../../db/observability/observation-reads.ts';
import { listScoresOf } from '../../db/observability/score-reads.ts';
import {
  findTrace,
  listObservationIds,
  listScoreIds,
  listTraces,
  listTracesOfSession,
  measureTraces,
  showTracesOfSession,
  type TraceRow,
  traceOrders,
} from '../../db/observability/trace-reads.ts';
import { findTraceSession } from '../../db/observability/trace-sessions.ts';
import {
  fieldsIn,
  invalidParameter,
  metaOf,
  pageIn,
  type RawQuery,
  textIn,
} from '../../platform/lists/query.ts';
import { writeObservation } from './observation-json.ts';
import { viewScore } from './score-view.ts';
import { traceConditions } from './trace-filters.ts';
import { writeTrace } from './trace-json.ts';

const groups = ['core', 'io', 'scores', 'observations', 'metrics'] as const;
type Group = (typeof groups)[number];

const notFound = (what: string, id: string): AppError =>
  new AppError('not_found', `there is no ${what} "${cut(id, 100)}" in this project`);

const orderIn = (query: RawQuery) => {
  const [member = '', direction = 'asc'] = (textIn(query, 'orderBy') ?? 'timestamp.desc').split(
    '.',
  );
  const order = (Object.keys(traceOrders) as (keyof typeof traceOrders)[]).find(
    (known) => known === member,
  );
  const isDirection = direction.toLowerCase() === 'asc' || direction.toLowerCase() === 'desc';
  if (order !== undefined && isDirection) {
    return { order, isDescending: direction.toLowerCase() === 'desc' };
  }
  const known = Object.keys(traceOrders).join(', ');
  throw invalidParameter('orderBy', `must be one of ${known}, with .asc or .desc`);
};

/** Values of metrics that the client did not request. */
const unmeasured = { totalCost: -1, latency: -1 };
const nothing = { totalCost: 0, latency: 0 };

/** Reads the requested observations, scores and metrics of a page of traces. */
const findHanging = async (db: Database, rows: readonly TraceRow[], asked: ReadonlySet<Group>) => {
  const [observations, scores, metrics] = await Promise.all([
    asked.has('observations') ? listObservationIds(db, rows) : new Map<string, string[]>(),
    asked.has('scores') ? listScoreIds(db, rows) : new Map<string, string[]>(),
    asked.has('metrics') ? measureTraces(db, rows) : undefined,
  ]);
  return ({ key }: TraceRow) => {
    const { totalCost, latency } = metrics?.get(key) ?? (metrics ? nothing : unmeasured);
    return {
      observations: observations.get(key) ?? [],
      scores: scores.get(key) ?? [],
      totalCost,
      latency,
    };
  };
};

type OwnMembers = Omit<TraceView, 'observations' | 'scores' | 'totalCost' | 'latency'>;

/** Returns a trace with the given members added. */
const traceWith = <Hanging extends object>(
  row: TraceRow,
  projectId: string,
  hanging: Hanging,
): OwnMembers & Hanging => jsonWith(writeTrace(row, projectId), hanging);

/** Returns a page of traces. */
export const readTraces = async (db: Database, projectId: string, query: RawQuery) => {
  const page = pageIn(query);
  const asked = fieldsIn(query, groups, groups);
  const list = { ...page, ...orderIn(query), ...traceConditions(query, projectId) };
  const { rows, count } = await listTraces(db, projectId, { ...list, hasHeavy: asked.has('io') });
  const hanging = await findHanging(db, rows, asked);
  const data: TraceView[] = rows.map((row) => traceWith(row, projectId, hanging(row)));
  return { data, meta: metaOf(page, count) };
};

const withoutIo = (row: TraceRow): TraceRow => ({
  ...row,
  input: null,
  output: null,
  metadata: null,
});

/** Writes the observations of several traces, grouped by trace id. */
const writeObservations = async (
  db: Database,
  projectId: string,
  traces: readonly TraceRow[],
): Promise<(trace: TraceRow) => ObservationView[]> => {
  const entries = new Map(traces.map(({ id }) => [id, createJsonEntries<ObservationView>()]));
  if (traces.length > 0) {
    await eachObservationOf(db, traces, (row) => {
      entries.get(row.traceId)?.add(writeObservation(row, projectId));
    });
  }
  return ({ id }) => entries.get(id)?.list() ?? [];
};

/** Streams the observations of one trace while they are read. */
const sendObservations = (
  db: Database,
  projectId: string,
  trace: TraceRow,
): Promise<ObservationView[]> =>
  sendEntries((add) =>
    eachObservationOf(db, [trace], (row) => add(writeObservation(row, projectId))),
  );

/** Returns one trace with its observations and scores. */
export const readTrace = async (
  db: Database,
  projectId: string,
  id: string,
  query: RawQuery,
): Promise<TraceDetail> => {
  const asked = fieldsIn(query, groups, groups);
  const row = await findTrace(db, projectId, id);
  if (row === undefined) throw notFound('trace', id);
  const [observations, scores, metrics] = await Promise.all([
    asked.has('observations') ? sendObservations(db, projectId, row) : [],
    asked.has('scores') ? listScoresOf(db, row.key) : [],
    asked.has('metrics') ? measureTraces(db, [row]) : undefined,
  ]);
  const { totalCost, latency } = metrics?.get(row.key) ?? (metrics ? nothing : unmeasured);
  return traceWith(asked.has('io') ? row : withoutIo(row), projectId, {
    observations,
    scores: scores.map((score) => viewScore(score, projectId)),
    totalCost,
    latency,
  });
};

type SessionTrace = TraceSessionDetail['traces'][number];

/** Writes the traces of a trace session, each with its observations. */
const writeTraces = async (
  db: Database,
  projectId: string,
  sessionKey: string,
): Promise<SessionTrace[]> => {
  const traces = await listTracesOfSession(db, sessionKey);
  const observationsOf = await writeObservations(db, projectId, traces);
  const entries = createJsonEntries<SessionTrace>();
  for (const trace of traces) {
    const shown: SessionTrace = traceWith(trace, projectId, {
      observations: observationsOf(trace),
    });
    entries.add(writeJson(shown).join(''));
  }
  return entries.list();
};

/** Returns one trace session with its traces, and with the traces' observations if requested. */
export const readTraceSession = async (
  db: Database,
  projectId: string,
  id: string,
  hasIo: boolean,
): Promise<TraceSessionDetail> => {
  const session = await findTraceSession(db, projectId, id);
  if (session === undefined) {
    throw new AppError('not_found', 'Session not found within authorized project');
  }
  const traces = hasIo
    ? await writeTraces(db, projectId, session.key)
    : await sendEntries<SessionTrace>((add) =>
        showTracesOfSession(db, session.key, (trace) => add(writeTrace(trace, projectId))),
      );
  return {
    id: session.id,
    createdAt: session.createdAt.toISOString(),
    projectId,
    environment: session.environment,
    traces,
  };
};
