/**
 * An index of a field that the store itself has none for, as a file beside the store's own: the values with the
 * positions of their rows. A snapshot is what its digest says, so nothing is added to it; and which of its fields
 * others map theirs to is not known when it is made.
 */
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { quoteText } from '#language/sql/ddl.ts';
import { fileAddress, mapPages } from '#store/files/open-file.ts';
import { valueAt } from '#store/read/filter.ts';
import { createCatalog } from '#store/tables/catalog.ts';
import { type ReadContract, valuesTable } from './store-file.ts';

export type FieldIndexPlan = {
  /** The store file, and what reading it takes. */
  file: string;
  contract: ReadContract;
  entity: string;
  field: string;
  /** Where the index is written; nothing is there yet. */
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

/** Writes the index. Throws `StoreRefusal` for an entity or a field that there is none of. */
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
