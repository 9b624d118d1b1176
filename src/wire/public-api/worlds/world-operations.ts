/**
 * Operations that create, list and describe worlds. Operations on the contents of worlds are in version-operations.ts
 * and data-operations.ts.
 */
import { limits } from '#domain/limits.ts';
import { getOperation, operation } from '../../operation.ts';
import { Empty, fieldsOf, IdempotencyHeaders, JsonObject } from '../../schemas.ts';
import { Type } from '../../type.ts';
import { ListMeta, PageOnly, PageQuery, pageOf } from '../lists.ts';
import { EntityView, RuntimeAnswer, RuntimeBody, RuntimeRejection } from './runtime.ts';
import { WorldParams } from './version.ts';
import {
  CreateWorldBody,
  TaskListView,
  TemplateView,
  WorldDetail,
  WorldListView,
} from './world.ts';

const compileBusy =
  'Too many builds of the project are queued, or its compile time for this minute is used up; `quota` ' +
  'names the limit, `retryAfterMs` says when to try again.';

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
  refusals: {
    429: `${compileBusy} Or the project already has the maximum number of worlds: \`quota\` names the limit.`,
  },
});

export const getWorld = getOperation({
  id: 'getWorld',
  summary: 'A world with its surfaces, and with the files of its head version or a named version',
  path: '/worlds/{slug}',
  access: 'read',
  tools: [{ name: 'describe_world' }],
  params: WorldParams,
  answer: WorldDetail,
});

export const listWorldEntities = getOperation({
  id: 'listWorldEntities',
  summary:
    "The entities of a world's head version, with the types and the redaction mode of each field",
  path: '/worlds/{slug}/entities',
  access: 'read',
  tools: [{ name: 'list_world_entities' }],
  params: WorldParams,
  answer: Type.Object({
    versionId: Type.String(),
    data: Type.Array(EntityView),
  }),
  refusals: { 429: compileBusy },
});

export const listWorldTasks = getOperation({
  id: 'listWorldTasks',
  summary: 'The tasks that are part of the head version of a world',
  path: '/worlds/{slug}/tasks',
  access: 'read',
  tools: [{ name: 'list_bundled_tasks' }],
  params: WorldParams,
  query: Type.Object(
    {
      name: Type.Optional(
        Type.String({ maxLength: 256, description: 'only the task of this name' }),
      ),
      ...PageQuery,
      fields: fieldsOf(['instruction', 'tools']),
    },
    { additionalProperties: false },
  ),
  answer: Type.Object({
    versionId: Type.String(),
    data: Type.Array(TaskListView),
    meta: ListMeta,
  }),
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
  summary: 'Validate, compile, describe or create the files of a world, without storing a world',
  method: 'POST',
  path: '/worlds/runtime',
  access: 'write',
  tools: [{ name: 'run_world_command' }],
  body: RuntimeBody,
  bodyBytes: limits.worldBodyBytes,
  answers: { 200: RuntimeAnswer, 400: RuntimeRejection },
  refusals: { 429: compileBusy },
});

export const listTemplates = getOperation({
  id: 'listTemplates',
  summary: 'The templates from which worlds can be created',
  path: '/worlds/templates',
  access: 'read',
  tools: [{ name: 'list_world_templates' }],
  query: PageOnly,
  answer: pageOf(TemplateView),
});

export const listWorlds = getOperation({
  id: 'listWorlds',
  summary: 'The worlds of the project, newest first',
  path: '/environments',
  access: 'read',
  tools: [{ name: 'list_worlds' }],
  query: Type.Object(
    {
      ...PageQuery,
      archived: Type.Optional(
        Type.Boolean({ description: 'whether to list archived worlds instead of the others' }),
      ),
      fields: fieldsOf(['tools', 'tasks', 'redact', 'dependencies']),
    },
    { additionalProperties: false },
  ),
  answer: pageOf(WorldListView),
});
