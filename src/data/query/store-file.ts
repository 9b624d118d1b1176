/**
 * A world's rows in a store file, opened read-only: an unpacked snapshot never changes, so SQLite neither locks it nor
 * checks it for changes, and maps it instead of copying it.
 *
 * The file may be of any size. Only the pages that are read come into memory, and all processes that have it open
 * share them.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Contract, RedactPolicy } from '#language/contract.ts';
import { quoteText } from '#language/sql/ddl.ts';
import { fileAddress, mapPages, openFile } from '#store/files/open-file.ts';
import { type Catalog, createCatalog } from '#store/tables/catalog.ts';
import { createStatements, type Statements } from '#store/tables/statements.ts';

/** The part of a contract that reading rows needs. */
export type ReadContract = Pick<Contract, 'entities' | 'definitions' | 'redact'>;

export type StoreFile = {
  catalog: Catalog;
  prepare: Statements;
  /**
   * Prepares a statement that is not cached, so that its rows can be read while another statement with the same text is
   * read.
   */
  prepareAnew(sql: string): StatementSync;
  policy: RedactPolicy | null;
  /** Adds the index of a field, see `field-index.ts`, unless it is there or the maximum number is reached. */
  addIndex(entity: string, index: IndexFile): void;
  /** Returns the table of a field's index as SQL names it; undefined if the field has no index. */
  indexOf(entity: string, field: string): string | undefined;
  /** Adds a function of one value to SQL; it replaces a function of the same name. */
  addFunction(name: string, fn: (value: unknown) => string | number | bigint | null): void;
  close(): void;
};

/** Table of a field's index, with the columns `value` and `position`. Rows without a value are left out. */
export const valuesTable = 'svc_values';

/** Index file of a field, see `field-index.ts`. */
export type IndexFile = { field: string; file: string };

/** Maximum number of indexes, below SQLite's own limit of attached databases. */
const mostIndexes = 8;

const createIndexes = (db: DatabaseSync): Pick<StoreFile, 'addIndex' | 'indexOf'> => {
  const tables = new Map<string, string>();
  const nameOf = (entity: string, field: string): string => JSON.stringify([entity, field]);
  return {
    addIndex(entity, { field, file }) {
      const name = nameOf(entity, field);
      if (tables.has(name) || tables.size === mostIndexes) return;
      const schema = `svc_index_${tables.size + 1}`;
      db.exec(`ATTACH ${quoteText(fileAddress(file))} AS ${schema}`);
      mapPages(db, schema);
      tables.set(name, `${schema}.${valuesTable}`);
    },
    indexOf: (entity, field) => tables.get(nameOf(entity, field)),
  };
};

/**
 * Settings with which nothing is written, not even beside the file. A manipulated schema can call only functions that
 * are built in and have no side effects (`trusted_schema`).
 */
const settings = `
  PRAGMA trusted_schema = OFF;
  PRAGMA cache_size = -8192;
`;

/** Opens an unpacked snapshot, whose rows are read by this contract. Throws if the file is not a snapshot. */
export const openStoreFile = (path: string, contract: ReadContract): StoreFile => {
  const db = openFile(path);
  try {
    db.exec(settings);
    db.prepare('SELECT sum FROM svc_store').get();
    const catalog = createCatalog(contract);
    const prepare = createStatements(db);
    return {
      catalog,
      prepare,
      prepareAnew: (sql) => db.prepare(sql),
      policy: contract.redact,
      ...createIndexes(db),
      addFunction: (name, fn) => db.function(name, { deterministic: true }, fn),
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
};
