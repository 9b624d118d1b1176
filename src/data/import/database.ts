/**
 * The database that an import writes: a new file, with the base attached to be read and a file for what the
 * import itself has to remember. Tables are filled without indexes, and all of it is one transaction over pages
 * that were not there before, for which no journal is kept. How much of it is in memory does not depend on its size.
 */
import { chmodSync, constants, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Contract } from '#language/contract.ts';
import { createBareTablesSql, quoteText } from '#language/sql/ddl.ts';
import { boundBytes, pageBytes } from '#store/tables/open.ts';
import { createStatements, type Statements } from '#store/tables/statements.ts';

const cacheKibibytes = 64 * 1024;

/** Removed rows leave nothing of theirs behind: a refused one may hold what nobody is to see. */
const settings = (folder: string): string => `
  PRAGMA page_size = ${pageBytes};
  PRAGMA journal_mode = MEMORY;
  PRAGMA synchronous = OFF;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA foreign_keys = OFF;
  PRAGMA secure_delete = ON;
  PRAGMA cache_size = -${cacheKibibytes};
  PRAGMA temp_store = FILE;
  PRAGMA temp_store_directory = ${quoteText(folder)};
`;

/** Rows that repeat others, that refer to nothing, and that are gone; and merged rows, see `merge.ts`. */
export const scratchTables = `
  CREATE TABLE scratch.repeats (leader INTEGER NOT NULL, position INTEGER NOT NULL);
  CREATE TABLE scratch.dangling (position INTEGER NOT NULL);
  CREATE TABLE scratch.gone (
    id INTEGER PRIMARY KEY, entity TEXT NOT NULL, position INTEGER NOT NULL, key TEXT NOT NULL
  );
  CREATE TABLE scratch.merged (
    id INTEGER PRIMARY KEY, entity TEXT NOT NULL, key TEXT NOT NULL, payload TEXT NOT NULL,
    base INTEGER, position INTEGER, UNIQUE (entity, key)
  );
  CREATE TABLE scratch.arrived (
    merged INTEGER NOT NULL, arrival INTEGER NOT NULL, PRIMARY KEY (merged, arrival)
  ) WITHOUT ROWID;
`;

export type ImportDatabase = {
  db: DatabaseSync;
  prepare: Statements;
  /** The file that it is in. */
  file: string;
  /** Where the rows of the base are: in the database itself when it is grown; null for none. */
  base: 'base' | 'main' | null;
  /** Whether it may grow by less than so many bytes. */
  hasLessThan(bytes: number): boolean;
  close(): void;
};

export type DatabaseParts = {
  contract: Pick<Contract, 'entities'>;
  /** The base's file; undefined for none. */
  base: string | undefined;
  /** Whether the base is copied with its indexes, for a few rows more; see `grow.ts`. */
  isGrown: boolean;
  folder: string;
  storeBytes: number;
};

/** Makes the database in an empty folder, with a transaction under way. */
export const openImportDatabase = ({
  contract,
  base,
  isGrown,
  folder,
  storeBytes,
}: DatabaseParts): ImportDatabase => {
  const file = join(folder, 'store.sqlite');
  if (base !== undefined && isGrown) {
    copyFileSync(base, file, constants.COPYFILE_FICLONE);
    chmodSync(file, 0o600); // the base may be a file that nobody is to write to
  }
  const db = new DatabaseSync(file);
  const prepare = createStatements(db);
  db.exec(settings(folder));
  boundBytes(db, storeBytes);
  const attach = (url: string, name: string): void => {
    db.exec(`ATTACH ${quoteText(url)} AS ${name}`);
  };
  attach(pathToFileURL(join(folder, 'scratch.sqlite')).href, 'scratch');
  db.exec('PRAGMA scratch.journal_mode = MEMORY; PRAGMA scratch.synchronous = OFF;');
  // What a grown one was is in the base: nothing of it is rolled back.
  if (isGrown) db.exec('PRAGMA main.journal_mode = OFF');
  else if (base !== undefined) attach(`${pathToFileURL(base).href}?immutable=1`, 'base');
  db.exec('BEGIN');
  if (!isGrown) db.exec(createBareTablesSql(contract));
  db.exec(scratchTables);
  return {
    db,
    prepare,
    file,
    base: base === undefined ? null : isGrown ? 'main' : 'base',
    hasLessThan: (bytes) =>
      storeBytes - Number(db.prepare('PRAGMA page_count').get()?.page_count) * pageBytes < bytes,
    close: () => {
      if (db.isOpen) db.close();
    },
  };
};
