/**
 * Database that an import writes: a new file, with the base attached for reading and a scratch file for the import's
 * own records. Tables are filled without indexes, in one transaction over new pages, for which no journal is kept.
 * Memory does not depend on the size of the database.
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

/**
 * Settings of the database. Deleted rows are overwritten (`secure_delete`), since a refused row may hold data that
 * must not be stored.
 */
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

/** Scratch tables for repeated rows, rows with dangling references, removed rows, and merged rows (see `merge.ts`). */
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
  /** Path of the database file. */
  file: string;
  /**
   * SQL schema with the rows of the base: `main` if the new file is a copy of the base's (`isGrown`); null without a
   * base.
   */
  base: 'base' | 'main' | null;
  /** Returns true if fewer than `bytes` bytes are left until the size limit of the database. */
  hasLessThan(bytes: number): boolean;
  close(): void;
};

export type DatabaseParts = {
  contract: Pick<Contract, 'entities'>;
  /** File of the base; undefined without one. */
  base: string | undefined;
  /** True if the base is copied with its indexes, to add a few rows; see `grow.ts`. */
  isGrown: boolean;
  folder: string;
  storeBytes: number;
};

/** Creates the database in an empty folder, with an open transaction. */
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
    chmodSync(file, 0o600); // the copy inherits the mode of the base, which may be read-only
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
  // A grown database needs no rollback, since the base still has its former state.
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
