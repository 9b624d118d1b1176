/** Endpoints by which owners open, read, pin and close sessions. */
import * as api from '#wire/public-api/operations.ts';
import { notInState } from '../../../db/sessions/ended-session.ts';
import {
  findSession,
  listSessions,
  noSession,
  pinSession,
  type SessionPosition,
} from '../../../db/sessions/sessions.ts';
import type { Parts } from '../../../parts.ts';
import { closeAndWait } from '../../../sessions/lifecycle/close.ts';
import { openAndWait } from '../../../sessions/lifecycle/open.ts';
import { sessionFields, viewList, viewOne } from '../../../sessions/lifecycle/view.ts';
import { awaitSession, isSettled } from '../../../sessions/lifecycle/wait.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { type CursorForm, isWhole, openPage, readFields } from '../../server/paging.ts';

const byAge: CursorForm<SessionPosition> = {
  write: ({ createdAtUs, id }) => [createdAtUs, id],
  read: ([createdAtUs, id]) =>
    isWhole(createdAtUs) && createdAtUs >= 0 && typeof id === 'string' && !id.includes('\0')
      ? { createdAtUs, id }
      : undefined,
};

export const sessionEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.openSession, async ({ body, query, headers }, { caller, signal }) => {
    const { projectId, level } = caller;
    const { 'idempotency-key': idempotencyKey, traceparent } = headers;
    const request = { projectId, body, idempotencyKey, traceparent, signal };
    const { session, isNew } = await openAndWait(parts, request, query.wait);
    return respond(isNew ? 201 : 200, await viewOne(parts, session, level));
  }),

  endpoint(api.listSessions, async ({ query }, { caller: { projectId, level } }) => {
    const fields = readFields(query.fields, sessionFields);
    const { range, metaOf } = openPage(query, byAge);
    const page = { ...range, withInstruction: fields.includes('instruction') };
    const read = await listSessions(parts.db, projectId, query, page);
    const data = await viewList(parts, read.rows, level, fields);
    return respond(200, { data, meta: metaOf(read) });
  }),

  endpoint(api.getSession, async ({ params, query }, { caller: { projectId, level }, signal }) => {
    const wait = { ...params, projectId, seconds: query.wait, signal, until: isSettled };
    const session = await awaitSession(parts, wait);
    return respond(200, await viewOne(parts, session, level));
  }),

  endpoint(api.updateSession, async ({ params, body }, { caller: { projectId, level } }) => {
    const { sessionId } = params;
    const isPinned = await pinSession(parts.db, projectId, sessionId, body.pinned);
    const session = await findSession(parts.db, projectId, sessionId);
    if (session === undefined) throw noSession(sessionId);
    if (!isPinned) throw notInState(session, '; only an open session can be pinned');
    return respond(200, await viewOne(parts, session, level));
  }),

  endpoint(api.closeSession, async ({ params, query, body }, { caller, signal }) => {
    const { projectId, level } = caller;
    const keepWarm = body?.keepWarm ?? false;
    const wait = { ...params, projectId, seconds: query.wait, signal };
    return respond(200, await viewOne(parts, await closeAndWait(parts, wait, keepWarm), level));
  }),
];
