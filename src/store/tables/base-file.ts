/**
 * Opens a store's database on a file of base rows that other processes map, too. SQLite maps the file's pages, and
 * copies those that a session changes into its own memory. It would write them to the file only when a transaction
 * commits, and none ever does. All work is inside one outermost transaction, which ends by being rolled back, and
 * pages stay in memory however many they are (`cache_spill`).
 *
 * So nothing may run outside that transaction. SQLite itself ends it on a failure that it cannot undo otherwise;
 * therefore `check` runs before each write and each savepoint. `isWhole` detects a write that happens all the same,
 * since the file's modification time then differs.
 */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { mapPages } from '../files/open-file.ts';

/** The outermost transaction of a store, for code that works inside it. */
export type Outermost = {
  /** Opens it; an earlier one must have been rolled back by then. */
  begin(): void;
  /** Throws unless it is open. */
  check(): void;
};

export type BaseFile = {
  path: string;
  /** Number of pages of the file. */
  pages: number;
  /** Returns true if the file is as it was when it was opened. */
  isWhole(): boolean;
};

/**
 * Returns the URI that opens the file without locks. SQLite would allow one writer's lock on a file; here nothing
 * writes to it.
 */
const addressOf = (path: string): string => {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'rw');
  url.searchParams.set('nolock', '1');
  return url.href;
};

const settings = `
  PRAGMA cache_spill = OFF;
  PRAGMA journal_mode = MEMORY;
  PRAGMA temp_store = MEMORY;
  PRAGMA foreign_keys = OFF;
`;

const identityOf = (path: string): string => {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
};

/** Opens a file of `snapshot-files.ts`. Throws when it is no database. */
export const openBaseFile = (path: string): { db: DatabaseSync; base: BaseFile } => {
  const identity = identityOf(path);
  const db = new DatabaseSync(addressOf(path));
  try {
    db.exec(settings);
    mapPages(db);
    const pages = Number(db.prepare('PRAGMA page_count').get()?.page_count);
    return { db, base: { path, pages, isWhole: () => identityOf(path) === identity } };
  } catch (error) {
    db.close();
    throw error;
  }
};

/** Returns the outermost transaction of a database on a base file; `prelude` runs at its start. */
export const outermostOf = (db: DatabaseSync, prelude: string): Outermost => ({
  begin: () => db.exec(`BEGIN; ${prelude}`),
  check() {
    if (!db.isTransaction) throw new Error('the store has lost its outermost transaction');
  },
});

/** A database in memory needs none, since no other process uses it. */
export const noOutermost: Outermost = { begin: () => undefined, check: () => undefined };
