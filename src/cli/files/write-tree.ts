/**
 * Writes files of a world into its folder, and removes others. All files are first written under temporary names and
 * then renamed. So readers never see an incomplete file, and if the disk is full, no file is lost. A link in the path
 * of a file is refused, since it could lead out of the folder. All checks are made before the first change.
 */
import { randomUUID } from 'node:crypto';
import {
  lstatSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import { createPathCheck, foldPath, showPath } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import { makeFoldersSync } from '#runtime/folders.ts';
import type { Context } from '../terminal/context.ts';

/** Runs an operation on a path. If the operation fails, its error names the path. */
const touch = <Value>(path: string, act: () => Value): Value => {
  try {
    return act();
  } catch (cause) {
    throw new AppError('invalid', `cannot write ${path}`, { cause });
  }
};

const inTheWay = (path: string, place: string, what: string): AppError =>
  new AppError('invalid', `cannot write ${path}: ${place} is ${what}; remove it first`);

/** Returns a path and its parent folders, outermost first. */
const placesOf = (path: string): string[] =>
  path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));

/**
 * Searches a folder for files that will not be removed. Returns the path of the first one; undefined if there is none.
 */
const findLeft = (
  root: string,
  folder: string,
  goes: (path: string) => boolean,
): string | undefined => {
  const target = join(root, folder);
  for (const entry of touch(target, () => readdirSync(target, { withFileTypes: true }))) {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory() && !goes(path)) return path;
    const left = entry.isDirectory() ? findLeft(root, path, goes) : undefined;
    if (left !== undefined) return left;
  }
  return undefined;
};

/** Refuses to write through a link, and to replace an entry that is not a file and will not be removed. */
const refuseInTheWay = (root: string, path: string, goes: (path: string) => boolean): void => {
  for (const place of placesOf(path)) {
    const target = join(root, place);
    const found = touch(target, () => lstatSync(target, { throwIfNoEntry: false }));
    if (found === undefined || (found.isFile() && goes(place))) return;
    const isLast = place === path;
    if (found.isSymbolicLink()) throw inTheWay(path, place, 'a link');
    if (found.isDirectory()) {
      const left = isLast ? findLeft(root, place, goes) : undefined;
      if (left === undefined) continue;
      throw inTheWay(path, place, `a folder, and ${showPath(left)} in it belongs to no version`);
    }
    if (!isLast || !found.isFile()) {
      throw inTheWay(path, place, `not a ${isLast ? 'file' : 'folder'}`);
    }
  }
};

/** Refuses to remove anything that is not a file, or that is outside of the folder. */
const refuseRemoval = (root: string, path: string): void => {
  for (const place of placesOf(path)) {
    const target = join(root, place);
    const found = touch(target, () => lstatSync(target, { throwIfNoEntry: false }));
    if (found === undefined) return;
    const isLast = place === path;
    if (isLast ? found.isFile() : found.isDirectory()) continue;
    const what = found.isSymbolicLink() ? 'a link' : `not a ${isLast ? 'file' : 'folder'}`;
    throw inTheWay(path, place, what);
  }
};

/** Writes a file under a temporary name and renames it. Renaming replaces an existing entry and follows no link. */
export const writeInPlace = (target: string, content: string | Uint8Array): void => {
  const beside = join(dirname(target), `.svc-${randomUUID()}`);
  touch(target, () => {
    makeFoldersSync(dirname(target));
    try {
      writeFileSync(beside, content, { flag: 'wx' });
      renameSync(beside, target);
    } finally {
      rmSync(beside, { force: true });
    }
  });
};

/** Removes a folder that contains only folders. */
const removeFolders = (target: string): void => {
  for (const name of readdirSync(target)) removeFolders(join(target, name));
  rmdirSync(target);
};

/** Replaces a file that the user named. A device or a pipe is written to directly. */
export const replaceFile = (target: string, content: string | Uint8Array): void => {
  const found = touch(target, () => statSync(target, { throwIfNoEntry: false }));
  if (found === undefined || found.isFile()) writeInPlace(target, content);
  else touch(target, () => writeFileSync(target, content));
};

/** Renames a temporary file to its final path. */
const moveOne = (root: string, path: string, beside: string): void => {
  const target = join(root, path);
  const found = touch(target, () => lstatSync(target, { throwIfNoEntry: false }));
  touch(target, () => {
    if (found?.isDirectory()) removeFolders(target);
    makeFoldersSync(dirname(target));
    renameSync(beside, target);
  });
};

/** Removes a file, and those parent folders that become empty. */
const removeOne = (root: string, path: string): void => {
  const [target, ...folders] = placesOf(path)
    .map((place) => join(root, place))
    .reverse();
  if (target === undefined) return;
  touch(target, () => rmSync(target, { force: true }));
  for (const folder of folders) {
    const isEmpty = touch(folder, () => {
      const found = lstatSync(folder, { throwIfNoEntry: false });
      return found === undefined || readdirSync(folder).length === 0;
    });
    if (!isEmpty) return;
    touch(folder, () => rmSync(folder, { recursive: true, force: true }));
  }
};

/** Hidden folder next to a tree's files, for files that only editors read. */
export const typesFolder = '.types';

/** Refuses paths that a tree must not contain, because they could name a device, or an entry outside of the folder. */
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
 * Returns a function that checks whether a path is one of the files to remove. On a disk that ignores case, the path
 * may be spelled differently.
 */
const goingOf = (root: string, remove: readonly string[]): ((place: string) => boolean) => {
  const going = new Map(remove.map((path) => [foldPath(path), path]));
  const numberOf = (path: string): number | undefined =>
    touch(path, () => lstatSync(join(root, path), { throwIfNoEntry: false })?.ino);
  return (place) => {
    const path = going.get(foldPath(place));
    if (path === undefined || path === place) return path === place;
    return numberOf(path) === numberOf(place);
  };
};

/** Changes to the files of a folder. */
export type TreeChanges = { write: readonly TreeFile[]; remove: readonly string[] };

/**
 * Removes files below a folder that the user named, with folders that become empty, and writes other files. Creates the
 * folder if it does not exist. If one path is refused, nothing is changed.
 */
export const changeTree = (
  context: Context,
  folder: string,
  { write, remove }: TreeChanges,
): void => {
  const root = resolve(context.cwd, folder);
  refusePaths(write.map(({ path }) => path));
  refusePaths(remove);
  const goes = goingOf(root, remove);
  for (const path of remove) refuseRemoval(root, path);
  for (const { path } of write) refuseInTheWay(root, path, goes);
  // The disk may be full, so all files are written before any is removed.
  const staging = join(root, `.svc-${randomUUID()}`);
  try {
    if (write.length > 0) touch(root, () => makeFoldersSync(staging));
    const besideOf = (index: number): string => join(staging, String(index));
    for (const [index, { path, content }] of write.entries()) {
      touch(join(root, path), () => writeFileSync(besideOf(index), content, { flag: 'wx' }));
    }
    for (const path of remove) removeOne(root, path);
    for (const [index, { path }] of write.entries()) moveOne(root, path, besideOf(index));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
};

/** Writes files below a folder, under the rules of `changeTree`. */
export const writeTree = (context: Context, folder: string, write: readonly TreeFile[]): void =>
  changeTree(context, folder, { write, remove: [] });
