/**
 * What a pull does to a folder: which files it writes and removes, and which it may not touch, as they were changed
 * there since the version that the folder was noted to hold. Paths that differ by case alone may be one file here.
 */
import { lstatSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import { foldPath } from '#domain/tree-path.ts';
import type { Context } from '../terminal/context.ts';
import { sha256Of } from './digest.ts';

type FileEntry = { path: string; sha256: string };

export type PullPlan = {
  /** Files of the version that the folder lacks, or has otherwise. */
  write: FileEntry[];
  /** Paths of files that the version has no more. They go before any is written. */
  remove: string[];
  /** Paths of files of both kinds that were changed in the folder. */
  changedHere: string[];
};

/** What stands at a path: the digest of a file, or that there is a folder, something else, or nothing. */
type Found = string | 'folder' | 'other' | undefined;

const lookAt = (root: string, path: string): Found => {
  const target = join(root, path);
  try {
    const found = lstatSync(target, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (found.isDirectory()) return 'folder';
    return found.isFile() ? sha256Of(readFileSync(target)) : 'other';
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A file where a folder should be: what is written below it is judged then.
    if (code === 'ENOTDIR') return undefined;
    throw new AppError('invalid', `cannot read ${target}`, { cause });
  }
};

/** Compares a folder with the version that it is to hold, and the one that it was noted to hold. */
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
  /** Whether there is a file which the version knew otherwise, or not at all. */
  const isChanged = (path: string, found: Found): boolean =>
    found !== undefined && found !== 'folder' && found !== was.get(foldPath(path));
  const remove = noted.flatMap(({ path }) => {
    if (wantedPaths.has(path)) return [];
    const found = lookAt(root, path);
    // What is in a folder that took the file's place is not the version's.
    if (found === undefined || found === 'folder') return [];
    if (isChanged(path, found)) changedHere.push(path);
    return [path];
  });
  // Where case makes no difference, removing the one spelling removes the other.
  const removed = new Set(remove.map(foldPath));
  const write = wanted.filter(({ path, sha256 }) => {
    const found = lookAt(root, path);
    if (found === sha256) return removed.has(foldPath(path));
    if (isChanged(path, found) && !changedHere.includes(path)) changedHere.push(path);
    return true;
  });
  return { write, remove, changedHere };
};
