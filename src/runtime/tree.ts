/**
 * Reads a folder as a world tree. Files that are not sources (hidden files, builds, caches, installed packages) are
 * left out. Any other entry that is not a regular file is refused, because a link could lead out of the folder. The
 * limits of a tree apply while the folder is read, so that naming a large folder by mistake costs little.
 *
 * The folder is read synchronously, which blocks the process only briefly, because folders are on this machine, and
 * small.
 */
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { isLeftOutFolder } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';

type TreeLimits = { treeFiles: number; treeFileBytes: number; treeBytes: number };

/** Returns true if an entry is left out. A link is left out, too, if its name is that of a folder that is left out. */
const isLeftOut = (entry: Dirent, parent: string): boolean =>
  entry.name.startsWith('.') || (!entry.isFile() && isLeftOutFolder(entry.name, parent));

const invalid = (message: string, cause?: unknown): AppError =>
  new AppError('invalid', message, { cause });

/** Accesses the disk; if the access fails, the error names the place. */
const touch = <Value>(place: string, act: () => Value): Value => {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw invalid(`cannot read ${place}`, cause);
  }
};

const kindOf = (entry: Dirent): string => {
  if (entry.isSymbolicLink()) return 'a link';
  if (entry.isFIFO()) return 'a pipe';
  return entry.isSocket() ? 'a socket' : 'a device';
};

const refuseEntry = (place: string, kind: string): AppError => {
  const wayOut = kind === 'a link' ? 'replace the link by the file to which it leads' : 'remove it';
  return invalid(`${place} is ${kind}, but a world must have only regular files: ${wayOut}`);
};

/** Returns true if a path below the folder is also to be left out; the path of a folder ends in a slash. */
type Skip = (path: string) => boolean;

/** Returns the paths of the files below a folder; `shown` is the folder's name in messages. */
const listFiles = (
  root: string,
  shown: string,
  { treeFiles }: TreeLimits,
  skip: Skip,
): string[] => {
  const files: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const prefix = folder;
    const place = join(shown, prefix);
    const entries = touch(place, () => readdirSync(join(root, prefix), { withFileTypes: true }));
    for (const entry of entries.filter((each) => !isLeftOut(each, prefix))) {
      const path = `${prefix}${entry.name}`;
      if (skip(entry.isDirectory() ? `${path}/` : path)) continue;
      if (entry.isDirectory()) folders.push(`${path}/`);
      else if (entry.isFile()) files.push(path);
      else throw refuseEntry(join(shown, path), kindOf(entry));
    }
    if (files.length + folders.length > treeFiles) {
      throw invalid(
        `${shown} has more than ${treeFiles} files and folders, the maximum for a world`,
      );
    }
  }
  return files.sort();
};

/** Flags for opening a file: do not follow a link that replaced the file meanwhile, and do not wait. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const readOne = (path: string, place: string, { treeFileBytes }: TreeLimits): Buffer =>
  touch(place, () => {
    const file = openSync(path, openFlags);
    try {
      const { size } = fstatSync(file);
      if (size > treeFileBytes) {
        throw invalid(`${place} has ${size} bytes; a file may have ${treeFileBytes}`);
      }
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  });

/**
 * Returns the files of a folder, in the order of their paths, without those that `skip` leaves out. Throws `invalid`
 * naming the file; `shown` is the name that the user gave the folder.
 */
export const readTree = (
  folder: string,
  shown: string = folder,
  bounds: TreeLimits = limits,
  skip: Skip = () => false,
): TreeFile[] => {
  let bytes = 0;
  return listFiles(folder, shown, bounds, skip).map((path) => {
    const content = readOne(join(folder, path), join(shown, path), bounds);
    bytes += content.byteLength;
    if (bytes > bounds.treeBytes) {
      throw invalid(`${shown} has more than ${bounds.treeBytes} bytes, the maximum for a world`);
    }
    return { path, content };
  });
};
