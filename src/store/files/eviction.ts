/**
 * How much the files of a folder take, and which of them go when others need the room: those that nobody has
 * a link of their own to, the one first that was not used for longest.
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

export type RoomWanted = {
  /** Where the files are, and the folders of those who hold some or write some. */
  files: string;
  holders: readonly string[];
  /** The file that is being written, and how large it may become. */
  path: string;
  bytes: number;
  /** Of all files together. */
  mostBytes: number;
};

/** Removes files until there is room. Tells whether there is. */
export const makeRoom = async (wanted: RoomWanted): Promise<boolean> => {
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
