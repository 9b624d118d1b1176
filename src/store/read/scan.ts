/**
 * Computes the state sum of a database from its rows. Without a base file it reads every row; on a base file, whose sum
 * is known, only the rows that may differ from the file's.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import { addHash, rowHash, subtractHash } from './state-digest.ts';

type StoredRow = { _key: string; payload: string };

const rowsOf = (db: DatabaseSync, { table, position }: CatalogEntity): Iterable<StoredRow> =>
  db
    .prepare(`SELECT _key, payload FROM ${table} ORDER BY ${position}`)
    .iterate() as Iterable<unknown> as Iterable<StoredRow>;

/** Returns the sum of the state digest, computed from the rows. */
export const scanSum = (db: DatabaseSync, catalog: Catalog): bigint => {
  let sum = 0n;
  for (const entity of catalog.entities) {
    for (const { _key, payload } of rowsOf(db, entity)) {
      sum = addHash(sum, rowHash(entity.name, _key, payload));
    }
  }
  return sum;
};

/** Rows that may differ from a base file's: those at some positions in the file, and those after its last position. */
export type Differences = { of(entity: string): ReadonlySet<number>; last(entity: string): number };

/** Returns the share of the sum that the rows at these positions contribute. */
const sumAt = (db: DatabaseSync, entity: CatalogEntity, positions: Iterable<number>): bigint => {
  const one = db.prepare(`SELECT _key, payload FROM ${entity.table} WHERE ${entity.position} = ?`);
  let sum = 0n;
  for (const position of positions) {
    const row = one.get(position) as StoredRow | undefined;
    if (row !== undefined) sum = addHash(sum, rowHash(entity.name, row._key, row.payload));
  }
  return sum;
};

const sumBehind = (db: DatabaseSync, entity: CatalogEntity, last: number): bigint => {
  const { table, position } = entity;
  const behind = db.prepare(`SELECT _key, payload FROM ${table} WHERE ${position} > ?`);
  let sum = 0n;
  for (const { _key, payload } of behind.iterate(
    last,
  ) as Iterable<unknown> as Iterable<StoredRow>) {
    sum = addHash(sum, rowHash(entity.name, _key, payload));
  }
  return sum;
};

/**
 * Returns the sum of a database on a base file. It is computed from the file's sum and from the rows that may differ,
 * read from both.
 */
export const scanDifferences = (
  db: DatabaseSync,
  file: { db: DatabaseSync; sum: bigint },
  catalog: Catalog,
  differences: Differences,
): bigint => {
  let { sum } = file;
  for (const entity of catalog.entities) {
    const positions = differences.of(entity.name);
    sum = subtractHash(sum, sumAt(file.db, entity, positions));
    sum = addHash(sum, sumAt(db, entity, positions));
    sum = addHash(sum, sumBehind(db, entity, differences.last(entity.name)));
  }
  return sum;
};
