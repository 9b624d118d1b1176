/**
 * What looks at every row of a database: its state sum from scratch, and its snapshot.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Contract } from '#language/contract.ts';
import type { Catalog, CatalogEntity } from './catalog.ts';
import { type KeptNumber, writeKept } from './numbers.ts';
import { openEmpty, packSnapshot } from './open.ts';
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

/**
 * The snapshot of a database in use. The rows go through a fresh database: serialising the live one
 * would miss what its open savepoints hold, and would keep the pages of deleted rows.
 */
export const copySnapshot = (
  db: DatabaseSync,
  contract: Contract,
  catalog: Catalog,
  sum: bigint,
  kept: readonly KeptNumber[],
): Uint8Array => {
  const copy = openEmpty(contract);
  try {
    copy.exec('BEGIN');
    for (const entity of catalog.entities) {
      const insert = copy.prepare(`INSERT INTO ${entity.table} (_key, payload) VALUES (?, ?)`);
      for (const { _key, payload } of rowsOf(db, entity)) insert.run(_key, payload);
    }
    writeKept(copy, kept);
    copy.exec('COMMIT');
    return packSnapshot(copy, sum);
  } finally {
    copy.close();
  }
};
