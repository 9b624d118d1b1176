/**
 * Measures the files of a folder and evicts some if a new file needs disk space. It evicts only files to which no
 * process has a link of its own, the least recently used first.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, unless } from './file-errors.ts';

type Kept = { path: string; inode: number; bytes: number; usedMs: number; isHeld: boolean };

const statOf = async (path: string): Promise<Kept | undefined> => {
  const found = await stat(path).catch(unless(isMissing));
  if (found === undefined) return undefined;
  const { ino: inode, size: bytes, atimeMs: usedMs, nlink } = found;
  return { path, inode, bytes, usedMs, isHeld: nlink > 1 };
};

const statAll = async (folder: string): Promise<Kept[]> => {
  const names = (await readdir(folder).catch(unless(isMissing))) ?? [];
  const found = await Promise.all(names.map((name) => statOf(join(folder, name))));
  return found.filter((file) => file !== undefined);
};

export type SpaceRequest = {
  /** Folder of the files, and the folders of the processes that hold or write files. */
  files: string;
  holders: readonly string[];
  /** File that is being written, and the size that it may reach, in bytes. */
  path: string;
  bytes: number;
  /** Size budget of all files together, in bytes. */
  mostBytes: number;
};

/** Removes files until there is enough disk space; returns true if that succeeds. */
export const makeSpace = async (wanted: SpaceRequest): Promise<boolean> => {
  const { files, holders, path, bytes, mostBytes } = wanted;
  const kept = await statAll(files);
  const others = (await Promise.all(holders.map(statAll))).flat();
  const sizes = new Map(
    [...kept, ...others]
      .filter((file) => file.path !== path)
      .map((file) => [file.inode, file.bytes]),
  );
  let total = [...sizes.values()].reduce((sum, size) => sum + size, bytes);
  const loose = kept.filter(({ isHeld }) => !isHeld).sort((a, b) => a.usedMs - b.usedMs);
  for (const file of loose) {
    if (total <= mostBytes) break;
    await rm(file.path, { force: true });
    total -= file.bytes;
  }
  return total <= mostBytes;
};
