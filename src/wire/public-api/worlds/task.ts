/** Request and answer schemas of stored tasks. */

import { limits } from '#domain/limits.ts';
import { Id, nullable, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { PageQuery } from '../lists.ts';
import { TaskSpec } from './task-spec.ts';

const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'name of the task, for people',
});
const Message = Type.String({
  maxLength: 2_000,
  description: 'purpose or background of the task, for people',
});
const World = Type.String({
  minLength: 1,
  maxLength: 140,
  description: "slug or id of the task's world; `<slug>@<version>` pins the task to that version",
});
const VersionId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'number of the world version to which the task is pinned',
});

export const CreateTaskBody = Type.Object(
  {
    world: World,
    versionId: Type.Optional(VersionId),
    name: Type.Optional(Name),
    spec: TaskSpec,
    message: Type.Optional(Message),
  },
  { additionalProperties: false },
);
export type CreateTaskBody = Static<typeof CreateTaskBody>;

export const UpdateTaskBody = Type.Object(
  {
    world: Type.Optional(World),
    versionId: Type.Optional(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'version of the world to which the task is pinned; null: none',
        }),
      ),
    ),
    name: Type.Optional(nullable(Name)),
    spec: Type.Optional(TaskSpec),
    message: Type.Optional(Message),
  },
  { additionalProperties: false },
);
export type UpdateTaskBody = Static<typeof UpdateTaskBody>;

export const SaveTaskBody = Type.Object(
  { name: Type.Optional(Name), message: Type.Optional(Message) },
  { additionalProperties: false },
);

export const ValidateTaskBody = Type.Object(
  {
    world: Type.Optional(World),
    versionId: Type.Optional(VersionId),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'version of the task; default: the current one',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ValidateTaskBody = Static<typeof ValidateTaskBody>;

/** One version of a task in its history. */
export const TaskVersionView = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  contentHash: Type.String({ description: 'digest of the spec, as `sha256:…`' }),
  message: nullable(Type.String()),
  author: nullable(
    Type.String({ description: 'public key of the key pair that created the version' }),
  ),
  createdAt: Timestamp,
});
export type TaskVersionView = Static<typeof TaskVersionView>;

/** A stored task as lists return it. */
export const StoredTaskView = Type.Object({
  id: Type.String(),
  name: nullable(Type.String()),
  world: Type.String({ description: "slug of the task's world" }),
  worldId: Type.String(),
  pin: nullable(
    Type.Object(
      { versionId: Type.String(), number: Type.Integer({ minimum: 1 }) },
      {
        description:
          'number of the world version to which the task is pinned; null: it follows the head',
      },
    ),
  ),
  version: Type.Integer({ minimum: 1, description: 'current version of the task' }),
  contentHash: Type.String({ description: 'digest of the current spec, as `sha256:…`' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type StoredTaskView = Static<typeof StoredTaskView>;

/** A stored task with its history and a spec: the current one, or that of the requested version. */
export const StoredTaskDetail = Type.Interface([StoredTaskView], {
  spec: TaskSpec,
  shownVersion: Type.Integer({
    minimum: 1,
    description: 'the version of the task whose spec `spec` is',
  }),
  versions: Type.Array(TaskVersionView, { description: 'versions of the task, newest first' }),
});
export type StoredTaskDetail = Static<typeof StoredTaskDetail>;

/** Result of validating a task against a version of a world. */
export const TaskValidation = Type.Object({
  valid: Type.Boolean(),
  taskId: Type.String(),
  version: Type.Integer({ minimum: 1, description: 'version of the task' }),
  world: Type.String(),
  versionId: Type.String({ description: 'version of the world' }),
  worldVersion: Type.Integer({ minimum: 1 }),
  problems: Type.Array(Type.Object({ path: Type.Array(Type.String()), message: Type.String() }), {
    description: 'problems of the spec, each with its place in the spec',
  }),
});
export type TaskValidation = Static<typeof TaskValidation>;

export const TaskParams = Type.Object({ taskId: Id });

/** Filters of the list of tasks. Further parameters have the form `metadata.<key>=<value>`. */
export const TaskListQuery = Type.Object(
  {
    ...PageQuery,
    world: Type.Optional(Type.String({ maxLength: 64, description: 'slug or id of a world' })),
  },
  {
    additionalProperties: false,
    maxProperties: 30,
    patternProperties: {
      '^metadata[.].': Type.Union([
        Type.String({ maxLength: limits.nameChars }),
        Type.Array(Type.String({ maxLength: limits.nameChars }), { maxItems: 20 }),
      ]),
    },
  },
);
