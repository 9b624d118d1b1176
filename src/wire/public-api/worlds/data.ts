/** Request and answer schemas of imports into a world: batches and their chunks. */

import { batchLimits, batchStates, importModes, publishTimes, redactModes } from '#domain/batch.ts';
import { limits } from '#domain/limits.ts';
import { JsonObject, nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, type TSchema, Type } from '../../type.ts';
import { VersionView } from './version.ts';

const Count = Type.Integer({ minimum: 0 });
const Counts = Type.Record(Type.String(), Count);
const EntityName = Type.String({ minLength: 1, maxLength: limits.nameChars });
const Sha256 = Type.String({
  maxLength: 64,
  pattern: '^[0-9a-f]{64}$',
  description: '64 hex digits: sha256 of the gzipped bytes',
});

/** Builds the schema of an optional member, for which null means absent. */
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema));

/** Options that imports and batches share. */
const how = {
  mode: orNull(
    oneOf(
      importModes,
      '`append` (the default): rows are new, a key that is taken is a refusal; `merge`: a row whose key is there gives its top-level fields to that one; `replace`: they take the place of all rows of their entities',
    ),
  ),
  merge: orNull(
    Type.Boolean({ description: 'true: as `mode: merge`, and nothing else beside it' }),
  ),
  redact: orNull(
    oneOf(redactModes, "what the world's `[redact]` does to rows; `off` unless it says another"),
  ),
  atomic: orNull(
    Type.Boolean({
      description:
        'true (the default): one refused row, and nothing is applied; false: those are left out and counted',
    }),
  ),
  dryRun: orNull(Type.Boolean({ description: 'check all rows, and store nothing' })),
  message: orNull(Type.String({ maxLength: 2_000 })),
};

export const ImportBody = Type.Object(
  {
    rows: Type.Record(Type.String(), Type.Array(Type.Unknown(), { maxItems: limits.seedRows }), {
      maxProperties: limits.members,
      description: 'rows by entity',
    }),
    ...how,
  },
  { additionalProperties: false },
);
export type ImportBody = Static<typeof ImportBody>;

export const CreateBatchBody = Type.Object(
  {
    ...how,
    publish: orNull(
      oneOf(
        publishTimes,
        '`now` (the default): its rows become a version; `later`: they wait, applied, for `POST …/data/publish`',
      ),
    ),
    expectedChunks: orNull(
      Type.Integer({
        minimum: 0,
        maximum: batchLimits.chunks,
        description: 'number of chunks; a batch with another number is not sealed',
      }),
    ),
    entities: orNull(
      Type.Array(EntityName, {
        maxItems: limits.members,
        uniqueItems: true,
        description:
          'the entities that rows may be of. One alone is that of all rows that name none; `replace` empties each of them',
      }),
    ),
  },
  { additionalProperties: false },
);
export type CreateBatchBody = Static<typeof CreateBatchBody>;

export const BatchLimits = Type.Object({
  chunkBytes: Type.Integer({ description: 'upper bound for one chunk, compressed' }),
  batchBytes: Type.Integer({ description: 'upper bound for all its chunks, compressed' }),
  inlineBytes: Type.Integer({ description: 'upper bound for the body of an import' }),
});

export const OpenedBatch = Type.Object({
  batchId: Type.String(),
  state: oneOf(batchStates),
  limits: BatchLimits,
});

export const RefusalView = Type.Object({
  chunk: nullable(Type.Integer({ description: 'ordinal of its chunk' })),
  index: nullable(Type.Integer({ description: 'line in the chunk, from 0' })),
  entity: nullable(Type.String()),
  primaryKey: nullable(JsonObject),
  field: nullable(Type.String()),
  pointer: nullable(Type.String({ description: 'JSON pointer to the value, into the row' })),
  detail: Type.String(),
});
export type RefusalView = Static<typeof RefusalView>;

const refused = {
  refused: Type.Integer({ minimum: 0, description: 'number of refused rows' }),
  refusals: Type.Array(RefusalView, { description: 'the first 200' }),
  reportUrl: nullable(
    Type.String({
      description:
        'address of all refusals as JSONL, for an hour; get the batch again for a new address',
    }),
  ),
};

/** A batch in a list. */
export const BatchListView = Type.Object({
  batchId: Type.String(),
  state: oneOf(batchStates),
  mode: oneOf(importModes),
  redact: oneOf(redactModes),
  atomic: Type.Boolean(),
  dryRun: Type.Boolean(),
  publish: oneOf(publishTimes),
  message: nullable(Type.String()),
  author: Type.String({ description: 'public key of the key pair that opened it' }),
  chunkCount: Type.Integer({ description: 'chunks that are registered' }),
  rowCount: Type.Integer({ description: 'rows that the chunks are declared to hold' }),
  bytes: Type.Integer({ description: 'size of the chunks, compressed' }),
  refused: refused.refused,
  versionId: nullable(Type.String({ description: 'the version that its rows are in' })),
  error: nullable(
    Type.Object({ code: Type.String(), message: Type.String() }, { description: 'why it failed' }),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type BatchListView = Static<typeof BatchListView>;

export const BatchView = Type.Interface([BatchListView], {
  ...refused,
  expectedChunks: nullable(Count),
  entities: nullable(Type.Array(Type.String())),
  progress: Type.Object({
    phase: oneOf(batchStates, 'the state'),
    validatedChunks: Count,
    appliedRows: Count,
  }),
  entityCounts: nullable(Counts),
  landed: nullable(
    Type.Record(Type.String(), Count, { description: 'rows of the batch that landed, by entity' }),
  ),
  snapshotId: nullable(Type.String({ description: 'digest of the rows after it' })),
  limits: BatchLimits,
});
export type BatchView = Static<typeof BatchView>;

export const ChunkBody = Type.Object(
  {
    ordinal: Type.Integer({ minimum: 0, maximum: batchLimits.chunks - 1 }),
    digest: Sha256,
    bytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    rows: Type.Integer({ minimum: 0, maximum: batchLimits.chunkRows }),
    entity: orNull(EntityName),
  },
  { additionalProperties: false },
);
export type ChunkBody = Static<typeof ChunkBody>;

export const ChunkView = Type.Object({
  chunkId: Type.String(),
  ordinal: Count,
  digest: Type.String(),
  bytes: Count,
  rows: Count,
  entity: nullable(Type.String()),
  uploaded: Type.Boolean({ description: 'true: its bytes are stored already, and need no upload' }),
  uploadUrl: Type.Optional(Type.String({ description: 'where to PUT the bytes' })),
  uploadHeaders: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'headers to send unchanged with the bytes',
    }),
  ),
  expiresAt: Type.Optional(Timestamp),
});
export type ChunkView = Static<typeof ChunkView>;

/** Result of an import or a publish that has ended. */
export const ImportedView = Type.Object({
  batchId: Type.String(),
  state: oneOf(batchStates),
  rowCount: Count,
  version: VersionView,
  landed: nullable(Counts),
  ...refused,
});
export type ImportedView = Static<typeof ImportedView>;

/** Answer while an import or a publish still runs. */
export const ImportRunning = Type.Object({
  batchId: Type.String(),
  state: oneOf(batchStates),
  rowCount: Count,
});

export const PublishBody = Type.Optional(
  Type.Object(
    { message: orNull(Type.String({ maxLength: 2_000 })) },
    { additionalProperties: false },
  ),
);

/** Result of a publish. */
export const PublishedView = Type.Object({
  batchId: Type.String({ description: 'id of the publish; poll it like a batch' }),
  state: oneOf(batchStates),
  batches: Type.Array(Type.String(), { description: 'the batches whose rows are in the version' }),
  version: VersionView,
});
export type PublishedView = Static<typeof PublishedView>;
