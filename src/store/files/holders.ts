/**
 * The processes that use a folder together, each with a folder of its own in it. A process that was killed
 * cannot tidy up, so each has a lock that the system takes from it when it ends, however it ends: SQLite's
 * lock of a file, which holds between containers that share the folder, too.
 *
 * A folder appears only once its lock is held, and a lock is removed only by whoever holds it. So a folder
 * whose lock can be had, or is not there, belongs to nobody.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type Holders = {
  /** The name of this process among them, and its folder. */
  name: string;
  own: string;
  /** The folders of those that live, this one's too. Removes what the others left. */
  living(): Promise<string[]>;
  /** Whether the process of that name lives. */
  lives(name: string): boolean;
  /** Removes this one's folder. */
  leave(): Promise<void>;
};

const lockEnding = '.lock';
const sqliteBusy = 5;

type Lock = { release(): void };

/** Takes the lock of a file, which is made where it is missing; undefined while another has it. */
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

/** A lock of a new name. Another process may have taken it for a dead one's before it was locked. */
const takeNewLock = (folder: string): { name: string; lock: Lock } => {
  for (;;) {
    const name = randomUUID();
    const path = join(folder, name + lockEnding);
    const lock = takeLock(path);
    if (lock !== undefined && existsSync(path)) return { name, lock };
    lock?.release();
  }
};

/** Joins those that use the folder. */
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
