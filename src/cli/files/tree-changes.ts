/**
 * Plans the effect of a pull on a folder: the files to write and remove, and those that were changed on this machine
 * since the folder's recorded version. Paths that differ only in case may be one file on this machine.
 */
import { lstatSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import { foldPath } from '#domain/tree-path.ts';
import type { Context } from '../terminal/context.ts';
import { sha256Of } from './digest.ts';

type FileEntry = { path: string; sha256: string };

export type PullPlan = {
  /** Files of the version that are missing in the folder or differ there. */
  write: FileEntry[];
  /** Paths of files that the version no longer has. They are removed before any file is written. */
  remove: string[];
  /** Paths of those files in `write` and `remove` that were changed in the folder. */
  changedHere: string[];
};

/** Entry at a path: the digest of a file, a folder, another kind of entry, or nothing. */
type Found = string | 'folder' | 'other' | undefined;

const findAt = (root: string, path: string): Found => {
  const target = join(root, path);
  try {
    const found = lstatSync(target, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (found.isDirectory()) return 'folder';
    return found.isFile() ? sha256Of(readFileSync(target)) : 'other';
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A file stands where a folder is expected. The caller judges it when it writes below that folder.
    if (code === 'ENOTDIR') return undefined;
    throw new AppError('invalid', `cannot read ${target}`, { cause });
  }
};

/** Compares a folder with the wanted version, and with the recorded version of the folder. */
export const planPull = (
  context: Context,
  folder: string,
  wanted: readonly FileEntry[],
  noted: readonly FileEntry[],
): PullPlan => {
  const root = resolve(context.cwd, folder);
  const was = new Map(noted.map(({ path, sha256 }) => [foldPath(path), sha256]));
  const wantedPaths = new Set(wanted.map(({ path }) => path));
  const changedHere: string[] = [];
  /**
   * Returns true if the entry is a file or link that the recorded version does not have, or has with other contents.
   */
  const isChanged = (path: string, found: Found): boolean =>
    found !== undefined && found !== 'folder' && found !== was.get(foldPath(path));
  const remove = noted.flatMap(({ path }) => {
    if (wantedPaths.has(path)) return [];
    const found = findAt(root, path);
    // The contents of a folder that replaced the file do not belong to the version.
    if (found === undefined || found === 'folder') return [];
    if (isChanged(path, found)) changedHere.push(path);
    return [path];
  });
  // If the disk ignores case, removing one spelling removes the other.
  const removed = new Set(remove.map(foldPath));
  const write = wanted.filter(({ path, sha256 }) => {
    const found = findAt(root, path);
    if (found === sha256) return removed.has(foldPath(path));
    if (isChanged(path, found) && !changedHere.includes(path)) changedHere.push(path);
    return true;
  });
  return { write, remove, changedHere };
};
