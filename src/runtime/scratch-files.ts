/**
 * Temporary files that one program writes, uses and removes. The name of a file identifies its program, so that a later
 * program can find and remove the files of a killed one, even if several programs share a folder.
 */
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeFolders } from './folders.ts';

const machine = hostname().replaceAll('~', '-');
const own = `${machine}~${process.pid}~${randomUUID()}`;

/**
 * Age in milliseconds from which a file counts as abandoned if its writer is unknown or on another machine. No write
 * takes that long.
 */
const deadMs = 24 * 60 * 60_000;

/** Returns an unused path in a folder; the folder is created if it is missing. */
export const scratchPath = async (folder: string, ending: string): Promise<string> => {
  await makeFolders(folder);
  return join(folder, `${own}~${randomUUID()}${ending}`);
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/**
 * Returns true if the file's name shows that its program is gone, false if the file is this program's own; undefined if
 * the name does not decide it.
 */
const isLeftByName = (name: string): boolean | undefined => {
  const [ofMachine, pid, mark, ...rest] = name.split('~');
  if (rest.length !== 1 || ofMachine !== machine || !/^\d+$/.test(pid ?? '')) return undefined;
  if (name.startsWith(`${own}~`)) return false;
  // The first process of a container has the same id as the first one of its predecessor.
  if (Number(pid) === process.pid && mark !== undefined) return true;
  return isRunning(Number(pid)) ? undefined : true;
};

/** Removes the files of programs that are gone; returns the number of removed files. */
export const removeLeft = async (folder: string): Promise<number> => {
  const names = await readdir(folder).catch(() => []);
  let removed = 0;
  for (const name of names) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined); // another program removed it first
    if (found === undefined) continue;
    if (!(isLeftByName(name) ?? Date.now() - found.mtimeMs > deadMs)) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
};
