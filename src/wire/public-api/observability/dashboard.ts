/** Request and answer schemas of dashboards and their code. */
import { codeProblemCodes, dashboardKinds, dashboardTemplates } from '#domain/dashboard.ts';
import { limits } from '#domain/limits.ts';
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

const Text = nullable(Type.String());
const strict = { additionalProperties: false } as const;
const GivenId = Type.String({ minLength: 1, maxLength: limits.idChars });

const members = {
  id: Type.String(),
  name: Type.String(),
  description: Text,
  kind: oneOf(
    dashboardKinds,
    'subject of the dashboard: a session, the tasks of a task set, or a world',
  ),
  environmentId: nullable(
    Type.String({ description: 'id of the world, for the kind `environment`' }),
  ),
  taskSetIds: Type.Array(Type.String(), {
    description: 'ids of the task sets, for the kind `task`',
  }),
  hasCode: Type.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  url: Type.String({
    description: "address of the dashboard's page, for every holder of the key pair",
  }),
};
export const DashboardView = Type.Object(members);
export type DashboardView = Static<typeof DashboardView>;

const ShownFile = Type.Object({ path: Type.String(), content: Type.String() });

export const DashboardDetail = Type.Object({
  ...members,
  files: Type.Array(ShownFile),
  entrypoint: nullable(Type.String({ description: 'the file with which the page starts' })),
  transform: nullable(
    Type.String({ description: 'code that turns a session into the data of the page' }),
  ),
  compiledOnly: Type.Boolean({
    description: 'always false: the sources are stored too',
  }),
  stamp: Type.String({
    description: 'stamp that identifies the code; equal code has an equal stamp',
  }),
});
export type DashboardDetail = Static<typeof DashboardDetail>;

/**
 * Answer to a push of code: the new state of the dashboard. With `dryRun` it is the state that the push would produce.
 */
export const DashboardPushed = Type.Object({
  ...DashboardDetail.properties,
  dryRun: Type.Boolean({ description: 'true: nothing was stored' }),
});
export type DashboardPushed = Static<typeof DashboardPushed>;

export const CodeProblemView = Type.Object({
  path: nullable(
    Type.String({
      description: 'a file, or `transform`; null: the problem concerns the code as a whole',
    }),
  ),
  line: nullable(Type.Integer({ description: 'from 1' })),
  column: nullable(Type.Integer({ description: 'from 1' })),
  code: oneOf(codeProblemCodes),
  message: Type.String(),
});

export const DashboardBody = Type.Object(
  {
    name: Type.String({ maxLength: 10_000 }),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    taskSetId: Type.Optional(GivenId),
    environmentId: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: limits.idChars },
        description:
          'id or slug of a world; without `environmentId` and `taskSetId` the dashboard shows sessions',
      }),
    ),
    template: Type.Optional(
      oneOf(dashboardTemplates, 'template for the first code; default `starter`'),
    ),
  },
  strict,
);
export type DashboardBody = Static<typeof DashboardBody>;

/**
 * Maximum number of files in a request, far above a dashboard's limit, so that too many files are reported as a problem
 * of the code.
 */
const mostGivenFiles = 1_000;
const Code = Type.String({ maxLength: 4_000_000 });

export const DashboardCodeBody = Type.Object(
  {
    files: Type.Array(Type.Object({ path: Type.String({ maxLength: 4_000 }), content: Code }), {
      maxItems: mostGivenFiles,
      description:
        'all files of the code; files that are not given are removed, an empty list removes the code',
    }),
    entrypoint: Type.Optional(
      Type.String({
        maxLength: 4_000,
        description:
          'file with which the page starts; default `dashboard.tsx`, `.ts`, `.jsx`, `.js` or `.mjs`',
      }),
    ),
    transform: Type.Optional(nullable(Code)),
    baseStamp: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: 100 },
        description: 'the `stamp` of the code that this code is based on; required unless forced',
      }),
    ),
    force: Type.Optional(
      Type.Boolean({ description: 'whether to overwrite the code whatever its stamp' }),
    ),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'whether to check everything but store nothing' }),
    ),
  },
  strict,
);
export type DashboardCodeBody = Static<typeof DashboardCodeBody>;

export const TestTransformBody = Type.Object(
  {
    transform: Type.Optional(
      Type.String({ maxLength: 200_000, description: 'code to run; default: the stored code' }),
    ),
    sessionId: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: limits.idChars },
        description: 'id of the session; default: the newest',
      }),
    ),
  },
  strict,
);

export type TestTransformBody = Static<typeof TestTransformBody>;

export const TransformTested = Type.Object({
  success: Type.Boolean(),
  sessionId: Text,
  output: Type.Unknown({
    description: 'output of the transform; if `truncated`, the beginning of its JSON as text',
  }),
  truncated: Type.Boolean(),
  shape: Type.Unknown({
    description: 'structure of the whole output: types, members, lengths of lists',
  }),
  error: Text,
});
export type TransformTested = Static<typeof TransformTested>;

export const RenderBody = Type.Object(
  {
    sessionId: Type.Optional(GivenId),
    taskSetId: Type.Optional(GivenId),
    taskId: Type.Optional(GivenId),
    includeHtml: Type.Optional(
      Type.Boolean({ description: 'whether to return the page itself as HTML' }),
    ),
  },
  strict,
);
export type RenderBody = Static<typeof RenderBody>;

export const RenderTarget = Type.Object({
  sessionId: Text,
  taskSetId: Text,
  taskId: Text,
  environmentId: Text,
});
export type RenderTarget = Static<typeof RenderTarget>;

export const Rendered = Type.Object({
  success: Type.Boolean(),
  error: nullable(Type.String({ description: 'why the dashboard could not be rendered' })),
  kind: oneOf(dashboardKinds),
  target: RenderTarget,
  html: nullable(
    Type.String({
      description:
        'HTML document for a frame with `sandbox="allow-scripts"`; null unless `includeHtml` is true',
    }),
  ),
  url: nullable(
    Type.String({
      description: 'address of the picture; it needs no key, and is valid for an hour',
    }),
  ),
});
export type Rendered = Static<typeof Rendered>;

export const DashboardParams = Type.Object({ dashboardId: GivenId });
/** Upper bound for the entries of a list. */
const mostListed = 200;
export const DashboardQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: mostListed, description: 'number of entries; default 50' }),
  ),
});
export const DashboardList = Type.Object({ data: Type.Array(DashboardView) });
