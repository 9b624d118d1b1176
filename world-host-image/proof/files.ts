/**
 * The places that can be written to: emptied of what a session left, and held against what the host
 * itself has put there, by path, kind, size and digest. Where the host has its mounts to itself, these
 * are all folders and files that are mounted to be written to; else only its own folder.
 */
import { createHash } from 'node:crypto';
import {
  fstatSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  truncateSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TreeFile } from '#domain/world.ts';
import { type WritablePaths, writablePaths } from './mounts.ts';

export type FileWatch = {
  /** Removes what a session left; `placed` is what the host has put there since the watch began. */
  empty(placed: readonly TreeFile[]): Promise<void>;
  /** What is there and should not be, or is not what it should be. */
  look(placed: readonly TreeFile[]): string[];
};

export type FileWatchParts = {
  /** Whether nobody else's files are within reach. */
  areOwnMounts: boolean;
  workDir: string;
};

/** What an entry is, as a text that is the same for what is the same. */
type Print = string;
type Prints = ReadonlyMap<string, Print>;

const folder: Print = 'folder';
const printOfFile = (size: number, content: Uint8Array): Print =>
  `file of ${size} bytes ${createHash('sha256').update(content).digest('hex')}`;
const emptyFile = printOfFile(0, new Uint8Array());

/** The print of what is there. A file whose size is not that in `expected` is not read. */
const printAt = (path: string, expected?: Print): Print => {
  const found = lstatSync(path);
  if (found.isDirectory()) return folder;
  if (found.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (!found.isFile()) return `special file ${found.mode} ${found.rdev}`;
  const start = `file of ${found.size} bytes `;
  if (expected !== undefined && !expected.startsWith(start)) return start;
  return printOfFile(found.size, readFileSync(path));
};

/** Whether a file is where this process's log goes. */
const isOwnOutput = (path: string): boolean => {
  const { dev, ino } = lstatSync(path);
  return [1, 2]
    .map((descriptor) => fstatSync(descriptor))
    .some((own) => own.dev === dev && own.ino === ino);
};

/** Shows every entry below a folder, of its own file system only; `visit` says whether to go into it. */
const walk = (root: string, roots: readonly string[], visit: (path: string) => boolean): void => {
  const { dev } = lstatSync(root);
  const enter = (within: string): void => {
    for (const name of readdirSync(within)) {
      const path = join(within, name);
      const isOther = roots.includes(path) || lstatSync(path).dev !== dev || isOwnOutput(path);
      if (!isOther && visit(path)) enter(path);
    }
  };
  enter(root);
};

/** All that is there, with the roots themselves. */
const printsOf = ({ folders, files }: WritablePaths): Prints => {
  const prints = new Map<string, Print>();
  for (const root of folders) {
    prints.set(root, folder);
    walk(root, folders, (path) => {
      const print = printAt(path);
      prints.set(path, print);
      return print === folder;
    });
  }
  for (const file of files) prints.set(file, printAt(file));
  return prints;
};

/** What should be there: what was at first, and what the host has placed, with the folders above it. */
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

/** What cannot be removed is found when it is looked for. */
const remove = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true }).catch(() => undefined);

/** To be called before any code of a world has run: what is there by then is the host's. */
export const watchFiles = ({ areOwnMounts, workDir }: FileWatchParts): FileWatch => {
  const paths = areOwnMounts ? writablePaths() : { folders: [workDir], files: [] };
  const first = printsOf(paths);
  const { folders, files } = paths;

  return {
    async empty(placed) {
      const expected = withPlaced(first, placed);
      const others: string[] = [];
      for (const root of folders) {
        walk(root, folders, (path) => {
          const print = expected.get(path);
          const isIt = print !== undefined && printAt(path, print) === print;
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
      const judge = (path: string): boolean => {
        const print = expected.get(path);
        expected.delete(path);
        const isIt = print !== undefined && printAt(path, print) === print;
        if (print === undefined) found.push(`${path} was left and cannot be removed`);
        else if (!isIt) found.push(`${path} is not what it was`);
        return isIt && print === folder;
      };
      for (const root of folders) {
        expected.delete(root);
        walk(root, folders, judge);
      }
      files.forEach(judge);
      return [...found, ...[...expected.keys()].map((path) => `${path} is missing`)];
    },
  };
};
