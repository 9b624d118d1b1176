/** Operations on the activity of a session: its calls, and the requests to its world's API. */
import { getOperation, operation } from '../../operation.ts';
import { fieldsOf, IdempotencyHeaders, traceParentHeader } from '../../schemas.ts';
import { Type } from '../../type.ts';
import { CursorQuery, ListMeta, PageQuery, pageOf } from '../lists.ts';
import { WorldParams } from '../worlds/version.ts';
import { CallListView, CallRequest, CallView } from './call.ts';
import { callTools } from './call-tools.ts';
import { AfterRequest, AfterTime, RequestFilter, RequestView } from './request.ts';
import { SessionParams, WaitQuery } from './session-operations.ts';

const CallHeaders = Type.Interface([IdempotencyHeaders], {
  traceparent: traceParentHeader(
    'of the client; the call is recorded in that trace, within that span',
  ),
});

export const enqueueCall = operation({
  id: 'enqueueCall',
  summary: "Call a tool, or one of the session's own operations",
  method: 'POST',
  path: '/world-sessions/{sessionId}/calls',
  access: 'write',
  tools: callTools,
  params: SessionParams,
  query: WaitQuery,
  headers: CallHeaders,
  body: CallRequest,
  answers: { 200: CallView, 202: CallView },
  refusals: {
    429:
      'Too many calls of the session are waiting, or a quota of the project is used up; then `quota` and ' +
      '`limit` say which, `retryAfterMs` when to try again.',
  },
});

export const listCalls = getOperation({
  id: 'listCalls',
  summary: 'The call log of a session, oldest first',
  path: '/world-sessions/{sessionId}/calls',
  access: 'read',
  tools: [{ name: 'list_world_session_calls' }],
  params: SessionParams,
  query: Type.Object(
    { ...PageQuery, fields: fieldsOf(['input', 'output', 'details']) },
    { additionalProperties: false },
  ),
  answer: pageOf(CallListView),
});

const SessionRequestList = Type.Object({
  data: Type.Array(RequestView),
  meta: Type.Interface([ListMeta], {
    dropped: Type.Integer({
      description:
        'number of entries that are missing: they were over the limit of the session or the quota of the project, or were never delivered because the host was lost or late',
    }),
  }),
});

export const listSessionRequests = getOperation({
  id: 'listSessionRequests',
  summary: 'The request ledger of a session, oldest first, also when the session is over',
  path: '/world-sessions/{sessionId}/requests',
  access: 'read',
  tools: [{ name: 'list_world_session_requests' }],
  params: SessionParams,
  query: Type.Object(
    { ...CursorQuery, ...RequestFilter, after: AfterRequest },
    { additionalProperties: false },
  ),
  answer: SessionRequestList,
});

export const listWorldRequests = getOperation({
  id: 'listWorldRequests',
  summary: 'The request ledger of all sessions of a world, newest first',
  path: '/worlds/{slug}/requests',
  access: 'read',
  tools: [{ name: 'list_world_requests' }],
  params: WorldParams,
  query: Type.Object(
    { ...CursorQuery, ...RequestFilter, after: AfterTime },
    { additionalProperties: false },
  ),
  answer: pageOf(RequestView),
});

export const getCall = getOperation({
  id: 'getCall',
  summary: 'A call, with its result once it is answered',
  path: '/world-sessions/{sessionId}/calls/{callId}',
  access: 'read',
  tools: [{ name: 'get_world_session_call' }],
  params: Type.Object({
    sessionId: Type.String({ maxLength: 64 }),
    callId: Type.String({ maxLength: 64 }),
  }),
  query: WaitQuery,
  answer: CallView,
});
