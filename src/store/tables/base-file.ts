/**
 * Opens a store's database on a file of base rows that other processes also map. SQLite maps the file's pages, and
 * copies those that a session changes into its own memory. SQLite would write these pages to the file only when a
 * transaction commits, and none ever does. All work is inside one outermost transaction, which ends by being rolled
 * back, and pages stay in memory however many they are (`cache_spill`).
 *
 * So nothing may run outside the outermost transaction. SQLite itself ends it on a failure that it cannot undo
 * otherwise; therefore `check` runs before each write and each savepoint. If something is written to the file all the
 * same, its modification time changes, which `isWhole` detects.
 */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { mapPages } from '../files/open-file.ts';

/** The outermost transaction of a store, for code that works inside it. */
export type Outermost = {
  /** Begins the transaction; an earlier one must have been rolled back before. */
  begin(): void;
  /** Throws unless the transaction is in progress. */
  check(): void;
};

export type BaseFile = {
  path: string;
  /** Number of pages of the file. */
  pages: number;
  /** Returns true if the file is unchanged since it was opened. */
  isWhole(): boolean;
};

/**
 * Returns the URI that opens the file without locks. With locks, only one store at a time could have a transaction that
 * writes. Without locks all stores can, because none of them writes to the file.
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

/** Opens a file of `snapshot-files.ts`. Throws if the file is not a database. */
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
    if (!db.isTransaction)
      throw new Error("the store's outermost transaction has ended after an error");
  },
});

/** Outermost transaction of a database in memory, which needs none, because no other process uses it. */
export const noOutermost: Outermost = { begin: () => undefined, check: () => undefined };
