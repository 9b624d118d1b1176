/** Folder of one attempt at an import, for its input and output files. None of them is needed afterwards. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import type { ImportChunk } from '#data/import/plan.ts';
import type { Refusal } from '#domain/batch.ts';
import { cut } from '#domain/cut.ts';
import { makeFolders } from '#runtime/folders.ts';
import type { Queryable } from '../../db/core/database.ts';
import type { ChunkRow } from '../../db/worlds/chunks.ts';
import { findAttemptsOver } from '../../db/worlds/import-jobs.ts';
import type { Blobs } from '../../platform/blobs/blobs.ts';

/** Upper bound for the refusals that the batch itself lists; its report has all. */
const shownRefusals = 200;
/** Upper bound for a line of the report, above any refusal's length. */
const longestLine = 64 * 1024;
/** Age of the last write after which a folder belongs to a worker that is gone. */
const deadMs = 24 * 60 * 60_000;

/** Downloads the chunks of a batch into a folder. */
export const fetchChunks = async (
  blobs: Blobs,
  chunks: readonly ChunkRow[],
  folder: string,
  signal: AbortSignal,
): Promise<ImportChunk[]> => {
  await makeFolders(folder);
  const fetched: ImportChunk[] = [];
  for (const { ordinal, digest, rows, entity } of chunks) {
    const file = join(folder, `${ordinal}.jsonl.gz`);
    await pipeline(await blobs.read(digest), createWriteStream(file), { signal });
    fetched.push({ ordinal, file, rows, ...(entity === null ? {} : { entity }) });
  }
  return fetched;
};

/** Returns the first refusals of a report. */
export const readRefusals = async (file: string): Promise<Refusal[]> => {
  const source = createReadStream(file);
  const refusals: Refusal[] = [];
  try {
    for await (const line of createInterface({ input: source })) {
      if (refusals.length === shownRefusals) break;
      if (line.length > longestLine) continue;
      const refusal = JSON.parse(line) as Refusal;
      refusals.push({ ...refusal, detail: cut(refusal.detail, 2_000) });
    }
  } finally {
    source.destroy();
  }
  return refusals;
};

/**
 * Returns the folder of one attempt at a batch. Attempts never share one, not even those of a batch that was cancelled
 * and sealed again.
 */
export const jobFolder = (folder: string, { id, owner }: { id: string; owner: string }): string =>
  join(folder, `${id}.${owner}`);

/**
 * Removes the folders that dead workers have left: those of attempts that are over by the database, and those not
 * written to for a day.
 */
export const removeDeadFolders = async (db: Queryable, folder: string): Promise<void> => {
  await makeFolders(folder);
  const names = await readdir(folder);
  const attempts = names.flatMap((name) => {
    const [id, owner, ...more] = name.split('.');
    return id && owner && more.length === 0 ? [{ id, owner }] : [];
  });
  const over = attempts.length === 0 ? [] : await findAttemptsOver(db, attempts);
  const dead = new Set(over.map((attempt) => jobFolder(folder, attempt)));
  for (const path of names.map((name) => join(folder, name))) {
    const found = await stat(path).catch(() => undefined); // another process removed it first
    if (dead.has(path) || (found !== undefined && Date.now() - found.mtimeMs > deadMs)) {
      await rm(path, { recursive: true, force: true });
    }
  }
};

/** Removes the folders of earlier attempts at a batch, whose workers are gone, and creates that of this one. */
export const openJobFolder = async (
  folder: string,
  batch: { id: string; owner: string },
): Promise<void> => {
  await makeFolders(folder);
  for (const name of await readdir(folder)) {
    if (name.startsWith(`${batch.id}.`))
      await rm(join(folder, name), { recursive: true, force: true });
  }
  await mkdir(jobFolder(folder, batch));
};
