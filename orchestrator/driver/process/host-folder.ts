/**
 * The folder of a host on the process runtime. While it exists the host's "container" exists, dead or alive, as a
 * stopped container does on Docker. It holds the host's output and its temporary files, and nothing that must survive.
 * All folders of an installation are in one folder, closed to other users.
 */
import {
  type FileHandle,
  lstat,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import { type LedgerMark, readLedgerMark } from '#domain/ledger.ts';
import { makeFolders } from '#runtime/folders.ts';

const outputName = 'output.log';
/** File in which a host records the last entry of its session's ledger. */
export const ledgerMarkName = 'ledger-mark';
/** Size of a host's output from which it is cut down to its tail. */
const outputLimitBytes = 1024 * 1024;
const tailBytes = 8 * 1024;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Returns the folder that holds the hosts' folders of one installation. */
export const installationFolder = (temporaryDir: string, installation: string): string =>
  join(temporaryDir, `svc-${installation}`);

/** Creates the folder of an installation. Throws `forbidden` when another user owns its path. */
export const makeInstallationFolder = async (folder: string): Promise<void> => {
  await makeFolders(folder, { mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== userInfo().uid) {
    throw new AppError('forbidden', `${folder} exists but is not a folder of this user; remove it`);
  }
};

/** Creates a host's folder unless it exists. */
export const makeHostFolder = async (folder: string): Promise<void> => {
  await makeFolders(folder, { mode: 0o700 });
};

/** Returns the names of the hosts that have a folder. */
export const listHostFolders = async (installation: string): Promise<string[]> => {
  try {
    const entries = await readdir(installation, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 3 });

/**
 * Creates the file for a host's output, opened to append, so that truncation leaves no hole. Returns undefined when it
 * exists: the caller that creates it is the one that starts the host.
 */
export const openOutput = async (folder: string): Promise<FileHandle | undefined> => {
  try {
    return await open(join(folder, outputName), 'ax', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
};

/** Returns the tail of a host's output; empty when there is none. */
export const readOutputTail = async (folder: string): Promise<string> => {
  let file: FileHandle;
  try {
    file = await open(join(folder, outputName), 'r');
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, start);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
};

/** Cuts a host's output down to its tail when it is over the limit; returns false when there is none yet. */
export const boundOutput = async (folder: string): Promise<boolean> => {
  const path = join(folder, outputName);
  try {
    if ((await stat(path)).size <= outputLimitBytes) return true;
    const tail = await readOutputTail(folder);
    await truncate(path, 0);
    await writeFile(path, tail, { flag: 'a' });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
};

/** Reads the ledger mark that a host left; returns undefined when it left none. */
export const readMark = async (folder: string): Promise<LedgerMark | undefined> => {
  try {
    return readLedgerMark(await readFile(join(folder, ledgerMarkName), 'utf8'));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};
