/**
 * Removes the files that a session left in writable folders, and compares these folders with the files that the host
 * itself put there: by path, kind, size and digest. If the host has its own mount namespace, all writable mounts are
 * checked; otherwise only the host's own folder.
 */
import { createHash } from 'node:crypto';
import {
  fstatSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
  truncateSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TreeFile } from '#domain/world.ts';
import { type WritablePaths, writablePaths } from './mounts.ts';

export type FileWatch = {
  /** Removes what a session left; `placed` are the files that the host has written since the watch began. */
  empty(placed: readonly TreeFile[]): Promise<void>;
  /** Returns the paths of files that should not exist, are missing, or have changed, with a description. */
  look(placed: readonly TreeFile[]): string[];
};

export type FileWatchParts = {
  /** True if the host has its own mounts, so that it can reach no other program's files. */
  areOwnMounts: boolean;
  workDir: string;
  /** Folders that are not searched. */
  apart?: readonly string[] | undefined;
};

/** Fingerprint of a file system entry, as text; equal for equal entries. */
type Print = string;
type Prints = ReadonlyMap<string, Print>;

const folder: Print = 'folder';
const printOfFile = (size: number, content: Uint8Array): Print =>
  `file of ${size} bytes ${createHash('sha256').update(content).digest('hex')}`;
const emptyFile = printOfFile(0, new Uint8Array());

/** Returns the fingerprint of an entry. A file whose size differs from that in `expected` is not read. */
const printOf = (path: string, found: Stats, expected?: Print): Print => {
  if (found.isDirectory()) return folder;
  if (found.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (!found.isFile()) return `special file ${found.mode} ${found.rdev}`;
  const start = `file of ${found.size} bytes `;
  if (expected !== undefined && !expected.startsWith(start)) return start;
  return printOfFile(found.size, readFileSync(path));
};

/** Function that is called with each entry; returns true if the walk is to enter the entry. */
type Visit = (path: string, found: Stats) => boolean;

/**
 * Visits every entry below a folder, but no other file systems. Skips the files that this process writes its log to.
 */
const walk = (root: string, roots: readonly string[], visit: Visit): void => {
  const { dev } = lstatSync(root);
  const outputs = [1, 2].map((descriptor) => fstatSync(descriptor));
  const isOutput = (found: Stats): boolean =>
    outputs.some((own) => own.dev === found.dev && own.ino === found.ino);
  const enter = (within: string): void => {
    for (const name of readdirSync(within)) {
      const path = join(within, name);
      if (roots.includes(path)) continue;
      const found = lstatSync(path);
      if (found.dev === dev && !isOutput(found) && visit(path, found)) enter(path);
    }
  };
  enter(root);
};

/** Returns the fingerprints of all entries in the writable places, including the places themselves. */
const printsOf = ({ folders, files }: WritablePaths, apart: readonly string[]): Prints => {
  const prints = new Map<string, Print>();
  for (const root of folders) {
    prints.set(root, folder);
    walk(root, [...folders, ...apart], (path, found) => {
      const print = printOf(path, found);
      prints.set(path, print);
      return print === folder;
    });
  }
  for (const file of files) prints.set(file, printOf(file, lstatSync(file)));
  return prints;
};

/**
 * Returns the fingerprints that are expected: those of the initial entries, and those of the files that the host has
 * placed since, with the folders that contain them.
 */
const withPlaced = (first: Prints, placed: readonly TreeFile[]): Prints => {
  const prints = new Map(first);
  for (const { path, content } of placed) {
    prints.set(path, printOfFile(content.length, content));
    for (let above = dirname(path); !prints.has(above) && above !== '/'; above = dirname(above)) {
      prints.set(above, folder);
    }
  }
  return prints;
};

/** Removes an entry. If it cannot be removed, `look` reports it later. */
const remove = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true }).catch(() => undefined);

/**
 * Starts the watch. Call it before any code of a world has run, because every file that exists by then counts as the
 * host's own.
 */
export const watchFiles = ({ areOwnMounts, workDir, apart = [] }: FileWatchParts): FileWatch => {
  const paths = areOwnMounts ? writablePaths() : { folders: [workDir], files: [] };
  const files = paths.files;
  const folders = paths.folders.filter((folder) => !apart.includes(folder));
  const first = printsOf({ folders, files }, apart);

  return {
    async empty(placed) {
      const expected = withPlaced(first, placed);
      const others: string[] = [];
      for (const root of folders) {
        walk(root, [...folders, ...apart], (path, found) => {
          const print = expected.get(path);
          const isIt = print !== undefined && printOf(path, found, print) === print;
          if (!isIt) others.push(path);
          return isIt && print === folder;
        });
      }
      for (const path of others) await remove(path);
      for (const file of files) {
        if (first.get(file) === emptyFile && lstatSync(file).size > 0) truncateSync(file);
      }
    },
    look(placed) {
      const expected = new Map(withPlaced(first, placed));
      const found: string[] = [];
      const judge: Visit = (path, stats) => {
        const print = expected.get(path);
        expected.delete(path);
        const isIt = print !== undefined && printOf(path, stats, print) === print;
        if (print === undefined) found.push(`${path} was left and cannot be removed`);
        else if (!isIt) found.push(`${path} is not what it was`);
        return isIt && print === folder;
      };
      for (const root of folders) {
        expected.delete(root);
        walk(root, [...folders, ...apart], judge);
      }
      for (const file of files) judge(file, lstatSync(file));
      return [...found, ...[...expected.keys()].map((path) => `${path} is missing`)];
    },
  };
};
