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
    description: 'version or reference of the other world, as the manifest has it',
  }),
  version: Type.String({
    description: 'number of the version that the reference named when this version was made',
  }),
  versionId: nullable(
    Type.String({ description: 'its id; null: made before links were resolved' }),
  ),
  task: nullable(Type.String({ description: 'task of the other world that it is opened on' })),
  tools: Type.Array(
    Type.String({ description: 'tool of the other world; sessions have it as `<alias>.<tool>`' }),
  ),
  entities: Type.Record(Type.String(), Type.String(), {
    description: '`<entity>.<field>` of the other world by that of this one',
  }),
});

export const WorldView = Type.Object({
  id: Type.String(),
  containerId: Type.String({ description: 'the same id, under its older spelling' }),
  slug: Type.String(),
  path: Type.String({ description: '`organization/project/slug`: its name in a pools file' }),
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
      Type.String({ description: 'the OpenAPI document of its API; null: it has no routes' }),
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
 * A world in a list. Counts of its contract's parts are always present. `fields` requests the parts themselves, which
 * are included as far as the page has space.
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
    { description: 'number of the newest version; `version` is the shown one' },
  ),
  warnings: Type.Array(Type.String(), {
    description: 'declared features that its sessions will lack, a sentence each',
  }),
  files: Type.Array(FileView),
});
export type WorldDetail = Static<typeof WorldDetail>;

/** A task that a world version bundles. */
export const BundledTaskView = Type.Object({
  name: Type.String(),
  description: nullable(Type.String()),
  instruction: nullable(Type.String()),
  tools: Type.Array(Type.String(), { description: 'the tools that the agent gets' }),
  seed: Type.Object({
    mode: oneOf(seedModes),
    counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description: 'rows by entity',
    }),
  }),
  grader: nullable(oneOf(['assertions', 'python', 'sql'], 'how a session on it is graded')),
});

/**
 * A bundled task in a list. `tools`, and `instruction` if `fields` requests it, are included as far as the page has
 * space.
 */
export const TaskListView = Type.Object({
  ...BundledTaskView.properties,
  instruction: Type.Optional(BundledTaskView.properties.instruction),
  tools: Type.Optional(BundledTaskView.properties.tools),
  omitted: Omitted,
});
export type TaskListView = Static<typeof TaskListView>;

/** Upper bound for a file of the largest size in base64. */
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
      description: '1 to 64 lower-case letters, digits and inner hyphens',
    }),
    from: Type.Optional(
      Type.Union(
        [Type.String({ minLength: 1, maxLength: 200 }), Type.Array(TreeFileBody, mostFiles)],
        {
          description:
            'a template slug, `workspace:<slug>` or `workspace:<slug>@<version>` for a connector of the organization, or the files of a tree',
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
