/** Request and answer schemas of scores and score configs. */
import { nullable, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { pageOf } from '../lists.ts';

const Text = nullable(Type.String());

const scoreMembers = {
  id: Type.String(),
  projectId: Type.String(),
  environment: Type.String(),
  name: Type.String(),
  value: Type.Optional(nullable(Type.Number())),
  stringValue: Text,
  dataType: Type.String(),
  source: Type.String(),
  authorUserId: Text,
  comment: Text,
  metadata: Type.Unknown(),
  configId: Text,
  queueId: Text,
  executionTraceId: Text,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  timestamp: Timestamp,
  traceId: Text,
  observationId: Text,
  sessionId: Text,
  datasetRunId: Text,
};

export const ScoreView = Type.Object(scoreMembers);
export type ScoreView = Static<typeof ScoreView>;

/** A score in a list, with some members of its trace. */
export const ListedScore = Type.Object({
  ...scoreMembers,
  trace: Type.Optional(
    nullable(
      Type.Object({
        userId: Text,
        tags: Type.Array(Type.String()),
        environment: Text,
        sessionId: Type.Optional(Text),
      }),
    ),
  ),
});
export const ScoreList = pageOf(ListedScore);

/** A score of `/v3/scores`: its value has the type of the score, and groups of members are included on request. */
export const PlainScore = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    name: Type.String(),
    dataType: Type.String(),
    source: Type.String(),
    environment: Type.String(),
    timestamp: Timestamp,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    value: Type.Unknown({ description: 'a number, a boolean or a text, by `dataType`' }),
  },
  { additionalProperties: Type.Unknown() },
);
export const PlainScoreList = Type.Object({
  data: Type.Array(PlainScore),
  meta: Type.Object({ limit: Type.Integer(), cursor: Type.Optional(Type.String()) }),
});

const Category = Type.Object({ label: Type.String(), value: Type.Number() });

export const ScoreConfigView = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  name: Type.String(),
  dataType: Type.String(),
  isArchived: Type.Boolean(),
  minValue: nullable(Type.Number()),
  maxValue: nullable(Type.Number()),
  categories: nullable(Type.Array(Category)),
  description: Text,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type ScoreConfigView = Static<typeof ScoreConfigView>;
export const ScoreConfigList = pageOf(ScoreConfigView);

/**
 * A score or a config as the client sends it. The code that reads the members validates them; unknown ones are
 * ignored.
 */
export const ScoreBody = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 1_000 });
