/** The state sum of a database from scratch: what looks at every row. */
import type { DatabaseSync } from 'node:sqlite';
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import { addHash, rowHash } from './state-digest.ts';

type StoredRow = { _key: string; payload: string };

const rowsOf = (db: DatabaseSync, { table, position }: CatalogEntity): Iterable<StoredRow> =>
  db
    .prepare(`SELECT _key, payload FROM ${table} ORDER BY ${position}`)
    .iterate() as Iterable<unknown> as Iterable<StoredRow>;

/** The sum of the state digest, computed from the rows. */
export const scanSum = (db: DatabaseSync, catalog: Catalog): bigint => {
  let sum = 0n;
  for (const entity of catalog.entities) {
    for (const { _key, payload } of rowsOf(db, entity)) {
      sum = addHash(sum, rowHash(entity.name, _key, payload));
    }
  }
  return sum;
};
