/**
 * Writes the index of a field for which the store has none, as a file beside the store's own: the values with the
 * positions of their rows. It is a separate file for two reasons. A snapshot must match its digest, so the index cannot
 * be added to it. And when the snapshot is made, the fields that linked worlds map are unknown.
 */
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { quoteText } from '#language/sql/ddl.ts';
import { fileAddress, mapPages } from '#store/files/open-file.ts';
import { valueAt } from '#store/read/filter.ts';
import { createCatalog } from '#store/tables/catalog.ts';
import { type ReadContract, valuesTable } from './store-file.ts';

export type FieldIndexPlan = {
  /** Store file, and the contract by which it is read. */
  file: string;
  contract: ReadContract;
  entity: string;
  field: string;
  /** Path at which the index is written; no file may exist there. */
  path: string;
};

const settings = (folder: string): string => `
  PRAGMA journal_mode = OFF;
  PRAGMA synchronous = OFF;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA trusted_schema = OFF;
  PRAGMA cache_size = -32768;
  PRAGMA temp_store = FILE;
  PRAGMA temp_store_directory = ${quoteText(folder)};
`;

/** Writes the index. Throws `StoreRefusal` for an unknown entity or field. */
export const writeFieldIndex = (plan: FieldIndexPlan): void => {
  const entity = createCatalog(plan.contract).entity(plan.entity);
  const value = valueAt(entity, [plan.field]);
  const db = new DatabaseSync(plan.path);
  try {
    db.exec(settings(dirname(plan.path)));
    db.exec(`ATTACH ${quoteText(fileAddress(plan.file))} AS store`);
    mapPages(db, 'store');
    db.exec(`
      CREATE TABLE ${valuesTable} (value, position INTEGER, PRIMARY KEY (value, position)) WITHOUT ROWID;
      INSERT INTO ${valuesTable}
        SELECT ${value}, ${entity.position} FROM store.${entity.table} WHERE ${value} IS NOT NULL ORDER BY 1, 2;
    `);
  } finally {
    db.close();
  }
};
