/** Request and answer schemas of worlds. */

import { limits } from '#domain/limits.ts';
import { surfaceKinds } from '#domain/session.ts';
import { seedModes } from '#language/task.ts';
import { nullable, Omitted, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { Redact, SeedRows } from './task-spec.ts';
import { FileView, VersionView } from './version.ts';

const RedactView = nullable(
  Type.Object({
    slug: Type.String(),
    hash: Type.Array(Type.String()),
    drop: Type.Array(Type.String()),
    preserve: Type.Array(Type.String()),
    round: Type.Record(Type.String(), Type.Integer()),
  }),
);

/** A link to another world. */
const DependencyView = Type.Object({
  alias: Type.String(),
  slug: Type.String(),
  ref: Type.String({
    description: 'version or reference of the linked world, as written in the manifest',
  }),
  version: Type.String({
    description:
      'number of the version to which the reference pointed when this version was created',
  }),
  versionId: nullable(
    Type.String({
      description: 'id of that version; null: this version was created before links were resolved',
    }),
  ),
  task: nullable(
    Type.String({ description: 'task of the linked world on which the link is opened' }),
  ),
  tools: Type.Array(
    Type.String({
      description: 'name of the tool in the linked world; in sessions the tool is `<alias>.<tool>`',
    }),
  ),
  entities: Type.Record(Type.String(), Type.String(), {
    description: '`<entity>.<field>` of the linked world, by `<entity>.<field>` of this world',
  }),
});

export const WorldView = Type.Object({
  id: Type.String(),
  containerId: Type.String({ description: "the world's id, under its older name" }),
  slug: Type.String(),
  path: Type.String({
    description: '`organization/project/slug`: name of the world in a pools file',
  }),
  kind: Type.String(),
  name: Type.String(),
  description: nullable(Type.String()),
  version: VersionView,
  surfaces: Type.Array(oneOf(surfaceKinds)),
  tools: Type.Array(Type.String()),
  tasks: Type.Array(Type.String()),
  url: Type.String(),
  links: Type.Object({
    api: nullable(
      Type.String({
        description: "the OpenAPI document of the world's API; null: the world has no routes",
      }),
    ),
    world: Type.String(),
    tasks: Type.String(),
    sessions: Type.String(),
  }),
  redact: RedactView,
  dependencies: Type.Array(DependencyView),
  archivedAt: nullable(Timestamp),
  createdAt: Timestamp,
});
export type WorldView = Static<typeof WorldView>;

const listed = WorldView.properties;

/**
 * A world as lists return it. Counts of its entities, tools and other parts are always present. `fields` requests the
 * parts themselves, which are included as far as the page has space.
 */
export const WorldListView = Type.Object({
  ...listed,
  toolCount: Type.Integer({ minimum: 0 }),
  taskCount: Type.Integer({ minimum: 0 }),
  tools: Type.Optional(listed.tools),
  tasks: Type.Optional(listed.tasks),
  redact: Type.Optional(listed.redact),
  dependencies: Type.Optional(listed.dependencies),
  omitted: Omitted,
});
export type WorldListView = Static<typeof WorldListView>;

/** A world with the files of its head version, or of the named version. */
export const WorldDetail = Type.Interface([WorldView], {
  head: Type.Object(
    { id: Type.String(), number: Type.Integer({ minimum: 1 }) },
    { description: 'number of the newest version; `version` is the one shown here' },
  ),
  warnings: Type.Array(Type.String(), {
    description: "declared features that the world's sessions will lack, one sentence each",
  }),
  files: Type.Array(FileView),
});
export type WorldDetail = Static<typeof WorldDetail>;

/** A task that is part of a world version. */
export const BundledTaskView = Type.Object({
  name: Type.String(),
  description: nullable(Type.String()),
  instruction: nullable(Type.String()),
  tools: Type.Array(Type.String(), { description: 'the tools that the agent is given' }),
  seed: Type.Object({
    mode: oneOf(seedModes),
    counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description: 'number of rows that the task adds, by entity',
    }),
  }),
  grader: nullable(oneOf(['assertions', 'python', 'sql'], 'how a session on the task is graded')),
});

/**
 * A bundled task as lists return it. `tools`, and `instruction` if `fields` requests it, are included as far as the
 * page has space.
 */
export const TaskListView = Type.Object({
  ...BundledTaskView.properties,
  instruction: Type.Optional(BundledTaskView.properties.instruction),
  tools: Type.Optional(BundledTaskView.properties.tools),
  omitted: Omitted,
});
export type TaskListView = Static<typeof TaskListView>;

/** Maximum length in base64 of a file of the largest allowed size. */
const treeFileChars = Math.ceil(limits.treeFileBytes / 3) * 4;

export const TreeFileBody = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 1024 }),
    content: Type.String({ maxLength: treeFileChars, description: 'base64' }),
  },
  { additionalProperties: false },
);

const mostFiles = { maxItems: limits.treeFiles };

export const CreateWorldBody = Type.Object(
  {
    slug: Type.String({
      maxLength: limits.nameChars,
      description: 'slug: 1 to 64 lower-case letters, digits and inner hyphens',
    }),
    from: Type.Optional(
      Type.Union(
        [Type.String({ minLength: 1, maxLength: 200 }), Type.Array(TreeFileBody, mostFiles)],
        {
          description:
            'source of the files: a template slug; `workspace:<slug>` or `workspace:<slug>@<version>` for a connector of the organization; or the files themselves',
        },
      ),
    ),
    overlay: Type.Optional(Type.Array(TreeFileBody, mostFiles)),
    data: Type.Optional(
      Type.Object(
        { rows: SeedRows, redact: Type.Optional(Redact) },
        { additionalProperties: false },
      ),
    ),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    description: Type.Optional(Type.String({ maxLength: 2_000 })),
    message: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
);
export type CreateWorldBody = Static<typeof CreateWorldBody>;

export const TemplateView = Type.Object({
  slug: Type.String(),
  name: Type.String(),
  description: Type.String(),
});
