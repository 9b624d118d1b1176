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
  description: 'SHA-256 of the gzipped bytes, as 64 hex digits',
});

/** Builds the schema of an optional member that may also be null, which means the same as absent. */
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema));

/** Options that imports and batches share. */
const how = {
  mode: orNull(
    oneOf(
      importModes,
      '`append` (the default): rows are new, and a row with an existing key is refused; `merge`: a row with an existing key replaces the top-level fields that it names; `replace`: the rows take the place of all rows of their entities',
    ),
  ),
  merge: orNull(
    Type.Boolean({
      description: 'true: the same as `mode: merge`; another `mode` is then refused',
    }),
  ),
  redact: orNull(
    oneOf(redactModes, "how the world's `[redact]` policy is applied to the rows; default off"),
  ),
  atomic: orNull(
    Type.Boolean({
      description:
        'true (the default): if any row is refused, none is applied; false: refused rows are left out and counted',
    }),
  ),
  dryRun: orNull(Type.Boolean({ description: 'whether to check all rows but store nothing' })),
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
        '`now` (the default): the rows become a version at once; `later`: they are applied, but become a version only with `POST …/data/publish`',
      ),
    ),
    expectedChunks: orNull(
      Type.Integer({
        minimum: 0,
        maximum: batchLimits.chunks,
        description: 'number of chunks; the batch can be sealed only with exactly this number',
      }),
    ),
    entities: orNull(
      Type.Array(EntityName, {
        maxItems: limits.members,
        uniqueItems: true,
        description:
          'the entities to which rows may belong. If it is only one, rows that name no entity belong to it; `replace` removes the existing rows of each of them',
      }),
    ),
  },
  { additionalProperties: false },
);
export type CreateBatchBody = Static<typeof CreateBatchBody>;

export const BatchLimits = Type.Object({
  chunkBytes: Type.Integer({ description: 'maximum size of one chunk, compressed, in bytes' }),
  batchBytes: Type.Integer({
    description: 'maximum size of all chunks together, compressed, in bytes',
  }),
  inlineBytes: Type.Integer({ description: 'maximum size of the body of an import, in bytes' }),
});

export const OpenedBatch = Type.Object({
  batchId: Type.String(),
  state: oneOf(batchStates),
  limits: BatchLimits,
});

export const RefusalView = Type.Object({
  chunk: nullable(Type.Integer({ description: 'ordinal of the chunk that contains the row' })),
  index: nullable(Type.Integer({ description: 'line of the row in the chunk, from 0' })),
  entity: nullable(Type.String()),
  primaryKey: nullable(JsonObject),
  field: nullable(Type.String()),
  pointer: nullable(
    Type.String({ description: 'JSON pointer to the refused value within the row' }),
  ),
  detail: Type.String(),
});
export type RefusalView = Static<typeof RefusalView>;

const refused = {
  refused: Type.Integer({ minimum: 0, description: 'number of refused rows' }),
  refusals: Type.Array(RefusalView, { description: 'the first 200 refusals' }),
  reportUrl: nullable(
    Type.String({
      description:
        'URL of all refusals as JSONL, valid for an hour; get the batch again for a new URL',
    }),
  ),
};

/** A batch as lists return it. */
export const BatchListView = Type.Object({
  batchId: Type.String(),
  state: oneOf(batchStates),
  mode: oneOf(importModes),
  redact: oneOf(redactModes),
  atomic: Type.Boolean(),
  dryRun: Type.Boolean(),
  publish: oneOf(publishTimes),
  message: nullable(Type.String()),
  author: Type.String({ description: 'public key of the key pair that opened the batch' }),
  chunkCount: Type.Integer({ description: 'number of registered chunks' }),
  rowCount: Type.Integer({
    description: 'number of rows that the chunks hold, as declared at their registration',
  }),
  bytes: Type.Integer({ description: 'total size of the chunks, compressed, in bytes' }),
  refused: refused.refused,
  versionId: nullable(
    Type.String({ description: 'id of the version that contains the rows of the batch' }),
  ),
  error: nullable(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'why the batch failed' },
    ),
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
    Type.Record(Type.String(), Count, {
      description: 'number of rows of the batch that are in the version, by entity',
    }),
  ),
  snapshotId: nullable(Type.String({ description: 'digest of all rows of the version' })),
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
  uploaded: Type.Boolean({ description: 'true: the bytes are stored already, and need no upload' }),
  uploadUrl: Type.Optional(Type.String({ description: 'URL to which the bytes must be PUT' })),
  uploadHeaders: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'headers to send unchanged with the PUT',
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

/** Answer while an import or a publish is still in progress. */
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
