/**
 * A world's rows as a store file has them, opened to be read and nothing else: an unpacked snapshot, which
 * never changes, so SQLite neither locks it nor looks whether it did, and maps it instead of copying it.
 *
 * The file may be of any size; of what is read only pages that are asked for come into memory, and those are
 * shared by all processes that have it open.
 */
import type { StatementSync } from 'node:sqlite';
import type { Contract, RedactPolicy } from '#language/contract.ts';
import { openFile } from '#store/files/open-file.ts';
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
  /** Adds a function of one value that SQL may use, in place of the one of that name. */
  addFunction(name: string, fn: (value: unknown) => string | number | bigint | null): void;
  close(): void;
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
      addFunction: (name, fn) => db.function(name, { deterministic: true }, fn),
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
};
