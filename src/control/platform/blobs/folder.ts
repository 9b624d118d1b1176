/**
 * Stores blobs as files in a folder. A file gets its name only when it is complete and flushed, so readers never see a
 * partial file.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  access,
  copyFile,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import { makeFolders } from '#runtime/folders.ts';
import {
  type AwaitedBlob,
  type Blobs,
  checkBytes,
  checkStream,
  digestOf,
  measureFile,
  missing,
  pathOf,
} from './blobs.ts';

/** Returns the error code of the operating system, such as `ENOSPC`. */
const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** Returns true if a write failed for lack of disk space or quota. */
const isFull = (error: unknown): boolean => /^(?:ENOSPC|EDQUOT)$/.test(String(codeOf(error)));

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';

const sizeOf = async (path: string): Promise<number | undefined> => {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

const flush = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Writes a temporary file next to the target file, flushes it, checks its size, and renames it. */
const writeWhole = async (
  path: string,
  bytes: number,
  write: (part: string) => Promise<void>,
): Promise<void> => {
  const part = `${path}.${randomBytes(6).toString('hex')}.part`;
  try {
    await write(part);
    await flush(part);
    const written = await sizeOf(part);
    if (written !== bytes) throw new Error(`${part} has ${written} of ${bytes} bytes`);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  await flush(dirname(path));
};

/**
 * Name and content of the file that is written to test for free disk space. It has a full block, because empty files
 * can be created even on a full disk.
 */
const triedName = '.room';
const triedBytes = new Uint8Array(4_096).fill(1);

const tryWriting = async (path: string): Promise<void> => {
  try {
    await writeFile(path, triedBytes);
  } finally {
    await rm(path, { force: true });
  }
};

/** Age, in milliseconds, from which a partial file cannot belong to a write that is still running. */
const deadPartMs = 60 * 60_000;

/** Removes partial files that interrupted writes left behind. */
const removeParts = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    const parts = (await readdir(join(folder, name))).filter((file) => file.endsWith('.part'));
    for (const part of parts.map((file) => join(folder, name, file))) {
      const found = await stat(part).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      if (found !== undefined && Date.now() - found.mtimeMs > deadPartMs) {
        await rm(part, { force: true });
      }
    }
  }
};

/**
 * Opens the store in a folder, which is created if needed. A full disk is no error, because blobs can still be read.
 */
export const openFolderBlobs = async (folder: string): Promise<Blobs> => {
  const location = `the folder ${folder}`;
  const fileOf = (digest: Digest): string => join(folder, pathOf(digest));
  const unwritable = (cause: unknown): AppError => {
    const code = codeOf(cause) ?? 'for an unknown reason';
    const detail = isFull(cause) ? { full: 'blobs' } : {};
    const message = `blobs cannot be written to ${folder} (${code})`;
    return new AppError('unavailable', message, { cause, detail });
  };
  const check = async (): Promise<void> => {
    try {
      // The trailing dot makes the path invalid unless it is a folder; a plain file there would also be writable.
      await access(`${folder}/.`, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (cause) {
      throw unwritable(cause);
    }
  };
  const store = async (
    { digest, bytes }: AwaitedBlob,
    write: (part: string) => Promise<void>,
  ): Promise<void> => {
    const path = fileOf(digest);
    try {
      if ((await sizeOf(path)) === bytes) return;
      await makeFolders(dirname(path));
      await writeWhole(path, bytes, write);
    } catch (cause) {
      throw unwritable(cause);
    }
  };
  try {
    await makeFolders(folder);
    await removeParts(folder);
  } catch (cause) {
    throw new AppError('unavailable', `the blob folder ${folder} cannot be created`, { cause });
  }
  await check();
  return {
    location,
    isShared: false,
    check,
    async checkDiskSpace() {
      try {
        await tryWriting(join(folder, triedName));
      } catch (cause) {
        throw unwritable(cause);
      }
    },
    async space() {
      const { bavail, blocks, bsize } = await statfs(folder);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    },
    async put(bytes) {
      const digest = digestOf(bytes);
      await store({ digest, bytes: bytes.byteLength }, (part) =>
        writeFile(part, bytes, { flag: 'wx' }),
      );
      return digest;
    },
    async putFile(path) {
      const measured = await measureFile(path);
      await store(measured, (part) => copyFile(path, part, constants.COPYFILE_FICLONE));
      return measured.digest;
    },
    async read(digest) {
      const file = await open(fileOf(digest)).catch((error: unknown) => {
        throw isMissing(error) ? missing(digest, error) : error;
      });
      return checkStream(location, digest, file.createReadStream());
    },
    async get(digest) {
      const bytes = await readFile(fileOf(digest)).catch((error: unknown) => {
        throw isMissing(error) ? missing(digest, error) : error;
      });
      return checkBytes(location, digest, bytes);
    },
    async remove(digest) {
      try {
        await rm(fileOf(digest), { force: true });
      } catch (cause) {
        throw unwritable(cause);
      }
    },
    async size(digest) {
      const bytes = await sizeOf(fileOf(digest));
      if (bytes === undefined) throw missing(digest);
      return bytes;
    },
  };
};
