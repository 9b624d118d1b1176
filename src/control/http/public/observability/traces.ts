/** Endpoints of traces, observations and trace sessions. */
import { AppError } from '#domain/error.ts';
import type { ObservationView } from '#wire/public-api/observability/trace.ts';
import * as api from '#wire/public-api/operations.ts';
import { jsonList, jsonOf } from '../../../base/json/json-text.ts';
import { isoOf } from '../../../db/core/times.ts';
import {
  countObservations,
  findObservation,
  listObservations,
} from '../../../db/observability/observation-reads.ts';
import { listTraceSessions } from '../../../db/observability/trace-sessions.ts';
import { removeTraces } from '../../../observability/ingestion/delete.ts';
import { putTrace } from '../../../observability/ingestion/single-events.ts';
import { writeObservation } from '../../../observability/traces/observation-json.ts';
import {
  observationGroups,
  usualGroups,
  viewParts,
} from '../../../observability/traces/observation-parts.ts';
import {
  observationConditions,
  sessionConditions,
} from '../../../observability/traces/trace-filters.ts';
import { readTrace, readTraceSession, readTraces } from '../../../observability/traces/traces.ts';
import type { Parts } from '../../../parts.ts';
import { openCursorPage } from '../../../platform/lists/cursor.ts';
import {
  fieldsIn,
  invalidParameter,
  isTrue,
  listIn,
  metaOf,
  pageIn,
} from '../../../platform/lists/query.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

const mostParts = { least: 0, most: 1_000, usual: 50 };

const noSuch = (what: string): AppError =>
  new AppError('not_found', `there is no such ${what} in this project`);

const traceEndpointsOf = ({ traces }: Parts): Endpoint[] => [
  endpoint(api.listTraces, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readTraces(traces.db, projectId, query)),
  ),

  endpoint(api.getTrace, async ({ params, query }, { caller: { projectId } }) =>
    respond(200, await readTrace(traces.db, projectId, params.traceId, query)),
  ),

  endpoint(api.createTrace, async ({ body }, { caller: { projectId } }) =>
    respond(200, { id: await putTrace(traces, projectId, body) }),
  ),

  endpoint(api.deleteTrace, async ({ params: { traceId } }, { caller: { projectId } }) => {
    const count = await removeTraces(traces, projectId, [traceId]);
    if (count === 0) throw noSuch('trace');
    return respond(200, { message: 'Trace deleted successfully' });
  }),

  endpoint(api.deleteTraces, async ({ body: { traceIds } }, { caller: { projectId } }) => {
    await removeTraces(traces, projectId, traceIds);
    return respond(200, { message: 'Traces deleted successfully' });
  }),
];

const observationEndpointsOf = ({ traces: { db } }: Parts): Endpoint[] => [
  endpoint(api.listObservations, async ({ query }, { caller: { projectId } }) => {
    const page = pageIn(query);
    const conditions = observationConditions(query, projectId);
    const [rows, count] = await Promise.all([
      listObservations(db, projectId, { ...page, conditions, hasHeavy: true }),
      countObservations(db, projectId, conditions),
    ]);
    const texts = rows.map((row) => writeObservation(row, projectId));
    return respond(200, { data: jsonList<ObservationView>(texts), meta: metaOf(page, count) });
  }),

  endpoint(api.getObservation, async ({ params }, { caller: { projectId } }) => {
    const row = await findObservation(db, projectId, params.observationId);
    if (row === undefined) throw noSuch('observation');
    return respond(200, jsonOf<ObservationView>(writeObservation(row, projectId)));
  }),

  endpoint(api.listObservationParts, async ({ query }, { caller: { projectId } }) => {
    if (isTrue(query, 'parseIoAsJson')) {
      throw invalidParameter(
        'parseIoAsJson',
        'is not supported: input and output are returned as they were sent',
      );
    }
    const page = openCursorPage(query, projectId, mostParts, { time: 'o.began_at', key: 'o.key' });
    const asked = fieldsIn(query, observationGroups, usualGroups);
    const conditions = [...observationConditions(query, projectId), ...page.conditions];
    const hasHeavy = asked.has('io') || asked.has('metadata');
    const rows = await listObservations(db, projectId, { conditions, ...page.range, hasHeavy });
    const { shown, meta } = page.show(rows, ({ startTime, id }) => [
      new Date(isoOf(startTime)),
      id,
    ]);
    const expanded = new Set(listIn(query, 'expandMetadata') ?? []);
    return respond(200, {
      data: shown.map((row) => viewParts({ row, projectId, expanded }, asked)),
      meta,
    });
  }),
];

const sessionEndpointsOf = ({ traces: { db } }: Parts): Endpoint[] => [
  endpoint(api.listTraceSessions, async ({ query }, { caller: { projectId } }) => {
    const page = pageIn(query);
    const { rows, count } = await listTraceSessions(db, projectId, sessionConditions(query), page);
    const data = rows.map(({ id, createdAt, environment }) => ({
      id,
      createdAt: createdAt.toISOString(),
      projectId,
      environment,
    }));
    return respond(200, { data, meta: metaOf(page, count) });
  }),

  endpoint(api.getTraceSession, async ({ params, query }, { caller: { projectId } }) => {
    const hasIo = isTrue(query, 'includeIO');
    return respond(200, await readTraceSession(db, projectId, params.sessionId, hasIo));
  }),
];

export const traceEndpoints = (parts: Parts): Endpoint[] => [
  ...traceEndpointsOf(parts),
  ...observationEndpointsOf(parts),
  ...sessionEndpointsOf(parts),
];
