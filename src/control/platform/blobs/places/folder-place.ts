/**
 * Folder on this machine as an external source or target of files. It lies within the project's own folder, below the
 * folder that the operator configured. Symbolic links are not followed, neither on the way to the folder nor inside it,
 * and only plain files are read.
 */
import { randomBytes } from 'node:crypto';
import { constants, createWriteStream, type Dirent } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError } from '#domain/error.ts';
import { filePathLimits } from '#domain/file-path.ts';
import { type Listing, mostPlaced, type Outgoing, type Place } from './place.ts';

/** Name pattern of files that are still being written. */
const partForm = /^\.svc-[0-9a-f]{12}\.part$/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

const unusable = (location: string, reason: string, cause?: unknown): AppError =>
  new AppError('unavailable', `${location} cannot be used: ${reason}`, { cause });

/** Opens the named folders one inside the other, and rejects symbolic links. With `make`, creates missing folders. */
const descend = async (
  base: string,
  names: readonly string[],
  { make }: { make: boolean },
): Promise<string> => {
  let at = base;
  for (const name of names) {
    at = join(at, name);
    if (make) {
      await mkdir(at).catch((error: unknown) => {
        if (codeOf(error) !== 'EEXIST') throw error;
      });
    }
    const found = await lstat(at).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
      throw unusable(at, 'there is no such folder');
    });
    if (found.isDirectory()) continue;
    throw unusable(
      at,
      found.isSymbolicLink() ? 'it is a symbolic link, which is not followed' : 'it is no folder',
    );
  }
  return at;
};

const stampOf = ({ mtimeNs, size }: { mtimeNs: bigint; size: bigint }): string =>
  `${mtimeNs}-${size}`;

const kindOf = (entry: Dirent): string =>
  entry.isSymbolicLink() ? 'a symbolic link, which is not followed' : 'neither a file nor a folder';

const look = async (folder: string, above: string, found: Listing): Promise<void> => {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    const path = `${above}${entry.name}`;
    if (found.files.length >= mostPlaced) {
      found.isCut = true;
      return;
    }
    if (entry.isDirectory()) {
      if (path.split('/').length < filePathLimits.depth) {
        await look(join(folder, entry.name), `${path}/`, found);
      } else {
        found.warnings.push({
          path,
          message: `lies ${filePathLimits.depth} folders deep, which is too deep to be listed`,
        });
      }
    } else if (!entry.isFile()) {
      found.warnings.push({ path, message: `is ${kindOf(entry)}` });
    } else if (!partForm.test(entry.name)) {
      const facts = await lstat(join(folder, entry.name), { bigint: true });
      found.files.push({ path, bytes: Number(facts.size), stamp: stampOf(facts) });
    }
  }
};

/**
 * Opens a plain file for reading. Throws `unavailable` if there is a symbolic link on the way to its folder, or if the
 * path does not lead to a plain file.
 */
const openPlain = async (path: string) => {
  const folder = dirname(path);
  if ((await realpath(folder)) !== folder)
    throw unusable(path, 'a symbolic link is on the path to it');
  // Without O_NONBLOCK, opening a named pipe would block.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw unusable(path, 'it is no plain file');
};

const writeWhole = async (path: string, { read }: Outgoing, signal: AbortSignal): Promise<void> => {
  const part = join(dirname(path), `.svc-${randomBytes(6).toString('hex')}.part`);
  try {
    await pipeline(await read(), createWriteStream(part, { flags: 'wx' }), { signal });
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
};

/**
 * Opens the folder `names` below the folder `below`. The folder `below` must exist, and may itself be a symbolic link.
 * With `make`, which is set for targets, creates the folder `names` if it is missing.
 */
export const openFolderPlace = async (
  below: string,
  names: readonly string[],
  { make }: { make: boolean },
): Promise<Place> => {
  const location = join(below, ...names);
  /** Runs a function. If the function fails, throws `unavailable` with the folder and the reason. */
  const doing = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw unusable(location, codeOf(error) || 'for an unknown reason', error);
    }
  };
  const top = await doing(async () => descend(await realpath(below), names, { make }));
  return {
    location,
    list: () =>
      doing(async () => {
        const found: Listing = { files: [], warnings: [], isCut: false };
        await look(top, '', found);
        return found;
      }),
    read: (path) =>
      doing(async () => {
        const file = await openPlain(join(top, path));
        return { stream: file.createReadStream(), contentType: undefined };
      }),
    write: (path, file, signal) =>
      doing(async () => {
        const folder = await descend(top, path.split('/').slice(0, -1), { make: true });
        const at = join(folder, path.split('/').at(-1) ?? '');
        await writeWhole(at, file, signal);
        return stampOf(await lstat(at, { bigint: true }));
      }),
    close: () => undefined,
  };
};
