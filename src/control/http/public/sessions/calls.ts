/** Endpoints by which the owner of a session enqueues calls and reads them. */
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import { callFields, findCall, listCalls } from '../../../db/sessions/calls.ts';
import { noSession } from '../../../db/sessions/sessions.ts';
import type { Parts } from '../../../parts.ts';
import { toMs } from '../../../platform/notifications/held-requests.ts';
import { enqueue } from '../../../sessions/calls/enqueue.ts';
import { viewCall, viewListedCall } from '../../../sessions/calls/view.ts';
import { awaitCall, isOver } from '../../../sessions/calls/wait.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { readFields, toMeta, toRange } from '../../server/paging.ts';

export const callEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.enqueueCall, async ({ params, query, headers, body }, { caller, signal }) => {
    const { projectId, level } = caller;
    const { 'idempotency-key': idempotencyKey, traceparent } = headers;
    const request = { ...params, projectId, body, idempotencyKey, traceparent };
    const call = await enqueue(parts, request, { ms: toMs(query.wait), signal });
    return respond(isOver(call) ? 200 : 202, viewCall(call, level));
  }),

  endpoint(
    api.listCalls,
    async ({ params: { sessionId }, query }, { caller: { projectId, level } }) => {
      const fields = readFields(query.fields, callFields);
      const found = await listCalls(parts.db, projectId, sessionId, { ...toRange(query), fields });
      if (found === undefined) throw noSession(sessionId);
      const data = found.rows.map(viewListedCall(fields, level));
      return respond(200, { data, meta: toMeta(query, found.total) });
    },
  ),

  endpoint(api.getCall, async ({ params, query }, { caller: { projectId, level }, signal }) => {
    const ref = { projectId, ...params };
    const watch = parts.notifications.watch(params.callId);
    try {
      const call = await findCall(parts.db, ref);
      if (call === undefined) {
        throw new AppError('not_found', `there is no call "${params.callId}" in this session`);
      }
      const wait = { ms: toMs(query.wait), signal };
      return respond(200, viewCall(await awaitCall(parts, watch, ref, call, wait), level));
    } finally {
      watch.end();
    }
  }),
];
