/**
 * Registers the processes that share a folder; each has a subfolder of its own. A killed process cannot clean up, so
 * each process holds a lock that the system releases when the process ends in any way. The lock is SQLite's lock of a
 * file, which also works between containers that share the folder.
 *
 * A process creates its subfolder only after it has the lock, and only the holder of a lock removes the subfolder. So a
 * subfolder whose lock is free or missing belongs to no living process.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type Holders = {
  /** Name of this process in the folder, and path of its subfolder. */
  name: string;
  own: string;
  /** Returns the subfolders of living processes, including this one. Removes those of dead processes. */
  living(): Promise<string[]>;
  /** Returns true if the process of that name lives. */
  lives(name: string): boolean;
  /** Removes this process's subfolder. */
  leave(): Promise<void>;
};

const lockEnding = '.lock';
const sqliteBusy = 5;

type Lock = { release(): void };

/** Takes the lock of a file, which is created if missing; returns undefined while another process holds it. */
const takeLock = (path: string): Lock | undefined => {
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) {
      return undefined;
    }
    throw error;
  }
};

/**
 * Takes a lock under a new name. Before this process holds the lock, another process may remove the file as that of a
 * dead process. Then this process tries another name.
 */
const takeNewLock = (folder: string): { name: string; lock: Lock } => {
  for (;;) {
    const name = randomUUID();
    const path = join(folder, name + lockEnding);
    const lock = takeLock(path);
    if (lock !== undefined && existsSync(path)) return { name, lock };
    lock?.release();
  }
};

/** Registers this process as a user of the folder. */
export const joinHolders = async (folder: string): Promise<Holders> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { name: ownName, lock: ownLock } = takeNewLock(folder);
  const own = join(folder, ownName);
  await mkdir(own, { mode: 0o700 });

  const lives: Holders['lives'] = (name) => {
    if (name === ownName) return true;
    const path = join(folder, name + lockEnding);
    if (!existsSync(path)) return false;
    const lock = takeLock(path);
    lock?.release();
    return lock === undefined;
  };

  const removeDead = async (name: string): Promise<void> => {
    const path = join(folder, name + lockEnding);
    const lock = takeLock(path);
    if (lock === undefined) return;
    await rm(join(folder, name), { recursive: true, force: true });
    await rm(path, { force: true });
    lock.release();
  };

  return {
    name: ownName,
    own,
    lives,
    async living() {
      const entries = await readdir(folder);
      const names = new Set(
        entries.map((entry) =>
          entry.endsWith(lockEnding) ? entry.slice(0, -lockEnding.length) : entry,
        ),
      );
      const alive: string[] = [];
      for (const name of names) {
        if (lives(name)) alive.push(join(folder, name));
        else await removeDead(name);
      }
      return alive;
    },
    async leave() {
      await rm(own, { recursive: true, force: true });
      await rm(own + lockEnding, { force: true });
      ownLock.release();
    },
  };
};
