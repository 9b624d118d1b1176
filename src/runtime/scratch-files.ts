/**
 * Files that one program writes, uses and removes. Their names say whose they are, so that those of a program that was
 * killed are known by the next one, also where several share a folder.
 */
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeFolders } from './folders.ts';

const machine = hostname().replaceAll('~', '-');
const own = `${machine}~${process.pid}~${randomUUID()}`;

/** Of files whose writer cannot be told, or is on another machine: nobody writes one for so long. */
const deadMs = 24 * 60 * 60_000;

/** A path for a file that nobody else has, in a folder that is made for it. */
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

/** Undefined where its name does not say. */
const isLeftByName = (name: string): boolean | undefined => {
  const [ofMachine, pid, mark, ...rest] = name.split('~');
  if (rest.length !== 1 || ofMachine !== machine || !/^\d+$/.test(pid ?? '')) return undefined;
  if (name.startsWith(`${own}~`)) return false;
  // The first program of a container has the number that the one before it had.
  if (Number(pid) === process.pid && mark !== undefined) return true;
  return isRunning(Number(pid)) ? undefined : true;
};

/** Removes what programs that are gone have left in a folder; answers how many files. */
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
