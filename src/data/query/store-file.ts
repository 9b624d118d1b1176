/**
 * A world's rows as a store file has them, opened to be read and nothing else: an unpacked snapshot, which
 * never changes, so SQLite neither locks it nor looks whether it did, and maps it instead of copying it.
 *
 * The file may be of any size; of what is read only pages that are asked for come into memory, and those are
 * shared by all processes that have it open.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Contract, RedactPolicy } from '#language/contract.ts';
import { quoteText } from '#language/sql/ddl.ts';
import { fileAddress, mapPages, openFile } from '#store/files/open-file.ts';
import { type Catalog, createCatalog } from '#store/tables/catalog.ts';
import { createStatements, type Statements } from '#store/tables/statements.ts';

/** What reading rows takes of a contract. */
export type ReadContract = Pick<Contract, 'entities' | 'definitions' | 'redact'>;

export type StoreFile = {
  catalog: Catalog;
  prepare: Statements;
  /** A statement of its own, whose rows may be read while others of the same text are. */
  prepareAnew(sql: string): StatementSync;
  policy: RedactPolicy | null;
  /** Takes the index of a field, see `field-index.ts`, unless it has that or as many as there may be. */
  addIndex(entity: string, index: IndexFile): void;
  /** The table of a field's index as SQL names it; undefined where there is none. */
  indexOf(entity: string, field: string): string | undefined;
  /** Adds a function of one value that SQL may use, in place of the one of that name. */
  addFunction(name: string, fn: (value: unknown) => string | number | bigint | null): void;
  close(): void;
};

/** The table of a field's index: `value` and `position`. Rows without a value are not in it. */
export const valuesTable = 'svc_values';

/** The file of such an index. */
export type IndexFile = { field: string; file: string };

/** Fewer than SQLite attaches to one database. */
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
 * Nothing is written, not even beside the file. A schema that is not what it should be can call nothing: no
 * function of it that is not built in, and none that reaches out.
 */
const settings = `
  PRAGMA trusted_schema = OFF;
  PRAGMA cache_size = -8192;
`;

/** Opens an unpacked snapshot of a contract. Throws when the file is none. */
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
