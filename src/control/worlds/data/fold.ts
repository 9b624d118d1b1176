/**
 * Applies the rows of batches to the rows of a version, one batch after another. A batch that waits to be published has
 * a snapshot that contains its own rows and the rows of all batches that wait before it. If that snapshot was made from
 * the same version, the fold starts from it.
 */

import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { ImportedSnapshot, ImportOutcome, ImportProgress } from '#data/import/plan.ts';
import type { Digest } from '#domain/world.ts';
import type { HeldFile, SnapshotFiles } from '#store/files/snapshot-files.ts';
import type { ImportLimits } from '../../config.ts';
import type { Queryable } from '../../db/core/database.ts';
import type { BatchRow } from '../../db/worlds/batches.ts';
import { listChunks } from '../../db/worlds/chunks.ts';
import type { Blobs } from '../../platform/blobs/blobs.ts';
import type { Version } from '../caches/versions.ts';
import { ImportFault, runImportProcess } from './import-process.ts';
import { fetchChunks } from './job-folder.ts';

/** Rows as they are stored: the digest of a snapshot, the place from which to read it, and what is known about it. */
export type Rows = {
  snapshot: Digest;
  /** Path of a local file; null if the snapshot is a blob. */
  file: string | null;
  bytes: number | null;
  stateDigest: string | null;
  entityCounts: Record<string, number>;
  treeRows: Record<string, number>;
  replaced: string[];
};

type AppliedOutcome = Extract<ImportOutcome, { kind: 'applied' }>;

/**
 * Outcome of a fold. `applied`: the rows after the last batch, and the outcome of the last batch. `refused`: the
 * refused batch and its outcome.
 */
export type Folded =
  | { kind: 'applied'; rows: Rows; last: AppliedOutcome | undefined }
  | { kind: 'refused'; batch: BatchRow; outcome: Extract<ImportOutcome, { kind: 'refused' }> };

export type FoldParts = {
  blobs: Blobs;
  db: Queryable;
  snapshots: SnapshotFiles;
  limits: ImportLimits;
};

export type FoldRun = {
  head: Version;
  steps: readonly BatchRow[];
  folder: string;
  signal: AbortSignal;
  onProgress(progress: ImportProgress): void;
};

const rowsOfHead = (head: Version): Rows => ({
  snapshot: head.snapshot,
  file: null,
  bytes: null,
  stateDigest: null,
  entityCounts: head.entityCounts,
  treeRows: head.treeRows ?? {},
  replaced: head.replaced,
});

const rowsOfBatch = ({ snapshot, outcome, entityCounts }: BatchRow): Rows | undefined =>
  snapshot === null || outcome === null
    ? undefined
    : {
        snapshot,
        file: null,
        bytes: outcome.snapshotBytes,
        stateDigest: outcome.stateDigest,
        entityCounts: entityCounts ?? {},
        treeRows: outcome.treeRows,
        replaced: outcome.replaced,
      };

/**
 * Returns the start of a fold: the rows after the last step that was already applied to this head, and the steps that
 * remain.
 */
const findStart = (
  head: Version,
  steps: readonly BatchRow[],
): { rows: Rows; rest: readonly BatchRow[] } => {
  // Compares all steps: a batch cancelled meanwhile may have its rows in the snapshot of one that was being applied
  // then.
  const made = steps.findLastIndex(
    ({ state, baseVersionId, outcome }, at) =>
      state === 'applied' &&
      baseVersionId === head.id &&
      isDeepStrictEqual(
        outcome?.steps,
        steps.slice(0, at + 1).map(({ id }) => id),
      ),
  );
  const rows = steps[made] === undefined ? undefined : rowsOfBatch(steps[made]);
  return rows === undefined
    ? { rows: rowsOfHead(head), rest: steps }
    : { rows, rest: steps.slice(made + 1) };
};

const nextRows = (before: Rows, outcome: AppliedOutcome, snapshot: ImportedSnapshot): Rows => ({
  snapshot: snapshot.digest,
  file: snapshot.file,
  bytes: snapshot.bytes,
  stateDigest: snapshot.stateDigest,
  entityCounts: outcome.entityCounts,
  treeRows: outcome.treeRows,
  replaced: [...new Set([...before.replaced, ...outcome.replaced])].sort(),
});

const mib = 1024 * 1024;

const chunksLost = ({ id }: BatchRow): ImportFault =>
  new ImportFault(
    'conflict',
    `the world has changed since ${id} was applied, and its chunks are no longer stored: cancel it and send it again`,
  );

const runStep = async (
  { blobs, db, limits }: FoldParts,
  run: FoldRun,
  batch: BatchRow,
  base: { held: HeldFile; rows: Rows },
): Promise<ImportOutcome> => {
  const chunks = await listChunks(db, batch.id);
  if (chunks.some(({ uploaded }) => !uploaded)) throw chunksLost(batch);
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
  if (bytes > limits.diskMib * mib) {
    const message = `its chunks have ${Math.ceil(bytes / mib)} MiB, more than the ${limits.diskMib} MiB of disk that an import may take`;
    throw new ImportFault('out_of_disk', message);
  }
  const folder = join(run.folder, batch.id);
  const fetched = await fetchChunks(
    blobs,
    chunks,
    join(run.folder, `${batch.id}.chunks`),
    run.signal,
  );
  const { entities } = batch;
  const plan = {
    contract: run.head.contract,
    base: { file: base.held.path, treeRows: base.rows.treeRows },
    chunks: fetched,
    ...(entities === null ? {} : { entities }),
    ...(entities?.length === 1 ? { entity: entities[0] } : {}),
    mode: batch.mode,
    // Rows that were sent inline were redacted before they were stored.
    redact: batch.isRedacted ? ('off' as const) : batch.redact,
    withholds: batch.redact !== 'off',
    atomic: batch.atomic,
    dryRun: batch.dryRun,
    folder,
  };
  const { signal, onProgress } = run;
  return runImportProcess({ plan, limits, signal, onProgress });
};

/** Applies batches to the rows of the head. Throws `ImportFault` for a failure that would happen again on a retry. */
export const foldBatches = async (parts: FoldParts, run: FoldRun): Promise<Folded> => {
  const { rows: first, rest } = findStart(run.head, run.steps);
  let rows = first;
  let last: AppliedOutcome | undefined;
  for (const batch of rest) {
    const { file, snapshot } = rows;
    const source = async (): Promise<Readable> =>
      file === null ? parts.blobs.read(snapshot) : createReadStream(file);
    const held = await parts.snapshots.hold(snapshot, source);
    try {
      const outcome = await runStep(parts, run, batch, { held, rows });
      if (outcome.kind === 'refused') return { kind: 'refused', batch, outcome };
      last = outcome;
      if (outcome.snapshot !== null) rows = nextRows(rows, outcome, outcome.snapshot);
    } finally {
      await held.release();
    }
  }
  return { kind: 'applied', rows, last };
};
