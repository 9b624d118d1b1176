/**
 * Keeps rows of the head in a push. The head's snapshot is unpacked into a file, from which a process writes the
 * snapshot of the next version, also into a file. The message of a refused row names the row by its key.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CarryRefusal } from '#data/import/carry.ts';
import { AppError, type FieldProblem } from '#domain/error.ts';
import { parsePointer } from '#domain/json.ts';
import { makeFolders } from '#runtime/folders.ts';
import { isLost } from '../../platform/blobs/blobs.ts';
import type { Version } from '../caches/versions.ts';
import type { Built, RowsToCarry } from '../compile/build.ts';
import { dataFolder } from '../compile/tree.ts';
import type { WorldParts } from '../parts.ts';
import { rowRefused } from './create.ts';
import type { StoredRows } from './store-version.ts';

const mib = 1024 * 1024;
/** Number of files on the disk at the same time: the database and its compressed copy. */
const copies = 2;

const refusalOf = ({ entity, detail, pointer, key, treeIndex }: CarryRefusal): AppError => {
  const inRow = parsePointer(pointer);
  if (treeIndex !== null) {
    const path = [`${dataFolder}${entity}.json`, String(treeIndex), ...inRow];
    const message = `${entity}[${treeIndex}]${pointer}: ${detail}`;
    return rowRefused({ message, field: { path, message: detail } });
  }
  // A kept row has no place in a file or a body, so the error names its key.
  const name = Object.entries(key)
    .map(([field, value]) => `${field} ${JSON.stringify(value)}`)
    .join(', ');
  const message = `${detail}; the row does not come from the tree and would be kept: change the contract so that it allows the row, or push with "data": "replace"`;
  const path = ['kept', entity, ...(name === '' ? [] : [name]), ...inRow];
  const field: FieldProblem = { path, message };
  return rowRefused({ message: `${entity}${name === '' ? '' : ` ${name}`}: ${message}`, field });
};

type Carry = {
  projectId: string;
  head: Version;
  built: Extract<Built, { ok: true }>;
  rows: RowsToCarry;
  replaced: readonly string[];
  folder: string;
  signal: AbortSignal | undefined;
};

/**
 * Combines the rows kept from the head with the rows of the tree. Throws `invalid` and names the row if one cannot be
 * kept.
 */
export const carryKeptRows = async (parts: WorldParts, carry: Carry): Promise<StoredRows> => {
  const { projectId, head, built, rows, replaced, folder, signal } = carry;
  const { blobs, config, rowCarrier, snapshots } = parts;
  await using held = new AsyncDisposableStack();
  // The file is unpacked only when this job's turn has come.
  const complete = async () => {
    const found = await snapshots
      .hold(head.snapshot, () => blobs.read(head.snapshot))
      .catch((error: unknown) => {
        throw isLost(error) ? rowsLost(head, error) : error;
      });
    held.defer(() => found.release());
    return jobOf(found.path);
  };
  const storeBytes = Math.floor((config.imports.diskMib * mib) / copies);
  const { entities, definitions } = head.contract;
  const jobOf = (file: string) => ({
    kind: 'carry' as const,
    plan: {
      replaced,
      base: { contract: { entities, definitions }, file, treeRows: rows.baseTreeRows },
      folder,
    },
    contractJson: built.contractJson,
    treeRowsJson: rows.treeRowsJson,
    storeBytes,
  });
  const outcome = await rowCarrier.run(jobOf(''), { project: projectId, signal, complete });
  if (outcome.kind === 'refused') throw refusalOf(outcome.row);
  const { snapshot, entityCounts: counts, treeRows, keptRows, leftOutRows } = outcome;
  const { digest: blob, bytes: sizeBytes, file, stateDigest: digest } = snapshot;
  const stored = { blob, sizeBytes, from: { file }, counts, digest };
  return { treeRows, keptRows, leftOutRows, snapshot: stored };
};

/** Builds the error for a version whose bytes are lost. None of its rows can be kept. */
export const rowsLost = (head: Version, cause: unknown): AppError => {
  const message = `the rows of version ${head.number} are lost, so none of them can be kept: push with "data": "replace"`;
  return new AppError('conflict', message, { cause });
};

/**
 * Runs a function with a folder for temporary files, and removes the folder afterwards. If the program dies, the folder
 * is removed together with those of imports.
 */
export const withFolder = async <Value>(
  { config }: Pick<WorldParts, 'config'>,
  work: (folder: string) => Promise<Value>,
): Promise<Value> => {
  const imports = join(config.workDir, 'imports');
  await makeFolders(imports);
  const folder = join(imports, `push-${randomUUID()}`);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
