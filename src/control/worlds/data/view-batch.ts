/** Builds the views of batches and chunks that clients see. */
import { batchLimits } from '#domain/batch.ts';
import type { BatchListView, BatchView, ChunkView } from '#wire/public-api/worlds/data.ts';
import type { BatchRow } from '../../db/worlds/batches.ts';
import type { ChunkRow } from '../../db/worlds/chunks.ts';
import type { SignedAddresses } from '../../platform/blobs/signed.ts';

const { chunkBytes, batchBytes, inlineBytes } = batchLimits;

/** Limits that are included in answers about batches. */
export const limitsBlock = { chunkBytes, batchBytes, inlineBytes };

/** Returns the view of a batch as lists show it. */
export const viewListedBatch = (row: BatchRow): BatchListView => ({
  batchId: row.id,
  state: row.state,
  mode: row.mode,
  redact: row.redact,
  atomic: row.atomic,
  dryRun: row.dryRun,
  publish: row.publish,
  message: row.message,
  author: row.author,
  chunkCount: row.chunkCount,
  rowCount: row.rowCount,
  bytes: row.bytes,
  refused: row.refused,
  versionId: row.versionId,
  error: row.error,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/**
 * Returns the progress of a batch. The import job records the progress at intervals; for a finished batch, it is
 * computed from the outcome.
 */
const progressOf = (row: BatchRow): BatchView['progress'] => {
  const { state: phase, validatedChunks, appliedRows, chunkCount, dryRun } = row;
  const isLooked = phase === 'applied' || phase === 'published' || phase === 'refused';
  if (!isLooked) return { phase, validatedChunks, appliedRows };
  const landed = Object.values(row.landed ?? {}).reduce((sum, rows) => sum + rows, 0);
  const isApplied = phase !== 'refused' && !dryRun;
  return { phase, validatedChunks: chunkCount, appliedRows: isApplied ? landed : 0 };
};

/** Returns the refusals of a batch, with a download address of the report that stays valid for an hour. */
export const viewRefused = async (
  addresses: SignedAddresses,
  { id, refused, refusals, report }: BatchRow,
) => ({
  refused,
  refusals: refusals ?? [],
  reportUrl:
    report === null
      ? null
      : (await addresses.download(report, { name: `refusals-${id}.jsonl` })).url,
});

/** Returns the view of a single batch. */
export const viewBatch = async (addresses: SignedAddresses, row: BatchRow): Promise<BatchView> => ({
  ...viewListedBatch(row),
  ...(await viewRefused(addresses, row)),
  expectedChunks: row.expectedChunks,
  entities: row.entities,
  progress: progressOf(row),
  entityCounts: row.entityCounts,
  landed: row.landed,
  snapshotId: row.snapshot,
  limits: limitsBlock,
});

/** Returns the view of a chunk; if the bytes of the chunk have not arrived, with the address to which to send them. */
export const viewChunk = async (
  addresses: SignedAddresses,
  chunk: ChunkRow,
): Promise<ChunkView> => {
  const { id, ordinal, digest, bytes, rows, entity, uploaded } = chunk;
  const shown = {
    ...{ chunkId: id, ordinal, bytes, rows, entity, uploaded },
    digest: digest.slice('sha256:'.length),
  };
  if (uploaded) return shown;
  const { url, headers, expiresAt } = await addresses.upload(id, { digest, bytes });
  return { ...shown, uploadUrl: url, uploadHeaders: headers, expiresAt: expiresAt.toISOString() };
};
