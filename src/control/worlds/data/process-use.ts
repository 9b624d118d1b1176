/**
 * What an import process takes: memory of its own, and room on the disk, also of files that have no name any more,
 * as SQLite's temporary ones. Nothing here waits on the loop that requests share.
 */
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Memory that is the process's own, in bytes; 0 where it has ended, or the system does not tell. */
export const memoryOf = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kib = '0'] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? [];
  return Number(kib) * 1024;
};

/** A file may be removed between being listed and being looked at. */
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

/** Files that a process holds open and that have no name: nobody finds them in a folder. */
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

/** What a process takes on the disk with what lies in a folder, in bytes. */
export const diskOf = async (pid: number, folder: string): Promise<number> =>
  (await namedBytes(folder)) + (await unnamedBytes(pid));
