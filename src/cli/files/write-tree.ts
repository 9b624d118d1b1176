/**
 * Writes files of a world into its folder. Each is written beside its place and then moved there, so
 * that nobody reads half a file; a link in the way is refused, as it could lead out of the folder.
 */
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import { createPathCheck, showPath } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Context } from '../terminal/context.ts';

/** Does something to a path; a failure names it. */
const touch = <Value>(path: string, act: () => Value): Value => {
  try {
    return act();
  } catch (cause) {
    throw new AppError('invalid', `cannot write ${path}`, { cause });
  }
};

/** Refuses to write through a link, and to write a file where a folder is. */
const refuseInTheWay = (root: string, path: string): void => {
  const parts = path.split('/');
  for (const [index] of parts.entries()) {
    const place = parts.slice(0, index + 1).join('/');
    const target = join(root, place);
    const found = touch(target, () => lstatSync(target, { throwIfNoEntry: false }));
    const isLast = index === parts.length - 1;
    if (found === undefined || (isLast ? found.isFile() : found.isDirectory())) continue;
    const what = found.isSymbolicLink() ? 'a link' : `not a ${isLast ? 'file' : 'folder'}`;
    throw new AppError('invalid', `cannot write ${path}: ${place} is ${what}; remove it first`);
  }
};

const writeOne = (root: string, { path, content }: TreeFile): void => {
  const target = join(root, path);
  const beside = join(dirname(target), `.svc-${randomUUID()}`);
  touch(target, () => {
    mkdirSync(dirname(target), { recursive: true });
    try {
      writeFileSync(beside, content, { flag: 'wx' });
      renameSync(beside, target);
    } finally {
      rmSync(beside, { force: true });
    }
  });
};

/** A hidden folder beside a tree's files, for what only editors read. */
export const typesFolder = '.types';

/** Refuses paths that a tree may not hold: they could name a device, or something outside of the folder. */
const refusePaths = (paths: readonly string[]): void => {
  const faultOf = createPathCheck();
  const own = `${typesFolder}/`;
  for (const path of paths) {
    const fault = faultOf(path.startsWith(own) ? path.slice(own.length) : path);
    if (fault === undefined) continue;
    throw new AppError('invalid', `cannot write ${showPath(path)}: the path ${fault}`);
  }
};

/**
 * Writes the files below a folder as the user named it, which is made when it is not there. Nothing is
 * written when one of them may not be.
 */
export const writeTree = (context: Context, folder: string, files: readonly TreeFile[]): void => {
  const root = resolve(context.cwd, folder);
  refusePaths(files.map(({ path }) => path));
  for (const { path } of files) refuseInTheWay(root, path);
  for (const file of files) writeOne(root, file);
};

/** Removes files below a folder. */
export const removeFiles = (context: Context, folder: string, paths: readonly string[]): void => {
  const root = resolve(context.cwd, folder);
  refusePaths(paths);
  for (const path of paths) {
    refuseInTheWay(root, path);
    const target = join(root, path);
    touch(target, () => rmSync(target, { force: true }));
  }
};
