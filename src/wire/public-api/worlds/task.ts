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
const Message = Type.String({ maxLength: 2_000, description: 'why it is as it is' });
const World = Type.String({
  minLength: 1,
  maxLength: 140,
  description: 'slug or id of its world; with `@<version>` it is pinned to that version',
});
const VersionId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'the version of its world that it is pinned to',
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
      nullable(Type.String({ minLength: 1, maxLength: 64, description: 'null: pinned to none' })),
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
        description: 'version of the task; absent: its present one',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ValidateTaskBody = Static<typeof ValidateTaskBody>;

/** One version of a task in its history. */
export const TaskVersionView = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  contentHash: Type.String({ description: '`sha256:…` of the spec' }),
  message: nullable(Type.String()),
  author: nullable(Type.String({ description: 'public key of the key pair that made it' })),
  createdAt: Timestamp,
});
export type TaskVersionView = Static<typeof TaskVersionView>;

/** A task in a list. */
export const StoredTaskView = Type.Object({
  id: Type.String(),
  name: nullable(Type.String()),
  world: Type.String({ description: 'slug of its world' }),
  worldId: Type.String(),
  pin: nullable(
    Type.Object(
      { versionId: Type.String(), number: Type.Integer({ minimum: 1 }) },
      { description: 'the version of its world that it is pinned to; null: the head' },
    ),
  ),
  version: Type.Integer({ minimum: 1, description: 'its present version' }),
  contentHash: Type.String({ description: '`sha256:…` of the present spec' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type StoredTaskView = Static<typeof StoredTaskView>;

/** A task with its history and a spec: the present one, or that of the requested version. */
export const StoredTaskDetail = Type.Interface([StoredTaskView], {
  spec: TaskSpec,
  shownVersion: Type.Integer({ minimum: 1, description: 'the version to which `spec` belongs' }),
  versions: Type.Array(TaskVersionView, { description: 'newest first' }),
});
export type StoredTaskDetail = Static<typeof StoredTaskDetail>;

/** Result of validating a task against a version of a world. */
export const TaskValidation = Type.Object({
  valid: Type.Boolean(),
  taskId: Type.String(),
  version: Type.Integer({ minimum: 1, description: 'of the task' }),
  world: Type.String(),
  versionId: Type.String({ description: 'of the world' }),
  worldVersion: Type.Integer({ minimum: 1 }),
  problems: Type.Array(Type.Object({ path: Type.Array(Type.String()), message: Type.String() }), {
    description: 'problems of the spec, by their place in it',
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
