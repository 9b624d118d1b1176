/**
 * Creates folders with their parents. On a read-only file system, Node's own recursive form reports that the folder is
 * missing (ENOENT). The functions here throw the system's own reason.
 */
import { mkdirSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

type Options = { mode?: number };

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Returns the missing folders, from the outermost. */
const missingOf = (path: string): string[] => {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return [];
  const above = dirname(path);
  return above === path ? [] : [...missingOf(above), path];
};

/** Creates the folders one by one; each fails with the system's reason. */
const makeEach = (path: string, options: Options): void => {
  for (const one of missingOf(path)) mkdirSync(one, options);
};

/** Creates a folder and its parents; does nothing if the folder exists. */
export const makeFoldersSync = (path: string, options: Options = {}): void => {
  try {
    mkdirSync(path, { ...options, recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
    makeEach(path, options);
  }
};

/** Creates a folder and its parents without blocking the process; does nothing if the folder exists. */
export const makeFolders = async (path: string, options: Options = {}): Promise<void> => {
  try {
    await mkdir(path, { ...options, recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
    makeEach(path, options);
  }
};
