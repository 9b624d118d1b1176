/**
 * The public API, one entry per operation. Base address: `{base_url}/api/public`.
 */

import { limits } from '#domain/limits.ts';
import { linkScopes } from '#domain/session.ts';
import { operation } from '../operation.ts';
import {
  Empty,
  fieldsOf,
  IdempotencyHeaders,
  JsonObject,
  oneOf,
  Timestamp,
  WaitSeconds,
} from '../schemas.ts';
import { Type } from '../type.ts';
import { CallListView, CallRequest, CallView } from './call.ts';
import { callTools } from './call-tools.ts';
import { CursorQuery, ListMeta, PageQuery } from './lists.ts';
import { AfterRequest, AfterTime, RequestFilter, RequestView } from './request.ts';
import { EntityView, RuntimeAnswer, RuntimeBody, RuntimeRejection } from './runtime.ts';
import { OpenSessionBody, SessionListView, SessionView } from './session.ts';
import { WorldParams } from './version.ts';
import {
  CreateWorldBody,
  TaskListView,
  TemplateView,
  WorldDetail,
  WorldListView,
} from './world.ts';

export {
  createOrganizationKey,
  createProject,
  createProjectKey,
  createToken,
  deleteOrganization,
  deleteProject,
  getOrganization,
  getProjectSettings,
  getSettings,
  listAuditLog,
  listMemberships,
  listOrganizationKeys,
  listOrganizationProjects,
  listProjectKeys,
  listProjectMemberships,
  listProjects,
  listTokens,
  removeMembership,
  removeProjectMembership,
  revokeOrganizationKey,
  revokeProjectKey,
  revokeToken,
  setMembership,
  setProjectMembership,
  updateOrganization,
  updateProject,
  updateSettings,
} from './account-operations.ts';
export {
  branchContainer,
  getBundle,
  getContainer,
  listBundles,
  pinBundle,
  pushBundle,
} from './bundle-operations.ts';
export {
  listConnectors,
  listConnectorVersions,
  publishConnector,
} from './connector-operations.ts';
export {
  cancelBatch,
  completeBatch,
  confirmChunk,
  createBatch,
  getBatch,
  importData,
  listBatches,
  publishData,
  registerChunk,
} from './data-operations.ts';

export { readData } from './data-read.ts';
export { answerDeliveries, listDeliveries, listWebhooks } from './delivery-operations.ts';
export { ingest } from './ingestion.ts';
export { callService, callSessionServer } from './mcp-operations.ts';
export { ingestMetrics, ingestSpans } from './otel.ts';
export { describeProject } from './project-operations.ts';
export { getProof, proveTask } from './proof-operations.ts';
export {
  listDestinations,
  removeDestination,
  setDestination,
} from './push-operations.ts';
export { getTestRun, listTestRuns, runTests } from './run-operations.ts';
export {
  createScore,
  createScoreConfig,
  deleteScore,
  getAnyScore,
  getScore,
  getScoreConfig,
  listAllScores,
  listPlainScores,
  listScoreConfigs,
  listScores,
  updateScoreConfig,
} from './score-operations.ts';
export {
  createTask,
  deleteTask,
  getTask,
  listTasks,
  saveSessionTask,
  updateTask,
  validateTask,
} from './task-operations.ts';
export {
  createTrace,
  deleteTrace,
  deleteTraces,
  getObservation,
  getTrace,
  getTraceSession,
  listObservationParts,
  listObservations,
  listTraceSessions,
  listTraces,
} from './trace-operations.ts';
export {
  archiveWorld,
  deleteWorld,
  findMissingFiles,
  getVersion,
  getWorldFile,
  listVersions,
  pushVersion,
  removeLabel,
  renameWorld,
  setLabel,
} from './version-operations.ts';

const SessionParams = Type.Object({ sessionId: Type.String({ maxLength: 64 }) });
const WaitQuery = Type.Object({ wait: WaitSeconds }, { additionalProperties: false });

const compileBusy =
  'Too much of the project waits to be compiled, or its compile time for this minute is spent; `quota` ' +
  'says which, `retryAfterMs` when to try again.';

export const createWorld = operation({
  id: 'createWorld',
  summary: 'Create a world and its first version',
  method: 'POST',
  path: '/worlds',
  access: 'write',
  tools: [{ name: 'create_world' }],
  headers: IdempotencyHeaders,
  body: CreateWorldBody,
  bodyBytes: limits.worldBodyBytes,
  answers: { 200: WorldDetail, 201: WorldDetail },
  refusals: { 429: `${compileBusy} Or the project has no room for another world: see \`quota\`.` },
});

export const getWorld = operation({
  id: 'getWorld',
  summary: 'A world with its head version or the one that is named, surfaces and files',
  method: 'GET',
  path: '/worlds/{slug}',
  access: 'read',
  tools: [{ name: 'describe_world' }],
  params: WorldParams,
  answers: { 200: WorldDetail },
});

export const listWorldEntities = operation({
  id: 'listWorldEntities',
  summary: "The entities of a world's head version, each field with its types and its redaction",
  method: 'GET',
  path: '/worlds/{slug}/entities',
  access: 'read',
  tools: [{ name: 'list_world_entities' }],
  params: WorldParams,
  answers: {
    200: Type.Object({
      versionId: Type.String(),
      data: Type.Array(EntityView),
    }),
  },
  refusals: { 429: compileBusy },
});

export const listWorldTasks = operation({
  id: 'listWorldTasks',
  summary: 'The tasks that the head version of a world bundles',
  method: 'GET',
  path: '/worlds/{slug}/tasks',
  access: 'read',
  tools: [{ name: 'list_bundled_tasks' }],
  params: WorldParams,
  query: Type.Object(
    {
      name: Type.Optional(
        Type.String({ maxLength: 256, description: 'only the task of this name' }),
      ),
      fields: fieldsOf(['instruction', 'tools']),
    },
    { additionalProperties: false },
  ),
  answers: { 200: Type.Object({ versionId: Type.String(), data: Type.Array(TaskListView) }) },
});

export const getWorldOpenApi = operation({
  id: 'getWorldOpenApi',
  summary: "The OpenAPI document of the vendor's API, as the head version of a world serves it",
  method: 'GET',
  path: '/worlds/{slug}/openapi.json',
  access: 'read',
  params: WorldParams,
  headers: Type.Object({ 'if-none-match': Type.Optional(Type.String({ maxLength: 1_000 })) }),
  answers: { 200: JsonObject, 304: Empty },
});

export const runWorldCommand = operation({
  id: 'runWorldCommand',
  summary: "Validate, compile, describe or begin a world's files, without a world",
  method: 'POST',
  path: '/worlds/runtime',
  access: 'write',
  tools: [{ name: 'run_world_command' }],
  body: RuntimeBody,
  bodyBytes: limits.worldBodyBytes,
  answers: { 200: RuntimeAnswer, 400: RuntimeRejection },
  refusals: { 429: compileBusy },
});

export const listTemplates = operation({
  id: 'listTemplates',
  summary: 'The world templates that can be created from',
  method: 'GET',
  path: '/worlds/templates',
  access: 'read',
  tools: [{ name: 'list_world_templates' }],
  answers: { 200: Type.Object({ data: Type.Array(TemplateView) }) },
});

export const listWorlds = operation({
  id: 'listWorlds',
  summary: 'The worlds of the project, newest first',
  method: 'GET',
  path: '/environments',
  access: 'read',
  tools: [{ name: 'list_worlds' }],
  query: Type.Object(
    {
      ...PageQuery,
      archived: Type.Optional(
        Type.Boolean({ description: 'those that are archived, in place of the others' }),
      ),
      fields: fieldsOf(['tools', 'tasks', 'redact', 'dependencies']),
    },
    { additionalProperties: false },
  ),
  answers: { 200: Type.Object({ data: Type.Array(WorldListView), meta: ListMeta }) },
});

const OpenHeaders = Type.Interface([IdempotencyHeaders], {
  traceparent: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description: 'W3C trace context of who asks; the trace of the session links to it',
    }),
  ),
});

export const openSession = operation({
  id: 'openSession',
  summary: 'Open a session of a world on a task',
  method: 'POST',
  path: '/world-sessions',
  access: 'write',
  tools: [{ name: 'open_world_session', wait: 30 }],
  query: WaitQuery,
  headers: OpenHeaders,
  body: OpenSessionBody,
  answers: { 200: SessionView, 201: SessionView },
  refusals: {
    429:
      'The project may have no more sessions open, or open no more this minute, or check no more inline ' +
      'tasks; `quota` and `limit` say which, `retryAfterMs` when to try again. Nothing was opened.',
  },
});

export const listSessions = operation({
  id: 'listSessions',
  summary: 'The sessions of the project, newest first',
  method: 'GET',
  path: '/world-sessions',
  access: 'read',
  tools: [{ name: 'list_world_sessions' }],
  query: Type.Object(
    {
      ...CursorQuery,
      state: Type.Optional(SessionView.properties.state),
      world: Type.Optional(Type.String({ maxLength: 64 })),
      fields: fieldsOf(['tools', 'instruction']),
    },
    { additionalProperties: false },
  ),
  answers: { 200: Type.Object({ data: Type.Array(SessionListView), meta: ListMeta }) },
});

export const getSession = operation({
  id: 'getSession',
  summary: 'State, readiness and surfaces of a session',
  method: 'GET',
  path: '/world-sessions/{sessionId}',
  access: 'read',
  tools: [{ name: 'get_world_session' }],
  params: SessionParams,
  query: WaitQuery,
  answers: { 200: SessionView },
});

export const updateSession = operation({
  id: 'updateSession',
  summary: 'Pin a session, or let the idle reaper have it again',
  method: 'PATCH',
  path: '/world-sessions/{sessionId}',
  access: 'write',
  tools: [{ name: 'pin_world_session' }],
  params: SessionParams,
  body: Type.Object({ pinned: Type.Boolean() }, { additionalProperties: false }),
  answers: { 200: SessionView },
});

export const closeSession = operation({
  id: 'closeSession',
  summary: 'End a session; its container may go back to the warm pool',
  method: 'DELETE',
  path: '/world-sessions/{sessionId}',
  access: 'write',
  tools: [{ name: 'close_world_session', wait: 30 }],
  params: SessionParams,
  query: WaitQuery,
  body: Type.Optional(
    Type.Object({ keepWarm: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
  ),
  answers: { 200: SessionView },
});

export const createSurfaceLink = operation({
  id: 'createSurfaceLink',
  summary: 'Make a one-time link by which a person enters a surface of a session',
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
            'of a browser: all (the default) to see it and act in it, view to see it, devtools to drive it by its DevTools',
          ),
        ),
      },
      { additionalProperties: false },
    ),
  ),
  answers: {
    201: Type.Object({
      surface: oneOf(['ui', 'browser']),
      url: Type.String({ description: 'good once, until it expires' }),
      expiresAt: Timestamp,
    }),
  },
  refusals: { 429: 'The project may have no more links at once.' },
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
  headers: IdempotencyHeaders,
  body: CallRequest,
  answers: { 200: CallView, 202: CallView },
  refusals: {
    429:
      'Too many calls of the session wait already, or a quota of the project is used up; then `quota` and ' +
      '`limit` say which, `retryAfterMs` when to try again.',
  },
});

export const listCalls = operation({
  id: 'listCalls',
  summary: 'The call log of a session, oldest first',
  method: 'GET',
  path: '/world-sessions/{sessionId}/calls',
  access: 'read',
  tools: [{ name: 'list_world_session_calls' }],
  params: SessionParams,
  query: Type.Object(
    { ...PageQuery, fields: fieldsOf(['input', 'output', 'details']) },
    { additionalProperties: false },
  ),
  answers: { 200: Type.Object({ data: Type.Array(CallListView), meta: ListMeta }) },
});

const SessionRequestList = Type.Object({
  data: Type.Array(RequestView),
  meta: Type.Interface([ListMeta], {
    dropped: Type.Integer({
      description:
        'entries that are not there any more, or never came: by the bounds of a session, the quota of the project, or because the host was lost or late',
    }),
  }),
});

export const listSessionRequests = operation({
  id: 'listSessionRequests',
  summary: 'The request ledger of a session, oldest first, also when the session is over',
  method: 'GET',
  path: '/world-sessions/{sessionId}/requests',
  access: 'read',
  tools: [{ name: 'list_world_session_requests' }],
  params: SessionParams,
  query: Type.Object(
    { ...CursorQuery, ...RequestFilter, after: AfterRequest },
    { additionalProperties: false },
  ),
  answers: { 200: SessionRequestList },
});

export const listWorldRequests = operation({
  id: 'listWorldRequests',
  summary: 'The requests to all sessions of a world, newest first',
  method: 'GET',
  path: '/worlds/{slug}/requests',
  access: 'read',
  tools: [{ name: 'list_world_requests' }],
  params: WorldParams,
  query: Type.Object(
    { ...CursorQuery, ...RequestFilter, after: AfterTime },
    { additionalProperties: false },
  ),
  answers: { 200: Type.Object({ data: Type.Array(RequestView), meta: ListMeta }) },
});

export const getCall = operation({
  id: 'getCall',
  summary: 'One call, with its result once answered',
  method: 'GET',
  path: '/world-sessions/{sessionId}/calls/{callId}',
  access: 'read',
  tools: [{ name: 'get_world_session_call' }],
  params: Type.Object({
    sessionId: Type.String({ maxLength: 64 }),
    callId: Type.String({ maxLength: 64 }),
  }),
  query: WaitQuery,
  answers: { 200: CallView },
});
