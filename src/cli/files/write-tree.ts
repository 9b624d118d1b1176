/**
 * Writes files of a world into its folder, and takes others away. All are written beside their places first and then
 * moved there, so that no half of a file is ever read and nothing goes for which there is no room to replace it; a link in the way is refused, as it could lead out of the folder.
 * Whatever is refused is refused before anything is touched.
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

/** Does something to a path; a failure names it. */
const touch = <Value>(path: string, act: () => Value): Value => {
  try {
    return act();
  } catch (cause) {
    throw new AppError('invalid', `cannot write ${path}`, { cause });
  }
};

const inTheWay = (path: string, place: string, what: string): AppError =>
  new AppError('invalid', `cannot write ${path}: ${place} is ${what}; remove it first`);

/** A path and the folders that it lies in, from the outermost. */
const placesOf = (path: string): string[] =>
  path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));

/** The first thing in a folder that does not go; undefined when it is empty once they are gone. */
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

/** Refuses to write through a link, and over what is no file and does not go. */
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
      throw inTheWay(path, place, `a folder, and ${showPath(left)} in it is of no version`);
    }
    if (!isLast || !found.isFile()) {
      throw inTheWay(path, place, `not a ${isLast ? 'file' : 'folder'}`);
    }
  }
};

/** Refuses to remove what is no file, or not in this folder. */
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

/** Writes a file beside its place and moves it there, which replaces what stands there and follows no link. */
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

/** Removes a folder that holds nothing but folders. */
const removeFolders = (target: string): void => {
  for (const name of readdirSync(target)) removeFolders(join(target, name));
  rmdirSync(target);
};

/** Replaces what a user named by a file; a device or a pipe is written to as it is. */
export const replaceFile = (target: string, content: string | Uint8Array): void => {
  const found = touch(target, () => statSync(target, { throwIfNoEntry: false }));
  if (found === undefined || found.isFile()) writeInPlace(target, content);
  else touch(target, () => writeFileSync(target, content));
};

/** Moves a file that was written beside its place there. */
const moveOne = (root: string, path: string, beside: string): void => {
  const target = join(root, path);
  const found = touch(target, () => lstatSync(target, { throwIfNoEntry: false }));
  touch(target, () => {
    if (found?.isDirectory()) removeFolders(target);
    makeFoldersSync(dirname(target));
    renameSync(beside, target);
  });
};

/** Removes a file, and the folders that are empty without it. */
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

/** Whether a place is one of the files that go, whose path may be written otherwise where case makes no difference. */
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

/** What becomes of a folder's files. */
export type TreeChanges = { write: readonly TreeFile[]; remove: readonly string[] };

/**
 * Removes files below a folder as the user named it, with folders that are empty then, and writes others. The folder
 * is made when it is not there. Nothing is touched when one of them may not be.
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
  // A disk may be full: all is written before anything goes.
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

/** Writes the files below a folder, as `changeTree` does. */
export const writeTree = (context: Context, folder: string, write: readonly TreeFile[]): void =>
  changeTree(context, folder, { write, remove: [] });
