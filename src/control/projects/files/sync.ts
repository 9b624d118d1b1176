/**
 * Syncs a folder or bucket with the files of a project, in one direction: new and changed files are copied, and nothing
 * is deleted. A request works for a limited time and answers `partial` if files are left. The next request continues
 * there, because each file is recorded once it has been copied. Only one request at a time syncs a connector.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lookup } from 'mime-types';
import { AppError } from '#domain/error.ts';
import { readFilePath } from '#domain/file-path.ts';
import { newId } from '#domain/id.ts';
import { limits } from '#domain/limits.ts';
import type { Digest } from '#domain/world.ts';
import { scratchPath } from '#runtime/scratch-files.ts';
import { contentTypePattern } from '#wire/public-api/projects/file.ts';
import type { SyncAnswer } from '#wire/public-api/projects/file-connector.ts';
import {
  claimSync,
  dropEntries,
  endSync,
  type FileBelow,
  type FileConnectorRow,
  listFilesBelow,
  putEntry,
  readEntries,
  renewSync,
  type SyncEntry,
} from '../../db/projects/file-connectors.ts';
import { findFolder } from '../../db/projects/file-folders.ts';
import { defaultContentType, measureFile } from '../../platform/blobs/blobs.ts';
import { mostPlaced, type Place, type PlacedFile } from '../../platform/blobs/places/place.ts';
import { receiveFile } from '../../platform/blobs/receive.ts';
import type { ProjectParts } from '../parts.ts';
import { getConnector, openPlace } from './connectors.ts';
import { storeFile } from './uploads.ts';

type SyncParts = Pick<ProjectParts, 'blobs' | 'config' | 'db' | 'log'>;

/**
 * Time after which no further file is started (`beginMs`), and time limit of the whole sync, including files under way
 * (`wholeMs`), in milliseconds.
 */
const beginMs = 20_000;
const wholeMs = 10 * 60_000;
const renewEveryMs = 20_000;
const atOnce = 4;
const mostWarnings = 100;

/** File to copy. `bring` copies the file and returns the entry by which later syncs recognize it. */
type Work = { path: string; bytes: number; bring(): Promise<SyncEntry> };
type Planned = { found: number; unchanged: number; work: Work[]; isCut: boolean; gone: string[] };
type Run = {
  parts: SyncParts;
  connector: FileConnectorRow;
  place: Place;
  signal: AbortSignal;
  warn(path: string, message: string): void;
};

const typeForm = new RegExp(contentTypePattern);

const typeOf = (path: string, said: string | undefined): string => {
  if (
    said !== undefined &&
    said.length <= 255 &&
    typeForm.test(said) &&
    said !== 'binary/octet-stream'
  )
    return said;
  return lookup(path) || defaultContentType;
};

/**
 * Returns the path in the project for a file of the folder or bucket. If the project cannot store the file, warns and
 * returns undefined.
 */
const readPlaced = ({ connector, warn }: Run, { path, bytes }: PlacedFile): string | undefined => {
  const above = connector.targetPrefix === '' ? '' : `${connector.targetPrefix}/`;
  try {
    const { names, isFolder } = readFilePath('path', `${above}${path}`);
    if (isFolder) throw new AppError('invalid', 'path ends with "/"');
    if (bytes > limits.fileBytes) {
      throw new AppError(
        'invalid',
        `has ${bytes} bytes, more than the maximum of ${limits.fileBytes}`,
      );
    }
    return names.join('/');
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    warn(path.toWellFormed().replaceAll('\0', '\ufffd'), error.message);
    return undefined;
  }
};

/** Copies one file of the folder or bucket into the project. */
const pullOne = async (
  { parts, connector, place, signal }: Run,
  file: PlacedFile,
  { path, held }: { path: string; held: Digest | undefined },
): Promise<SyncEntry> => {
  const part = await scratchPath(join(parts.config.workDir, 'synced'), '.part');
  try {
    const { stream, contentType } = await place.read(file.path, signal);
    await receiveFile(part, stream, limits.fileBytes);
    const measured = await measureFile(part);
    if (measured.digest !== held) {
      const as = { path, contentType: typeOf(path, contentType), author: connector.name };
      await storeFile(parts, connector.projectId, { ...measured, ...as, from: part });
    }
    return { path: file.path, stamp: file.stamp, digest: measured.digest };
  } finally {
    await rm(part, { force: true });
  }
};

const filesOf = async ({ parts, connector }: Run, paths: string[] | null): Promise<FileBelow[]> => {
  const { projectId, targetPrefix } = connector;
  const names = targetPrefix.split('/').filter((name) => name !== '');
  const folder = await findFolder(parts.db, projectId, names);
  if (folder === undefined) return [];
  return listFilesBelow(parts.db, folder.id, { paths, limit: mostPlaced + 1 });
};

const planPull = async (run: Run): Promise<Planned> => {
  const { parts, connector, place, signal, warn } = run;
  const listing = await place.list(signal);
  for (const { path, message } of listing.warnings) warn(path, message);
  const known = await readEntries(parts.db, connector.id);
  const files = listing.files.flatMap((file) => {
    const path = readPlaced(run, file);
    return path === undefined ? [] : [{ file, path }];
  });
  const above = connector.targetPrefix === '' ? 0 : connector.targetPrefix.length + 1;
  const below = await filesOf(
    run,
    files.map(({ path }) => path.slice(above)),
  );
  const held = new Map(below.map(({ path, digest }) => [path, digest]));
  const work = files.flatMap(({ file, path }): Work[] => {
    const before = known.get(file.path);
    const has = held.get(path.slice(above));
    if (before !== undefined && before.stamp === file.stamp && before.digest === has) return [];
    const { bytes } = file;
    return [{ path: file.path, bytes, bring: () => pullOne(run, file, { path, held: has }) }];
  });
  const there = new Set(listing.files.map(({ path }) => path));
  return {
    ...{ found: listing.files.length, unchanged: files.length - work.length, work },
    isCut: listing.isCut,
    gone: [...known.keys()].filter((path) => !there.has(path)),
  };
};

const planPush = async (run: Run): Promise<Planned> => {
  const { parts, connector, place, signal } = run;
  const all = await filesOf(run, null);
  const files = all.slice(0, mostPlaced);
  const listing = await place.list(signal);
  const stamps = new Map(listing.files.map(({ path, stamp }) => [path, stamp]));
  const known = await readEntries(parts.db, connector.id);
  const work = files.flatMap(({ path, digest, bytes, contentType }): Work[] => {
    const before = known.get(path);
    // If there are more files than were listed, a file that an earlier sync wrote counts as present if it is not listed.
    const isThere = stamps.get(path) === before?.stamp || (listing.isCut && !stamps.has(path));
    if (before !== undefined && before.digest === digest && isThere) return [];
    const bring = async (): Promise<SyncEntry> => {
      const file = { bytes, contentType, read: () => parts.blobs.read(digest) };
      return { path, digest, stamp: await place.write(path, file, signal) };
    };
    return [{ path, bytes, bring }];
  });
  const there = new Set(files.map(({ path }) => path));
  return {
    ...{ found: files.length, unchanged: files.length - work.length, work },
    isCut: all.length > files.length,
    gone: [...known.keys()].filter((path) => !there.has(path)),
  };
};

/** Copies the planned files, several at once, until the time is up. */
const bringOver = async (
  run: Run,
  planned: Planned,
): Promise<SyncAnswer['capture'] & { files: number }> => {
  const { parts, connector, signal, warn } = run;
  const { found, unchanged, work } = planned;
  const done = { files: 0, failed: 0, bytes: 0 };
  const endsAt = performance.now() + beginMs;
  let isOver = false;
  const queue = work.values();
  const take = async (): Promise<void> => {
    while (!isOver && !signal.aborted && performance.now() < endsAt) {
      const { value: next } = queue.next();
      if (next === undefined) return;
      try {
        await putEntry(parts.db, connector.id, await next.bring());
        done.files += 1;
        done.bytes += next.bytes;
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'internal') throw error;
        done.failed += 1;
        warn(next.path, error.message);
        // If the quota is exhausted, the remaining files do not fit either.
        if (error.code === 'exhausted') isOver = true;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, take));
  const failure = ended.find((each) => each.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return { ...done, found, unchanged, left: work.length - done.files - done.failed };
};

const statusOf = (capture: SyncAnswer['capture'] & { files: number }): SyncAnswer['status'] => {
  if (capture.failed > 0) return 'failed';
  return capture.left > 0 ? 'partial' : 'complete';
};

const nothingDone = { found: 0, unchanged: 0, failed: 0, left: 0, bytes: 0 };

const sync = async (
  parts: SyncParts,
  connector: FileConnectorRow,
  signal: AbortSignal,
): Promise<SyncAnswer> => {
  const warnings: SyncAnswer['warnings'] = [];
  const warn = (path: string, message: string): void => {
    if (warnings.length < mostWarnings) warnings.push({ path, message });
  };
  try {
    const place = await openPlace(parts, connector);
    try {
      const run: Run = { parts, connector, place, signal, warn };
      const planned = await (connector.direction === 'pull' ? planPull(run) : planPush(run));
      if (planned.isCut) {
        warn(
          '',
          `there are more than ${mostPlaced} files: the others are left out; create connectors for parts of the folder or bucket`,
        );
      }
      const { files, ...capture } = await bringOver(run, planned);
      const status = statusOf({ ...capture, files });
      if (status === 'complete' && !planned.isCut) {
        await dropEntries(parts.db, connector.id, planned.gone);
      }
      return { files, status, capture, warnings };
    } finally {
      place.close();
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error;
    warn('', error.message);
    return { files: 0, status: 'failed', capture: nothingDone, warnings };
  }
};

/**
 * Syncs a connector of the project. Throws `invalid` if agents may not sync the connector, and `conflict` if it is
 * being synced already.
 */
export const syncConnector = async (
  parts: SyncParts,
  projectId: string,
  id: string,
): Promise<SyncAnswer> => {
  const { db, log } = parts;
  const connector = await getConnector(db, projectId, id);
  if (!connector.agentAccess) {
    const message = `the connector "${connector.name}" is not open to agents: set its agentAccess`;
    throw new AppError('invalid', message, {
      fields: [{ path: ['connectorId'], message: 'names a connector that agents may not sync' }],
    });
  }
  const syncId = newId('syn');
  const claimed = await db.transaction((tx) => claimSync(tx, { projectId, id, syncId }));
  if (claimed === 'busy') {
    throw new AppError(
      'conflict',
      `the connector "${connector.name}" is already being synced; wait for that sync to end`,
    );
  }
  if (claimed === 'full') {
    const message = 'the maximum number of connectors is being synced: try again in a moment';
    throw new AppError('exhausted', message, { detail: { retryAfterMs: 5_000 } });
  }
  const renewing = setInterval(() => {
    renewSync(db, id, syncId).catch((err: unknown) =>
      log.warn({ err, id }, 'the claim of a sync was not renewed'),
    );
  }, renewEveryMs);
  let status: SyncAnswer['status'] = 'failed';
  try {
    const answer = await sync(parts, connector, AbortSignal.timeout(wholeMs));
    status = answer.status;
    return answer;
  } finally {
    clearInterval(renewing);
    await endSync(db, { id, syncId, status });
  }
};
