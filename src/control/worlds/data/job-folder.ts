/**
 * Folder of one attempt at an import, for its input and output files. None of the files is needed after the attempt.
 */
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

/** Maximum number of refusals that the batch itself lists. Its report contains all refusals. */
const shownRefusals = 200;
/** Maximum length of a line of the report in characters, longer than any refusal. */
const longestLine = 64 * 1024;
/**
 * Time since the last write to a folder, in milliseconds, after which the worker that used the folder is considered
 * gone.
 */
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

/** Returns the first refusals of a report, up to `shownRefusals`. */
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
 * Returns the folder of one attempt at a batch. Every attempt has a folder of its own, even if a batch was cancelled
 * and sealed again.
 */
export const jobFolder = (folder: string, { id, owner }: { id: string; owner: string }): string =>
  join(folder, `${id}.${owner}`);

/**
 * Removes the folders that dead workers left behind: those of attempts that are over according to the database, and
 * those not written to for a day.
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

/**
 * Removes the folders of earlier attempts at a batch, whose workers are gone, and creates the folder of this attempt.
 */
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
