/**
 * A store's database upon a file of base rows that other processes map, too. SQLite reads pages of the file as
 * they are mapped, and copies those that a session changes into its own memory. It would write them to the
 * file when a transaction commits, and none ever does: all work is inside one outermost transaction, which
 * ends by being rolled back, and pages are kept in memory however many they are (`cache_spill`).
 *
 * So nothing may run outside of it. SQLite itself can end it, on a failure that it cannot undo otherwise;
 * `check` is asked before each write and each savepoint. What would be written all the same is seen by
 * `isWhole`, for the file's time of change is then another.
 */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { mapPages } from '../files/open-file.ts';

/** What a store's outermost transaction is to those who work inside it. */
export type Outermost = {
  /** Opens it; what was in an earlier one is rolled back by then. */
  begin(): void;
  /** Throws unless it is open. */
  check(): void;
};

export type BaseFile = {
  path: string;
  /** Pages of the file. */
  pages: number;
  /** Whether the file is as it was when it was opened. */
  isWhole(): boolean;
};

/** Without locks, of which one file has one for writers: nobody writes. */
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

/** The outermost transaction of a database upon a file, in which `prelude` has run. */
export const outermostOf = (db: DatabaseSync, prelude: string): Outermost => ({
  begin: () => db.exec(`BEGIN; ${prelude}`),
  check() {
    if (!db.isTransaction) throw new Error('the store has lost its outermost transaction');
  },
});

/** A database in memory has none: what is kept in it is nobody else's. */
export const noOutermost: Outermost = { begin: () => undefined, check: () => undefined };
