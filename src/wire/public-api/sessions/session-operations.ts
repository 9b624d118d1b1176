/**
 * Operations that open, show, pin and close sessions, and create links to them. Operations on the activity in a session
 * are in call-operations.ts.
 */
import { verdicts } from '#domain/grade.ts';
import { linkScopes, runFilters } from '#domain/session.ts';
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import {
  fieldsOf,
  IdempotencyHeaders,
  oneOf,
  Timestamp,
  traceParentHeader,
  WaitSeconds,
} from '../../schemas.ts';
import { Type } from '../../type.ts';
import { CursorQuery, pageOf } from '../lists.ts';
import { OpenSessionBody, SessionListView, SessionView } from './session.ts';

/** Path parameter that names a session. */
export const SessionParams = Type.Object({ sessionId: Type.String({ maxLength: 64 }) });

/** Query with the time for which the server may hold an answer. */
export const WaitQuery = Type.Object({ wait: WaitSeconds }, { additionalProperties: false });

const OpenHeaders = Type.Interface([IdempotencyHeaders], {
  traceparent: traceParentHeader(
    'of the client; the session is recorded in that trace, within that span',
  ),
});

export const openSession = operation({
  id: 'openSession',
  summary: 'Open a session of a world on a task',
  method: 'POST',
  path: '/world-sessions',
  access: 'write',
  tools: [
    { name: 'open_world_session', wait: 30, failed: { member: 'state', values: ['FAILED'] } },
  ],
  query: WaitQuery,
  headers: OpenHeaders,
  body: OpenSessionBody,
  answers: { 200: SessionView, 201: SessionView },
  refusals: {
    429:
      'A quota of the project does not allow another open session, or another opening in this minute, or another check of an inline ' +
      'task; `quota` and `limit` name it, `retryAfterMs` says when to try again. No session was opened.',
  },
});

export const listSessions = getOperation({
  id: 'listSessions',
  summary: 'The sessions of the project, newest first',
  path: '/world-sessions',
  access: 'read',
  tools: [{ name: 'list_world_sessions' }],
  query: Type.Object(
    {
      ...CursorQuery,
      state: Type.Optional(SessionView.properties.state),
      world: Type.Optional(Type.String({ maxLength: 64 })),
      runs: Type.Optional(
        oneOf(
          runFilters,
          'sessions of test runs, proofs and dataset runs: exclude leaves them out, only lists no others; default exclude, unless `build` is given',
        ),
      ),
      run: Type.Optional(
        Type.String({
          maxLength: 800,
          description:
            'only sessions of the run with this id: a test run, a dataset run or an agent run',
        }),
      ),
      verdict: Type.Optional(oneOf(verdicts, 'only sessions whose last grade has this verdict')),
      task: Type.Optional(
        Type.String({
          maxLength: 200,
          description:
            'only sessions on the task with this name, or on the stored task with this id',
        }),
      ),
      build: Type.Optional(
        Type.String({
          maxLength: 256,
          description: 'only sessions of the build with this id or `buildHash`',
        }),
      ),
      fields: fieldsOf(['tools', 'instruction']),
    },
    { additionalProperties: false },
  ),
  answer: pageOf(SessionListView),
});

export const getSession = getOperation({
  id: 'getSession',
  summary: 'State, readiness and surfaces of a session',
  path: '/world-sessions/{sessionId}',
  access: 'read',
  tools: [{ name: 'get_world_session' }],
  params: SessionParams,
  query: WaitQuery,
  answer: SessionView,
});

export const updateSession = operation({
  id: 'updateSession',
  summary: 'Pin a session, or let it be closed again when it is idle',
  method: 'PATCH',
  path: '/world-sessions/{sessionId}',
  access: 'write',
  tools: [{ name: 'pin_world_session' }],
  params: SessionParams,
  body: Type.Object({ pinned: Type.Boolean() }, { additionalProperties: false }),
  answers: { 200: SessionView },
});

export const closeSession = deleteOperation({
  id: 'closeSession',
  summary: 'Close a session; its container may be reused for other sessions',
  path: '/world-sessions/{sessionId}',
  access: 'write',
  tools: [{ name: 'close_world_session', wait: 30 }],
  params: SessionParams,
  query: WaitQuery,
  body: Type.Optional(
    Type.Object({ keepWarm: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
  ),
  answer: SessionView,
});

export const createSurfaceLink = operation({
  id: 'createSurfaceLink',
  summary: 'Create a one-time link with which a person opens a surface of a session',
  method: 'POST',
  path: '/world-sessions/{sessionId}/links',
  access: 'write',
  tools: [{ name: 'create_world_session_link' }],
  params: SessionParams,
  body: Type.Optional(
    Type.Object(
      {
        surface: Type.Optional(oneOf(['ui', 'browser'], 'default ui')),
        opens: Type.Optional(
          oneOf(
            linkScopes,
            'for a browser: all (the default): watch and use it; view: only watch it; devtools: control it with its DevTools',
          ),
        ),
      },
      { additionalProperties: false },
    ),
  ),
  answers: {
    201: Type.Object({
      surface: oneOf(['ui', 'browser']),
      url: Type.String({ description: 'link that works only once, and only until it expires' }),
      expiresAt: Timestamp,
    }),
  },
  refusals: { 429: 'The project already has the maximum number of unused links.' },
});
