/**
 * What a pull does to a folder: which files it writes and removes, and which it may not touch, as they were changed
 * there since the version that the folder was noted to hold.
 */
import { lstatSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import type { Context } from '../terminal/context.ts';
import { sha256Of } from './digest.ts';

type FileEntry = { path: string; sha256: string };

export type PullPlan = {
  /** Files of the version that the folder lacks, or has otherwise. */
  write: FileEntry[];
  /** Paths of files that the version has no more. */
  remove: string[];
  /** Paths of files of both kinds that were changed in the folder. */
  changedHere: string[];
};

/** The digest of what stands at a path; undefined when nothing does, '' when it is no file. */
const digestAt = (root: string, path: string): string | undefined => {
  const target = join(root, path);
  try {
    const found = lstatSync(target, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    return found.isFile() ? sha256Of(readFileSync(target)) : '';
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A file where a folder should be: writing below it is refused by name later.
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
  const was = new Map(noted.map(({ path, sha256 }) => [path, sha256]));
  const wantedPaths = new Set(wanted.map(({ path }) => path));
  const changedHere: string[] = [];
  const isChanged = (path: string, digest: string | undefined): boolean =>
    digest !== undefined && digest !== was.get(path);
  const write = wanted.filter(({ path, sha256 }) => {
    const digest = digestAt(root, path);
    if (digest === sha256) return false;
    if (isChanged(path, digest)) changedHere.push(path);
    return true;
  });
  const remove = noted.flatMap(({ path }) => {
    if (wantedPaths.has(path)) return [];
    const digest = digestAt(root, path);
    if (digest === undefined) return [];
    if (isChanged(path, digest)) changedHere.push(path);
    return [path];
  });
  return { write, remove, changedHere };
};
