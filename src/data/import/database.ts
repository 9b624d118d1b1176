/**
 * The database that an import writes: a new file, with the base attached to be read and a file for what the
 * import itself has to remember. Tables are filled without indexes, and all of it is one transaction over pages
 * that were not there before, for which no journal is kept. How much of it is in memory does not depend on its size.
 */
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
const scratchTables = `
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
  hasBase: boolean;
  /** Whether it may grow by less than so many bytes. */
  hasLessThan(bytes: number): boolean;
  close(): void;
};

export type DatabaseParts = {
  contract: Pick<Contract, 'entities'>;
  /** The base's file; undefined for none. */
  base: string | undefined;
  folder: string;
  storeBytes: number;
};

/** Makes the database in an empty folder, with a transaction under way. */
export const openImportDatabase = ({
  contract,
  base,
  folder,
  storeBytes,
}: DatabaseParts): ImportDatabase => {
  const file = join(folder, 'store.sqlite');
  const db = new DatabaseSync(file);
  const prepare = createStatements(db);
  db.exec(settings(folder));
  boundBytes(db, storeBytes);
  const attach = (url: string, name: string): void => {
    db.exec(`ATTACH ${quoteText(url)} AS ${name}`);
  };
  attach(pathToFileURL(join(folder, 'scratch.sqlite')).href, 'scratch');
  db.exec('PRAGMA scratch.journal_mode = MEMORY; PRAGMA scratch.synchronous = OFF;');
  if (base !== undefined) attach(`${pathToFileURL(base).href}?immutable=1`, 'base');
  db.exec('BEGIN');
  db.exec(createBareTablesSql(contract));
  db.exec(scratchTables);
  return {
    db,
    prepare,
    file,
    hasBase: base !== undefined,
    hasLessThan: (bytes) =>
      storeBytes - Number(db.prepare('PRAGMA page_count').get()?.page_count) * pageBytes < bytes,
    close: () => {
      if (db.isOpen) db.close();
    },
  };
};
