/**
 * Executes one claimed batch. A process applies the rows of the batch to those of the world's head, and the result is
 * stored. Then a new version is written on top of that head. If the head has changed in the meantime, everything is
 * repeated. If the batch was cancelled, or another worker has claimed it by now, nothing is changed. If this program or
 * the process dies, only a lease is left, and it expires. The next worker then starts again and produces the same
 * bytes.
 */
import { rm } from 'node:fs/promises';
import { AppError, describeError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import type { Digest } from '#domain/world.ts';
import { pause } from '#runtime/pause.ts';
import type { SnapshotFiles } from '#store/files/snapshot-files.ts';
import { sumRows } from '../../base/contracts/version-changes.ts';
import { quotaError } from '../../base/fairness/quotas.ts';
import { abandonUpload, beginUpload, holdUpload } from '../../db/projects/uploads.ts';
import type { BatchRow } from '../../db/worlds/batches.ts';
import { listPending } from '../../db/worlds/batches.ts';
import {
  type Applied,
  applyBatch,
  type ClaimedBatch,
  failBatch,
  type JobProgress,
  publishBatch,
  type Refused,
  refuseBatch,
  releaseBatch,
  renewBatch,
} from '../../db/worlds/import-jobs.ts';
import { findVersionBytes } from '../../db/worlds/versions.ts';
import { findWorldById } from '../../db/worlds/worlds.ts';
import { measureFile } from '../../platform/blobs/blobs.ts';
import type { Version } from '../caches/versions.ts';
import type { WorldParts } from '../parts.ts';
import { hashContent } from '../versions/store-version.ts';
import { type Folded, foldBatches, type Rows } from './fold.ts';
import { ImportFault } from './import-process.ts';
import { jobFolder, openJobFolder, readRefusals } from './job-folder.ts';

export type JobParts = Pick<
  WorldParts,
  'blobs' | 'config' | 'db' | 'log' | 'metrics' | 'notifications' | 'versions'
> & { snapshots: SnapshotFiles; folder: string };

/** Interval at which the lease is renewed and progress is reported, in milliseconds. */
const renewMs = 2_000;
/** Delay before the retry of a batch that failed for a temporary reason, in milliseconds. */
const restMs = 2_000;
/** Number of attempts after which a batch fails permanently. */
const mostAttempts = 25;
/** Maximum number of heads on which a batch is tried, in case other clients keep creating versions of the world. */
const mostHeads = 20;

const nothingRefused: Refused = { refused: 0, refusals: [], report: null };

/** Thrown when the batch is no longer claimed by this worker. */
class Lost extends Error {}

type Job = {
  parts: JobParts;
  batch: ClaimedBatch;
  folder: string;
  signal: AbortSignal;
  onProgress(progress: JobProgress): void;
};

/** Renews the lease of a batch until `end` is called. The signal aborts if the lease is lost or the program stops. */
const keepLease = (parts: JobParts, batch: ClaimedBatch, stopping: AbortSignal) => {
  const lost = new AbortController();
  const ended = new AbortController();
  let progress: JobProgress = { phase: 'validating', validatedChunks: 0, appliedRows: 0 };
  const renew = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await pause(renewMs, ended.signal);
      if (ended.signal.aborted) return;
      try {
        if (!(await renewBatch(parts.db, batch, progress))) lost.abort(new Lost());
        parts.notifications.notify(batch.id);
      } catch (err) {
        parts.log.warn({ err, batch: batch.id }, 'the lease of an import was not renewed');
      }
    }
  };
  const renewing = renew();
  return {
    signal: AbortSignal.any([lost.signal, stopping]),
    note(latest: JobProgress) {
      progress = latest;
    },
    async end() {
      ended.abort();
      await renewing;
    },
  };
};

const findHead = async ({ parts, batch }: Job): Promise<Version> => {
  const world = await findWorldById(parts.db, batch.projectId, batch.worldId);
  if (world === undefined)
    throw new ImportFault('not_found', 'the world was deleted in the meantime');
  if (world.archivedAt !== null) {
    throw new ImportFault('conflict', `the world "${world.slug}" was archived in the meantime`);
  }
  const head = await parts.versions.get(world.headVersionId);
  if (head === undefined) throw new AppError('internal', 'a world has no head');
  return head;
};

const stepsOf = async ({ parts, batch }: Job): Promise<readonly BatchRow[]> => {
  if (batch.kind === 'publish') return listPending(parts.db, batch.worldId);
  if (batch.publish === 'now' || batch.dryRun) return [batch];
  return [...(await listPending(parts.db, batch.worldId)), batch];
};

/** Reserves quota of the project for the bytes to store. If the quota is used up, the batch fails. */
const reserve = async (
  { parts, batch: { projectId } }: Job,
  upload: { id: string; blobs: Digest[]; bytes: number },
): Promise<void> => {
  const wanted = { ...upload, projectId, makesWorld: false };
  const refusal = await beginUpload(parts.db, wanted, parts.config.quotas);
  if (refusal !== undefined) {
    const { message } = quotaError(refusal);
    throw new ImportFault('exhausted', message);
  }
};

/** Stores the report about the refused rows. */
const storeRefusals = async (
  job: Job,
  { refused, refusals: file }: { refused: number; refusals: string | null },
): Promise<Refused> => {
  if (file === null) return { ...nothingRefused, refused };
  const { blobs, db } = job.parts;
  const measured = await measureFile(file);
  const id = `report-${job.batch.id}`;
  await reserve(job, { id, blobs: [measured.digest], bytes: measured.bytes });
  await blobs.putFile(file);
  await holdUpload(db, id);
  return { refused, refusals: await readRefusals(file), report: measured.digest };
};

const refuse = async (job: Job, folded: Extract<Folded, { kind: 'refused' }>): Promise<void> => {
  const refused = await storeRefusals(job, folded.outcome);
  const { parts, batch } = job;
  if (folded.batch.id === batch.id) {
    if (!(await refuseBatch(parts.db, batch, refused))) throw new Lost();
    return;
  }
  const [first] = refused.refusals;
  throw new ImportFault(
    'conflict',
    `${refused.refused} rows of ${folded.batch.id}, which waits to be published, no longer fit the world (${first?.detail ?? ''}): cancel it, and send it again`,
  );
};

const sumLanded = (steps: readonly BatchRow[]): Record<string, number> => {
  const sum: Record<string, number> = {};
  for (const { landed } of steps) {
    for (const [entity, rows] of Object.entries(landed ?? {})) {
      sum[entity] = (sum[entity] ?? 0) + rows;
    }
  }
  return sum;
};

type Stored = { rows: Rows & { bytes: number; stateDigest: string }; applied: Applied };

const appliedOf = (
  head: Version,
  steps: readonly BatchRow[],
  rows: Stored['rows'],
  landed: Record<string, number>,
  refused: Refused,
): Applied => ({
  ...refused,
  baseVersionId: head.id,
  snapshot: rows.snapshot,
  entityCounts: rows.entityCounts,
  landed,
  outcome: {
    stateDigest: rows.stateDigest,
    snapshotBytes: rows.bytes,
    treeRows: rows.treeRows,
    replaced: rows.replaced,
    steps: steps.map(({ id }) => id),
  },
});

const storeSnapshot = async (
  job: Job,
  rows: Rows,
  upload: { id: string; otherBytes: number },
): Promise<Stored['rows']> => {
  const { bytes, stateDigest, file, snapshot } = rows;
  if (bytes === null || stateDigest === null) throw new Error('a fold ended without rows to store');
  const needed = { id: upload.id, blobs: [snapshot], bytes: bytes + upload.otherBytes };
  await reserve(job, needed);
  if (file !== null) await job.parts.blobs.putFile(file);
  return { ...rows, bytes, stateDigest };
};

/** Completes a batch whose rows are published later. */
const keepForLater = async (
  job: Job,
  head: Version,
  steps: readonly BatchRow[],
  folded: Extract<Folded, { kind: 'applied' }>,
  refused: Refused,
): Promise<void> => {
  const id = `rows-${job.batch.id}`;
  const rows = await storeSnapshot(job, folded.rows, { id, otherBytes: 0 });
  const applied = appliedOf(head, steps, rows, folded.last?.landed ?? {}, refused);
  if (!(await applyBatch(job.parts.db, job.batch, applied, id))) throw new Lost();
};

const endDryRun = async (
  { parts, batch }: Job,
  head: Version,
  { last }: Extract<Folded, { kind: 'applied' }>,
  refused: Refused,
): Promise<void> => {
  const applied = {
    ...refused,
    baseVersionId: head.id,
    snapshot: null,
    entityCounts: last?.entityCounts ?? {},
    landed: last?.landed ?? {},
    outcome: null,
  };
  if (!(await applyBatch(parts.db, batch, applied, null))) throw new Lost();
};

/** Writes the next version of the world. Returns false if the world's head has changed. */
const publish = async (
  job: Job,
  head: Version,
  steps: readonly BatchRow[],
  folded: Extract<Folded, { kind: 'applied' }>,
  refused: Refused,
): Promise<boolean> => {
  const { parts, batch } = job;
  const { db, blobs } = parts;
  const isPublish = batch.kind === 'publish';
  const [headBytes, replacedBytes] = await Promise.all([
    findVersionBytes(db, head.id),
    blobs.size(head.snapshot),
  ]);
  const uploadId = newId('upl');
  const otherBytes = headBytes - replacedBytes;
  const rows = await storeSnapshot(job, folded.rows, { id: uploadId, otherBytes });
  const landed = isPublish ? sumLanded(steps) : (folded.last?.landed ?? {});
  const unpublished = await publishBatch(db, batch, appliedOf(head, steps, rows, landed, refused), {
    versionId: newId('ver'),
    worldId: batch.worldId,
    contentHash: hashContent({ ...head, state: rows.stateDigest }),
    message: batch.message,
    author: batch.author,
    origin: isPublish ? 'publish' : 'import',
    addedBytes: rows.bytes - replacedBytes,
    changes: {
      base: head.number,
      files: { added: 0, changed: 0, removed: 0 },
      entities: { added: [], changed: [], removed: [] },
      rows: { before: sumRows(head.entityCounts), after: sumRows(rows.entityCounts) },
    },
    treeRows: rows.treeRows,
    replaced: rows.replaced,
    folded: isPublish ? steps.map(({ id }) => id) : [],
    uploadId,
  });
  if (unpublished === undefined) return true;
  await abandonUpload(db, uploadId);
  if (unpublished === 'lost') throw new Lost();
  return false;
};

/** Applies the batch to the current head. Returns false if the head changed in the meantime. */
const putOntoHead = async (job: Job): Promise<boolean> => {
  const { parts, batch, folder, signal, onProgress } = job;
  const head = await findHead(job);
  const steps = await stepsOf(job);
  if (steps.length === 0) {
    throw new ImportFault('conflict', 'no batch waits to be published any more');
  }
  const { blobs, db, snapshots, config } = parts;
  const folded = await foldBatches(
    { blobs, db, snapshots, limits: config.imports },
    { head, steps, folder, signal, onProgress },
  );
  if (folded.kind === 'refused') {
    await refuse(job, folded);
    return true;
  }
  const isOwn = batch.kind === 'import' && folded.last !== undefined;
  const refused = isOwn && folded.last ? await storeRefusals(job, folded.last) : nothingRefused;
  if (batch.dryRun) await endDryRun(job, head, folded, refused);
  else if (batch.kind === 'import' && batch.publish === 'later') {
    await keepForLater(job, head, steps, folded, refused);
  } else return publish(job, head, steps, folded, refused);
  return true;
};

const putOntoHeads = async (job: Job): Promise<void> => {
  for (let heads = 1; heads <= mostHeads; heads += 1) {
    if (await putOntoHead(job)) return;
  }
  const message = `other clients created ${mostHeads} versions of the world while the rows were applied: complete the batch again`;
  throw new ImportFault('conflict', message);
};

/**
 * Ends an attempt whose work has failed, and returns the result. The batch fails permanently, is left to the worker
 * that has claimed it by now, or is released for a retry.
 */
const endFailed = async (
  { db, log }: JobParts,
  batch: ClaimedBatch,
  error: unknown,
): Promise<'failed' | 'lost' | 'again'> => {
  if (error instanceof Lost) return 'lost';
  if (error instanceof ImportFault) {
    await failBatch(db, batch, { code: error.code, message: error.message });
    return 'failed';
  }
  log.warn({ err: error, batch: batch.id, attempts: batch.attempts }, 'an import failed');
  if (batch.attempts >= mostAttempts) {
    const isOurs = !(error instanceof AppError);
    const why = isOurs ? 'an internal error of the service' : describeError(error);
    const message = `${batch.attempts} attempts have failed, the last because of: ${why}; complete it again`;
    await failBatch(db, batch, { code: isOurs ? 'internal' : error.code, message });
    return 'failed';
  }
  await releaseBatch(db, batch.owner, restMs);
  return 'again';
};

/** Removes the folder of an attempt. If that fails, `removeDeadFolders` removes the folder later. */
const removeFolder = async ({ log }: JobParts, folder: string): Promise<void> => {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (err) {
    log.warn({ err, folder }, 'the folder of an import was not removed');
  }
};

/** Executes a batch until it ends, or releases it for a retry. Does not throw for failures that an import can have. */
export const runImportJob = async (
  parts: JobParts,
  batch: ClaimedBatch,
  stopping: AbortSignal,
): Promise<void> => {
  const beganAt = performance.now();
  const lease = keepLease(parts, batch, stopping);
  const folder = jobFolder(parts.folder, batch);
  const job = { parts, batch, folder, signal: lease.signal, onProgress: lease.note };
  let outcome: string = 'done';
  try {
    // Attempts whose process was ended from outside are counted, too.
    if (batch.attempts > mostAttempts)
      throw new Error('the processes of earlier attempts were ended from outside');
    await openJobFolder(parts.folder, batch);
    await putOntoHeads(job);
  } catch (error) {
    const cause = lease.signal.aborted ? lease.signal.reason : error;
    // A program that is stopping releases its batch to other workers at once.
    outcome = await endFailed(parts, batch, stopping.aborted ? error : cause);
    if (stopping.aborted) await releaseBatch(parts.db, batch.owner, 0);
  } finally {
    await lease.end();
    await removeFolder(parts, folder);
    parts.metrics.importJobs.inc({ kind: batch.kind, outcome });
    const seconds = (performance.now() - beganAt) / 1_000;
    parts.metrics.importSeconds.observe({ kind: batch.kind }, seconds);
    parts.notifications.notify(batch.id);
  }
};
