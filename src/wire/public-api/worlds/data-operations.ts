/** Operations that import rows into a world. */

import { batchLimits } from '#domain/batch.ts';
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { IdempotencyHeaders } from '../../schemas.ts';
import { Type } from '../../type.ts';
import { CursorQuery, pageOf } from '../lists.ts';
import {
  BatchListView,
  BatchView,
  ChunkBody,
  ChunkView,
  CreateBatchBody,
  ImportBody,
  ImportedView,
  ImportRunning,
  OpenedBatch,
  PublishBody,
  PublishedView,
} from './data.ts';

const SlugParams = Type.Object({ slug: Type.String({ maxLength: 64 }) });
const BatchParams = Type.Object({
  slug: Type.String({ maxLength: 64 }),
  batchId: Type.String({ maxLength: 64 }),
});
const ChunkParams = Type.Object({
  slug: Type.String({ maxLength: 64 }),
  batchId: Type.String({ maxLength: 64 }),
  chunkId: Type.String({ maxLength: 64 }),
});

const noRoom = 'A quota of the project is used up: `quota` names it.';

export const importData = operation({
  id: 'importData',
  summary:
    'Import rows; the answer is the new version, or after 55 seconds the batch, which continues in the background',
  method: 'POST',
  path: '/worlds/{slug}/data/import',
  access: 'write',
  tools: [{ name: 'import_world_data' }],
  params: SlugParams,
  headers: IdempotencyHeaders,
  body: ImportBody,
  bodyBytes: batchLimits.inlineBytes,
  answers: { 200: BatchView, 201: ImportedView, 202: ImportRunning },
  refusals: {
    400: 'Rows were refused and nothing was written: `error` names the first, and `refusals` lists them as in a batch.',
    429: noRoom,
  },
});

export const createBatch = operation({
  id: 'createBatch',
  summary: 'Open a batch of rows, which the client then sends in chunks',
  method: 'POST',
  path: '/worlds/{slug}/data/batches',
  access: 'write',
  params: SlugParams,
  headers: IdempotencyHeaders,
  body: CreateBatchBody,
  answers: { 201: OpenedBatch },
  refusals: { 429: noRoom },
});

export const listBatches = getOperation({
  id: 'listBatches',
  summary: 'The batches of a world, newest first',
  path: '/worlds/{slug}/data/batches',
  access: 'read',
  tools: [{ name: 'list_data_batches' }],
  params: SlugParams,
  query: Type.Object(CursorQuery, { additionalProperties: false }),
  answer: pageOf(BatchListView),
});

export const getBatch = getOperation({
  id: 'getBatch',
  summary: 'A batch with its progress or its result',
  path: '/worlds/{slug}/data/batches/{batchId}',
  access: 'read',
  tools: [{ name: 'get_data_batch' }],
  params: BatchParams,
  answer: BatchView,
});

export const cancelBatch = deleteOperation({
  id: 'cancelBatch',
  summary: 'Cancel a batch, which becomes `failed`; rows that already are in a version stay there',
  path: '/worlds/{slug}/data/batches/{batchId}',
  access: 'write',
  tools: [{ name: 'cancel_data_batch' }],
  params: BatchParams,
  answer: BatchView,
  refusals: { 409: 'The batch was refused or published, so it can no longer be cancelled.' },
});

export const registerChunk = operation({
  id: 'registerChunk',
  summary:
    'Register a chunk of a batch (gzipped JSONL); the answer has the address for the upload, unless the bytes are stored already',
  method: 'POST',
  path: '/worlds/{slug}/data/batches/{batchId}/chunks',
  access: 'write',
  params: BatchParams,
  body: ChunkBody,
  answers: { 200: ChunkView },
  refusals: {
    409: 'The batch accepts no more chunks, or a chunk with this ordinal and another digest is registered.',
    429: noRoom,
  },
});

export const confirmChunk = operation({
  id: 'confirmChunk',
  summary:
    'Confirm the upload of a chunk; its bytes are checked against the registered size and digest',
  method: 'POST',
  path: '/worlds/{slug}/data/batches/{batchId}/chunks/{chunkId}/uploaded',
  access: 'write',
  params: ChunkParams,
  answers: { 200: ChunkView },
  refusals: { 409: 'Nothing was uploaded yet, or the batch accepts no more chunks.' },
});

export const completeBatch = operation({
  id: 'completeBatch',
  summary: 'Seal a batch: no chunks can be added, and its rows are validated and applied',
  method: 'POST',
  path: '/worlds/{slug}/data/batches/{batchId}/complete',
  access: 'write',
  params: BatchParams,
  answers: { 202: BatchView },
  refusals: {
    409: 'Chunks are missing (`unconfirmed` lists their ordinals), or their number is not `expectedChunks`.',
  },
});

export const publishData = operation({
  id: 'publishData',
  summary:
    'Publish all applied batches that were opened with `publish: later`, together as one version',
  method: 'POST',
  path: '/worlds/{slug}/data/publish',
  access: 'write',
  tools: [{ name: 'publish_world_data' }],
  params: SlugParams,
  headers: IdempotencyHeaders,
  body: PublishBody,
  answers: { 201: PublishedView, 202: ImportRunning },
  refusals: {
    409: 'No batch waits to be published, or rows do not fit the current version of the world.',
  },
});
