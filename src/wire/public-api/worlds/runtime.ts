/**
 * `POST /worlds/runtime`: commands on a world's files, which need no stored world. All commands share one body; each
 * has its own answer, distinguished by `command`. Invalid files are rejected with all their problems.
 */
import { importModes, redactModes } from '#domain/batch.ts';
import { limits } from '#domain/limits.ts';
import { nullable, oneOf } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { ProblemView } from './problem.ts';
import { TemplateView, TreeFileBody } from './world.ts';

/** Supported commands. */
export const runtimeCommands = [
  'validate',
  'compile',
  'describe',
  'counts',
  'templates',
  'template-summary',
  'init-template',
  'init-template-files',
  'ingest',
  'conform',
  'import-data',
] as const;
export type RuntimeCommand = (typeof runtimeCommands)[number];

export const RuntimeBody = Type.Object(
  {
    command: oneOf([...runtimeCommands]),
    files: Type.Optional(
      Type.Array(TreeFileBody, {
        maxItems: limits.treeFiles,
        description: 'the tree, for all commands except those about a template',
      }),
    ),
    rows: Type.Optional(
      Type.Array(TreeFileBody, {
        maxItems: limits.treeFiles,
        description:
          'files of rows for `import-data`, each named after its entity, as JSON or JSON Lines',
      }),
    ),
    mode: Type.Optional(oneOf([...importModes], 'mode, for `import-data`; default append')),
    redact: Type.Optional(
      oneOf(
        [...redactModes],
        'how the redaction policy is applied, for `import-data`; default off',
      ),
    ),
    template: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'slug of a template, for `template-summary`, `init-template`, `init-template-files`',
      }),
    ),
    name: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'name of the new world, for `init-template`; default: that of the template',
      }),
    ),
  },
  { additionalProperties: false },
);
export type RuntimeBody = Static<typeof RuntimeBody>;

const Count = Type.Integer({ minimum: 0 });
const Counts = Type.Object({ entities: Count, tools: Count, routes: Count, tasks: Count });
const Texts = Type.Array(Type.String());
const Package = Type.Object({ id: Type.String(), version: Type.String() });
const FileContents = Type.Array(
  Type.Object({ path: Type.String(), content: Type.String({ description: 'base64' }) }),
);

/** State of a generated file in the tree that the client sent. */
const GeneratedFile = Type.Object({
  path: Type.String(),
  state: oneOf(['current', 'missing', 'stale', 'edited']),
});

const answerOf = <const Command extends RuntimeCommand>(command: Command) => ({
  status: Type.Literal('ok'),
  command: Type.Literal(command),
});

const Validated = Type.Object({
  ...answerOf('validate'),
  counts: Counts,
  generated: Type.Array(GeneratedFile),
  warnings: Type.Array(Type.String(), {
    description: 'features of this tree that the service would refuse or leave out',
  }),
});

const Compiled = Type.Object({
  ...answerOf('compile'),
  files: FileContents,
  world: Type.Object({
    name: Type.String(),
    package: Package,
    domainVersion: Type.String(),
    counts: Counts,
  }),
});

const Field = Type.Object({
  path: Type.String({ description: 'dotted path in the row; `*` stands for the items of a list' }),
  types: Texts,
  required: Type.Boolean(),
  policy: nullable(
    Type.String({
      description: 'redaction mode: `hash`, `drop`, `preserve` or `round:<decimals>`',
    }),
  ),
});

/** An entity with its fields. */
export const EntityView = Type.Object({
  name: Type.String(),
  primaryKey: Texts,
  unique: Type.Array(Texts),
  relationships: Type.Array(Type.Object({ fields: Texts, target: Type.String() })),
  fields: Type.Array(Field),
});
export type EntityView = Static<typeof EntityView>;

const Tool = Type.Object({
  name: Type.String(),
  description: Type.Optional(Type.String()),
  input: Type.Unknown(),
  output: Type.Unknown(),
});

const Route = Type.Object({
  operation: Type.String(),
  method: Type.String(),
  path: Type.String(),
  action: Type.String(),
  entity: nullable(Type.String()),
  params: Type.Array(Type.Object({ name: Type.String(), repeated: Type.Boolean() })),
});

const Described = Type.Object({
  ...answerOf('describe'),
  world: Type.Object({
    name: Type.String(),
    package: Package,
    domainVersion: Type.String(),
    redactSalt: nullable(Type.String()),
    entities: Type.Array(EntityView),
    tools: Type.Array(Tool),
    routes: Type.Array(Route),
    tasks: Type.Array(
      Type.Object({
        name: Type.String(),
        description: nullable(Type.String()),
        tools: nullable(
          Type.Array(Type.String(), {
            description: 'tools that the agent is given; null: all tools of the world',
          }),
        ),
      }),
    ),
  }),
});

const Counted = Type.Object({
  ...answerOf('counts'),
  counts: Type.Record(Type.String(), Count, {
    description: 'number of rows in `data/`, by entity',
  }),
});

const Listed = Type.Object({ ...answerOf('templates'), templates: Type.Array(TemplateView) });

const Summarized = Type.Object({
  ...answerOf('template-summary'),
  summary: Type.Interface([TemplateView], {
    entities: Texts,
    tools: Texts,
    routes: Texts,
    tasks: Texts,
    counts: Type.Interface([Counts], { rows: Count }),
  }),
});

const Begun = Type.Object({ ...answerOf('init-template'), files: FileContents });

const BegunFiles = Type.Object({
  ...answerOf('init-template-files'),
  files: Type.Array(Type.Object({ path: Type.String(), sizeBytes: Count })),
});

const EntityRows = Type.Record(
  Type.String(),
  Type.Array(Type.Record(Type.String(), Type.Unknown())),
);

const Ingested = Type.Object({
  ...answerOf('ingest'),
  rows: EntityRows,
  counts: Type.Object({
    read: Count,
    rows: Count,
    unknownFields: Count,
    unknown: Texts,
    redacted: Type.Object({ dropped: Count, hashed: Count, preserved: Count, rounded: Count }),
  }),
});

const Conformed = Type.Object({
  ...answerOf('conform'),
  fidelity: Type.Number({
    description: 'percentage of the captured rows that the contract accepts, rounded down',
  }),
  entities: Type.Array(Type.Object({ entity: Type.String(), rows: Count, fitting: Count })),
  misfits: Type.Array(
    Type.Object({
      entity: Type.String(),
      index: Count,
      pointer: Type.String(),
      message: Type.String(),
    }),
    { description: 'the first 200 problems' },
  ),
});

const ImportedIntoTree = Type.Object({
  ...answerOf('import-data'),
  files: FileContents,
  counts: Type.Record(Type.String(), Count, {
    description: 'number of rows in `data/`, by entity',
  }),
});

export const RuntimeAnswer = Type.Union([
  Validated,
  Compiled,
  Described,
  Counted,
  Listed,
  Summarized,
  Begun,
  BegunFiles,
  Ingested,
  Conformed,
  ImportedIntoTree,
]);
export type RuntimeAnswer = Static<typeof RuntimeAnswer>;

export const RuntimeRejection = Type.Object({
  status: Type.Literal('rejected'),
  message: Type.String(),
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    path: Type.String({ description: 'place of the first problem, as `<file>#<pointer>`' }),
  }),
  problems: Type.Array(ProblemView),
});
export type RuntimeRejection = Static<typeof RuntimeRejection>;
