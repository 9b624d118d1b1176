/**
 * Folders with those above them. Node's own way says that there is no such folder (ENOENT) where one cannot be made on a
 * read-only file system; here the system's own reason is thrown.
 */
import { mkdirSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

type Options = { mode?: number };

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The folders that are not there, from the outermost. */
const missingOf = (path: string): string[] => {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return [];
  const above = dirname(path);
  return above === path ? [] : [...missingOf(above), path];
};

/** Makes each by itself, which fails with the reason. */
const makeEach = (path: string, options: Options): void => {
  for (const one of missingOf(path)) mkdirSync(one, options);
};

/** Makes a folder and those above it; nothing happens when it is there. */
export const makeFoldersSync = (path: string, options: Options = {}): void => {
  try {
    mkdirSync(path, { ...options, recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
    makeEach(path, options);
  }
};

/** Makes a folder and those above it, without holding up the process. */
export const makeFolders = async (path: string, options: Options = {}): Promise<void> => {
  try {
    await mkdir(path, { ...options, recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
    makeEach(path, options);
  }
};
