/** Request and answer schemas of datasets, their items and the dataset runs over them. */
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { ListMeta, pageOf } from '../lists.ts';
import { LongId, Param, pageParams } from '../observability/trace.ts';
import { AgentEndRef } from '../sessions/agent-end.ts';

const Json = Type.Unknown({ description: 'any JSON' });
const Text = nullable(Type.String());
const GivenText = Type.Optional(Type.String({ maxLength: 100_000 }));

/** States of an item. Archived items are in no run, and in lists only if the client asks for them. */
export const itemStates = ['ACTIVE', 'ARCHIVED'] as const;
export type ItemState = (typeof itemStates)[number];

/**
 * A name as the client sends it. The code that handles the request validates the name, because its error is more
 * precise than that of a schema.
 */
const GivenName = Type.String({ maxLength: 10_000 });
const NameInPath = Type.String({ minLength: 1, maxLength: 4_000 });

const datasetMembers = {
  id: Type.String(),
  projectId: Type.String(),
  name: Type.String(),
  description: Text,
  metadata: Json,
  inputSchema: Json,
  expectedOutputSchema: Json,
  createdAt: Timestamp,
  updatedAt: Timestamp,
};
export const DatasetView = Type.Object(datasetMembers);
export type DatasetView = Static<typeof DatasetView>;

/** Media to which a text in an item refers; only media whose bytes are stored are listed. */
export const MediaReference = Type.Object({
  field: oneOf(['input', 'expectedOutput', 'metadata']),
  referenceString: Type.String({ description: 'the reference as it is written in the field' }),
  jsonPath: Type.String({
    description: "path of the text in the field that contains the reference, such as $['image']",
  }),
  media: Type.Object({
    mediaId: Type.String(),
    contentType: Type.String(),
    contentLength: Type.Integer(),
    url: Type.String({ description: 'URL of the bytes, valid for an hour' }),
    urlExpiry: Timestamp,
  }),
});
export type MediaReference = Static<typeof MediaReference>;

export const DatasetItemView = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  datasetId: Type.String(),
  datasetName: Type.String(),
  status: oneOf(itemStates),
  input: Json,
  expectedOutput: Json,
  metadata: Json,
  sourceTraceId: Text,
  sourceObservationId: Text,
  createdAt: Timestamp,
  updatedAt: Type.String({
    format: 'date-time',
    description: 'time at which this version began; sent as `version`, it selects this version',
  }),
  mediaReferences: Type.Array(MediaReference, {
    description: "media that the item's texts refer to, at most 100 for each field",
  }),
});
export type DatasetItemView = Static<typeof DatasetItemView>;

/** A dataset in the older list: with the ids of its items and the names of its runs. */
export const DatasetWithNames = Type.Object({
  ...datasetMembers,
  items: Type.Array(Type.String()),
  runs: Type.Array(Type.String()),
});
/** A dataset of the older routes, with its items. */
export const DatasetWithItems = Type.Object({
  ...datasetMembers,
  items: Type.Array(DatasetItemView),
  runs: Type.Array(Type.String()),
});

const runMembers = {
  id: Type.String(),
  name: Type.String(),
  description: Text,
  metadata: Json,
  datasetId: Type.String(),
  datasetName: Type.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};
export const DatasetRunView = Type.Object(runMembers);
export type DatasetRunView = Static<typeof DatasetRunView>;

export const DatasetRunItemView = Type.Object({
  id: Type.String(),
  datasetRunId: Type.String(),
  datasetRunName: Type.String(),
  datasetItemId: Type.String(),
  traceId: Type.String({
    description: 'id of the trace; empty until a trace is named or the observation is ingested',
  }),
  observationId: Text,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type DatasetRunItemView = Static<typeof DatasetRunItemView>;

/**
 * States of a dataset run on a world, and of its items: waiting for a session, in a session, graded, or without a
 * grade.
 */
export const worldRunStates = ['RUNNING', 'COMPLETED', 'STOPPED'] as const;
export const rolloutStates = ['WAITING', 'OPEN', 'GRADED', 'FAILED'] as const;

export const WorldRunView = Type.Object({
  world: Type.String(),
  concurrency: Type.Integer({ description: 'maximum number of concurrent sessions' }),
  state: oneOf(worldRunStates),
  reason: nullable(Type.String({ description: 'why the run was stopped' })),
  items: Type.Integer(),
  waiting: Type.Integer(),
  open: Type.Integer(),
  graded: Type.Integer(),
  passed: Type.Integer(),
  failed: Type.Integer({
    description:
      'items for which no session could be opened, or whose session ended without a grade',
  }),
  crashed: Type.Integer({ description: 'number of the `failed` items whose agent failed' }),
  buildHash: nullable(
    Type.String({ description: 'the build of an agent; the sessions are rollouts of this build' }),
  ),
  finishedAt: nullable(Timestamp),
});
export type WorldRunView = Static<typeof WorldRunView>;

const runGiven = {
  name: Type.Optional(
    Type.String({
      maxLength: 10_000,
      description: 'name of the run; if a run of that name exists, it continues',
    }),
  ),
  concurrency: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'maximum number of concurrent sessions; default 4',
    }),
  ),
  description: GivenText,
  metadata: Type.Optional(Json),
  buildHash: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'a registered build of an agent: the sessions are rollouts of the agent run that has the id of this dataset run',
    }),
  ),
};

export const WorldRunBody = Type.Object(
  {
    world: Type.String({
      minLength: 1,
      maxLength: 140,
      description:
        'slug of a world, with `@<version or label>` if another than the newest version is meant',
    }),
    ...runGiven,
  },
  { additionalProperties: false },
);
export type WorldRunBody = Static<typeof WorldRunBody>;

/** Body that starts a run on the world in the path: the dataset to run, and the options of a run. */
export const DispatchBody = Type.Object(
  {
    dataset: Type.String({ minLength: 1, maxLength: 10_000, description: 'its name' }),
    bundle: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'number, label or id of a version; default: the newest',
      }),
    ),
    ...runGiven,
  },
  { additionalProperties: false },
);

/** Answer to the start of a run on a world. */
export const StartedRun = Type.Object({ ...runMembers, worldRun: WorldRunView });

export const RolloutView = Type.Object({
  datasetItemId: Type.String(),
  state: oneOf(rolloutStates),
  attempt: Type.Integer(),
  sessionId: nullable(
    Type.String({ description: 'id of the world session, for `GET /world-sessions/{sessionId}`' }),
  ),
  verdict: Text,
  score: nullable(Type.Number()),
  error: nullable(Type.String({ description: 'why the item has no grade' })),
  agent: nullable(AgentEndRef),
});
export type RolloutView = Static<typeof RolloutView>;

export const RolloutList = Type.Object({
  data: Type.Array(RolloutView),
  meta: Type.Object({ limit: Type.Integer(), nextCursor: Type.Optional(Type.String()) }),
  worldRun: WorldRunView,
});

/** A run with its newest items first. If the run is very long, `GET /dataset-run-items` lists the rest. */
export const DatasetRunDetail = Type.Object({
  ...runMembers,
  datasetRunItems: Type.Array(DatasetRunItemView),
  worldRun: Type.Optional(WorldRunView),
  hasMoreItems: Type.Optional(
    Type.Literal(true, {
      description:
        'true: the run has more items than are listed; `GET /dataset-run-items` lists all',
    }),
  ),
});

export const DatasetBody = Type.Object({
  name: GivenName,
  description: GivenText,
  metadata: Type.Optional(Json),
  inputSchema: Type.Optional(
    Type.Unknown({
      description: 'JSON Schema for the input of every active item; `{}` removes it',
    }),
  ),
  expectedOutputSchema: Type.Optional(
    Type.Unknown({
      description:
        'JSON Schema for the expected output of every active item that has one; `{}` removes it',
    }),
  ),
});
export type DatasetBody = Static<typeof DatasetBody>;

export const DatasetItemBody = Type.Object({
  datasetName: GivenName,
  id: Type.Optional(Type.String({ maxLength: 800 })),
  input: Type.Optional(Json),
  expectedOutput: Type.Optional(Json),
  metadata: Type.Optional(Json),
  sourceTraceId: Type.Optional(Type.String({ maxLength: 800 })),
  sourceObservationId: Type.Optional(Type.String({ maxLength: 800 })),
  status: Type.Optional(oneOf(itemStates)),
});
export type DatasetItemBody = Static<typeof DatasetItemBody>;

export const DatasetRunItemBody = Type.Object({
  runName: GivenName,
  runDescription: GivenText,
  metadata: Type.Optional(Json),
  datasetItemId: LongId,
  traceId: Type.Optional(Type.String({ maxLength: 800 })),
  observationId: Type.Optional(Type.String({ maxLength: 800 })),
  datasetVersion: Type.Optional(
    Type.String({ maxLength: 64, description: 'a time: the item is returned as it was then' }),
  ),
  createdAt: Type.Optional(Type.String({ maxLength: 64 })),
});
export type DatasetRunItemBody = Static<typeof DatasetRunItemBody>;

export const cursorParams = {
  ...pageParams,
  cursor: Param('`meta.nextCursor` of the previous page, in place of `page`'),
};

export const DatasetParams = Type.Object({ datasetName: NameInPath });
export const RunsParams = Type.Object({ name: NameInPath });
export const RunParams = Type.Object({ name: NameInPath, runName: NameInPath });
export const ItemParams = Type.Object({ datasetItemId: LongId });

export const DatasetList = pageOf(DatasetView);
export const DatasetNamesList = pageOf(DatasetWithNames);
export const DatasetItemList = pageOf(DatasetItemView);
export const DatasetRunList = pageOf(DatasetRunView);
export const DatasetRunItemList = Type.Object({
  data: Type.Array(DatasetRunItemView),
  meta: ListMeta,
});
