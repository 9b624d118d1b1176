/** The folder of one attempt at an import: what it reads, what it writes. Nothing in it is needed afterwards. */
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

/** Refusals that are told with a batch itself; the rest is in its report. */
const toldRefusals = 200;
/** Of a line of the report, more than any refusal has. */
const longestLine = 64 * 1024;
/** A folder that nobody wrote to for so long is of a worker that is gone. */
const deadMs = 24 * 60 * 60_000;

/** Brings the chunks of a batch into a folder. */
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

/** The first refusals of a report. */
export const readRefusals = async (file: string): Promise<Refusal[]> => {
  const source = createReadStream(file);
  const refusals: Refusal[] = [];
  try {
    for await (const line of createInterface({ input: source })) {
      if (refusals.length === toldRefusals) break;
      if (line.length > longestLine) continue;
      const refusal = JSON.parse(line) as Refusal;
      refusals.push({ ...refusal, detail: cut(refusal.detail, 2_000) });
    }
  } finally {
    source.destroy();
  }
  return refusals;
};

/** The folder of one attempt at a batch: no other has the same, also of a batch that was called off and sealed again. */
export const jobFolder = (folder: string, { id, owner }: { id: string; owner: string }): string =>
  join(folder, `${id}.${owner}`);

/**
 * Removes what workers have left that were cut off: folders of attempts that are over, as the database knows, and what
 * nobody wrote to for a day.
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

/** Removes the folders of earlier attempts at a batch, whose workers are gone, and makes that of this one. */
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
