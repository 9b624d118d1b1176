/**
 * Measures what an import process uses: private memory, and disk space, which includes deleted files that are still
 * open, such as the temporary files of SQLite. No measurement blocks the event loop that requests share.
 */
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Returns the private memory of a process, in bytes; 0 if the process has ended or the operating system does not report
 * it.
 */
export const memoryOf = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kib = '0'] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? [];
  return Number(kib) * 1024;
};

/** Returns the size of a file in bytes; 0 if the file was removed after it was listed. */
const sizeIfThere = async (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

const namedBytes = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (): Dirent[] => [], // not made yet
  );
  let bytes = 0;
  for (const entry of entries) {
    if (entry.isFile()) bytes += await sizeIfThere(join(entry.parentPath, entry.name));
  }
  return bytes;
};

/** Returns the total size of the deleted files that a process still has open, in bytes. No folder lists these files. */
const unnamedBytes = async (pid: number): Promise<number> => {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch((): string[] => []); // ended, or no Linux
  let bytes = 0;
  for (const name of names) {
    const found = await stat(join(folder, name)).catch(() => undefined); // closed meanwhile
    if (found?.isFile() === true && found.nlink === 0) bytes += found.size;
  }
  return bytes;
};

/** Returns the disk space that a process and a folder use together, in bytes. */
export const diskOf = async (pid: number, folder: string): Promise<number> =>
  (await namedBytes(folder)) + (await unnamedBytes(pid));
