/** Request and answer schemas of traces, observations and trace sessions. */
import { limits } from '#domain/limits.ts';
import { nullable, Omitted, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { pageOf } from '../lists.ts';
import { ScoreView } from './score.ts';

const Json = Type.Unknown({ description: 'any JSON' });
const Text = nullable(Type.String());
const Seconds = nullable(Type.Number());
const Dollars = nullable(Type.Number());
const CountsByName = Type.Record(Type.String(), Type.Number());

export const ObservationView = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  traceId: Type.String(),
  parentObservationId: Text,
  name: Text,
  type: Type.String(),
  environment: Type.String(),
  startTime: Timestamp,
  endTime: nullable(Timestamp),
  completionStartTime: nullable(Timestamp),
  version: Text,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  input: Json,
  output: Json,
  metadata: Json,
  level: Type.String(),
  statusMessage: Text,
  model: Text,
  modelParameters: Json,
  promptId: Text,
  promptName: Text,
  promptVersion: nullable(Type.Integer()),
  usageDetails: CountsByName,
  costDetails: CountsByName,
  usage: Type.Object({
    unit: Type.String(),
    input: Type.Number(),
    output: Type.Number(),
    total: Type.Number(),
  }),
  unit: Type.String(),
  promptTokens: Type.Number(),
  completionTokens: Type.Number(),
  totalTokens: Type.Number(),
  usagePricingTierId: Text,
  usagePricingTierName: Text,
  modelId: Text,
  inputPrice: Dollars,
  outputPrice: Dollars,
  totalPrice: Dollars,
  calculatedInputCost: Dollars,
  calculatedOutputCost: Dollars,
  calculatedTotalCost: Dollars,
  latency: Seconds,
  timeToFirstToken: Seconds,
  omitted: Omitted,
});
export type ObservationView = Static<typeof ObservationView>;

const traceMembers = {
  id: Type.String(),
  externalId: Text,
  timestamp: Timestamp,
  name: Text,
  userId: Text,
  sessionId: Text,
  metadata: Json,
  release: Text,
  version: Text,
  projectId: Type.String(),
  environment: Type.String(),
  public: Type.Boolean(),
  bookmarked: Type.Boolean(),
  tags: Type.Array(Type.String()),
  input: Json,
  output: Json,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  htmlPath: Type.String(),
  omitted: Omitted,
};

const metrics = {
  totalCost: Type.Number({ description: 'total cost in dollars; -1 if it was not requested' }),
  latency: Type.Number({ description: 'latency in seconds; -1 if it was not requested' }),
};

/** A trace as lists return it: with the ids of its observations and scores. */
export const TraceView = Type.Object({
  ...traceMembers,
  ...metrics,
  observations: Type.Array(Type.String()),
  scores: Type.Array(Type.String()),
});
export type TraceView = Static<typeof TraceView>;

/** A trace with its observations and scores. */
export const TraceDetail = Type.Object({
  ...traceMembers,
  ...metrics,
  observations: Type.Array(ObservationView),
  scores: Type.Array(ScoreView),
});
export type TraceDetail = Static<typeof TraceDetail>;

const sessionMembers = {
  id: Type.String(),
  createdAt: Timestamp,
  projectId: Type.String(),
  environment: Type.String(),
};

/** A trace session as lists return it. */
export const TraceSessionView = Type.Object(sessionMembers);

/** A trace session with its traces, and with their observations if the client asks for them. */
export const TraceSessionDetail = Type.Object({
  ...sessionMembers,
  traces: Type.Array(
    Type.Object({ ...traceMembers, observations: Type.Optional(Type.Array(ObservationView)) }),
  ),
});
export type TraceSessionDetail = Static<typeof TraceSessionDetail>;

export const TraceList = pageOf(TraceView);
export const ObservationList = pageOf(ObservationView);
export const TraceSessionList = pageOf(TraceSessionView);

/** An observation of `/v2/observations`, with the requested groups of members. */
export const ObservationParts = Type.Object(
  {
    id: Type.String(),
    traceId: Type.String(),
    startTime: Timestamp,
    endTime: nullable(Timestamp),
    projectId: Type.String(),
    parentObservationId: Text,
    type: Type.String(),
    modelId: Text,
    inputPrice: Text,
    outputPrice: Text,
    totalPrice: Text,
    omitted: Omitted,
  },
  { additionalProperties: Json },
);
export const ObservationPartsList = Type.Object({
  data: Type.Array(ObservationParts),
  meta: Type.Object({
    cursor: Type.Optional(
      Type.String({ description: 'cursor for the next page; absent on the last page' }),
    ),
  }),
});

const Value = Type.String({ maxLength: 20_000 });
/** Builds the schema of a query parameter: text, given once or several times. */
export const Param = (description?: string) =>
  Type.Optional(
    Type.Unsafe<string | string[]>({
      anyOf: [Value, Type.Array(Value, { maxItems: 1_000 })],
      ...(description === undefined ? {} : { description }),
    }),
  );

export const pageParams = {
  page: Param('from 1'),
  limit: Param(`maximum number of items on a page; at most ${limits.pageMax}`),
};

/** An id on the routes that are compatible with SDKs of the field, which allow long ids. */
export const LongId = Type.String({ minLength: 1, maxLength: 800 });

/** Fields of a trace to create or update. The code that reads them validates them; unknown fields are ignored. */
export const TraceBody = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 1_000 });
export const DeleteTracesBody = Type.Object({
  traceIds: Type.Array(LongId, { minItems: 1, maxItems: 1_000 }),
});

export const Done = Type.Object({ message: Type.String() });
export const Made = Type.Object({ id: Type.String() });
