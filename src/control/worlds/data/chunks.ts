/**
 * Registers and confirms the chunks of a batch. If another chunk of the same world has the same bytes, the client need
 * not send them again. If only other worlds have the bytes, the client must send them, because knowing a digest gives
 * access to nothing.
 */
import { batchLimits } from '#domain/batch.ts';
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import type { Digest } from '#domain/world.ts';
import type { ChunkBody } from '#wire/public-api/worlds/data.ts';
import { quotaError } from '../../base/fairness/quotas.ts';
import type { Queryable } from '../../db/core/database.ts';
import { abandonUpload, beginUpload } from '../../db/projects/uploads.ts';
import { type BatchRow, lockBatch, markUploading } from '../../db/worlds/batches.ts';
import {
  type ChunkRow,
  confirmChunk as confirm,
  dropChunk,
  findChunk,
  findChunkByOrdinal,
  insertChunk,
  type NewChunk,
  sumOtherChunks,
} from '../../db/worlds/chunks.ts';
import { checkArrived } from '../../platform/blobs/arrived.ts';
import type { WorldParts } from '../parts.ts';
import { findTarget, getBatch } from './batches.ts';

type Place = { slug: string; batchId: string };

const field = (name: string, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: [name], message }] });

const takesNone = ({ id, state }: Pick<BatchRow, 'id' | 'state'>): AppError =>
  new AppError('conflict', `${id} is ${state} and accepts no more chunks: open a new batch`, {
    detail: { state },
  });

const isSame = (chunk: ChunkRow, digest: Digest): boolean => chunk.digest === digest;

const checkReplaceable = (chunk: ChunkRow): void => {
  if (!chunk.uploaded) return;
  throw new AppError(
    'conflict',
    `chunk ${chunk.ordinal} was sent with the digest ${chunk.digest.slice('sha256:'.length)}: register other bytes under another ordinal`,
  );
};

const checkFits = async (tx: Queryable, chunk: NewChunk): Promise<void> => {
  const others = await sumOtherChunks(tx, chunk.batchId, chunk.ordinal);
  if (others.bytes + chunk.bytes > batchLimits.batchBytes) {
    throw field('bytes', `with this chunk the batch has more than ${batchLimits.batchBytes} bytes`);
  }
};

/**
 * Writes a chunk. It replaces a chunk with the same ordinal whose bytes were not sent. Returns the chunk that the batch
 * then has at the ordinal.
 */
const writeChunk = async (
  parts: WorldParts,
  batch: BatchRow,
  chunk: NewChunk,
): Promise<ChunkRow | undefined> =>
  parts.db.transaction(async (tx) => {
    const state = await lockBatch(tx, batch.worldId, batch.id);
    if (state !== 'open' && state !== 'uploading') {
      throw takesNone({ id: batch.id, state: state ?? 'failed' });
    }
    const present = await findChunkByOrdinal(tx, batch.id, chunk.ordinal);
    if (present !== undefined) {
      if (isSame(present, chunk.digest)) return present;
      checkReplaceable(present);
      await dropChunk(tx, present.id);
    }
    await checkFits(tx, chunk);
    if (!(await insertChunk(tx, chunk))) {
      throw new AppError('timeout', 'registering the chunk took too long; send it again');
    }
    await markUploading(tx, batch.id);
    return findChunk(tx, batch.id, chunk.id);
  });

/**
 * Reserves quota for a chunk and writes it. Used both for the chunks that clients register and for rows sent inline.
 */
export const addChunk = async (
  parts: WorldParts,
  batch: BatchRow,
  given: Omit<NewChunk, 'id' | 'batchId' | 'worldId'>,
): Promise<ChunkRow> => {
  const chunk = { ...given, id: newId('chk'), batchId: batch.id, worldId: batch.worldId };
  const { digest, bytes } = chunk;
  const upload = { id: chunk.id, projectId: batch.projectId, makesWorld: false };
  const wanted = { ...upload, blobs: [digest], bytes };
  const refusal = await beginUpload(parts.db, wanted, parts.config.quotas);
  if (refusal !== undefined) throw quotaError(refusal);
  try {
    const written = await writeChunk(parts, batch, chunk);
    if (written?.id !== chunk.id) await abandonUpload(parts.db, chunk.id);
    if (written !== undefined) return written;
    throw new AppError('internal', 'a chunk that was just written is missing');
  } catch (error) {
    await abandonUpload(parts.db, chunk.id);
    throw error;
  }
};

/** Registers a chunk. If it is already registered with the same digest, returns it unchanged. */
export const registerChunk = async (
  parts: WorldParts,
  projectId: string,
  place: Place,
  body: ChunkBody,
): Promise<ChunkRow> => {
  const entity = body.entity ?? null;
  const asked = { how: {}, entities: entity === null ? [] : [entity] };
  const { world } = await findTarget(parts, projectId, place.slug, asked);
  const batch = await getBatch(parts, world, place.batchId);
  const digest: Digest = `sha256:${body.digest}`;
  const present = await findChunkByOrdinal(parts.db, batch.id, body.ordinal);
  if (present !== undefined && isSame(present, digest)) return present;
  if (batch.state !== 'open' && batch.state !== 'uploading') throw takesNone(batch);
  if (present !== undefined) checkReplaceable(present);
  if (body.bytes > batchLimits.chunkBytes) {
    const message = `the chunk has ${body.bytes} bytes; the maximum is ${batchLimits.chunkBytes}`;
    throw field('bytes', message);
  }
  if (entity !== null && batch.entities !== null && !batch.entities.includes(entity)) {
    throw field('entity', `the batch is of ${batch.entities.join(', ')}, and not of "${entity}"`);
  }
  const { ordinal, bytes, rows } = body;
  return addChunk(parts, batch, { ordinal, digest, bytes, rows, entity });
};

/** Confirms a chunk. A chunk that is already confirmed is returned unchanged. */
export const confirmChunk = async (
  parts: WorldParts,
  projectId: string,
  { chunkId, ...place }: Place & { chunkId: string },
): Promise<ChunkRow> => {
  const { world } = await findTarget(parts, projectId, place.slug, null);
  const batch = await getBatch(parts, world, place.batchId);
  const chunk = chunkId.includes('\0') ? undefined : await findChunk(parts.db, batch.id, chunkId);
  if (chunk === undefined) {
    throw new AppError('not_found', `${batch.id} has no chunk ${chunkId}`);
  }
  if (chunk.uploaded) return chunk;
  if (batch.state !== 'open' && batch.state !== 'uploading') throw takesNone(batch);
  await checkArrived(parts.blobs, chunk);
  if (!(await confirm(parts.db, chunk.id, chunk.digest))) {
    throw new AppError('conflict', `chunk ${chunk.ordinal} was replaced, or the batch is sealed`);
  }
  await parts.blobs.presigned?.drop(chunk.id);
  return { ...chunk, received: true, uploaded: true };
};
