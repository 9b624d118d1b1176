/**
 * Keeps, for each numbered field, the largest number of the rows that are gone. The records are in a table beside the
 * rows, so that transactions and marks apply to them as to rows. A record never fails to be written, although the
 * records may take more space than their rows did. If a full world has no space, one record with the field's largest
 * number replaces those of all groups within which the field is counted.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Statements } from '../tables/statements.ts';
import type { FreeSpace } from './free-space.ts';

/** Largest number that a field of an entity has had, within given values of other fields. */
export type KeptNumber = { entity: string; field: string; within: string; largest: number };

export type KeptNumbers = {
  put(kept: KeptNumber): void;
  /** Returns the largest number on record; undefined if there is no record. */
  largest(entity: string, field: string, within: string): number | undefined;
  /**
   * Moves the records of the values `from`, which no row has any more, to the values `to`; drops them if `to` is
   * undefined.
   */
  move(entity: string, field: string, from: string, to: string | undefined): void;
  /** Returns the records of all entities, or of one. */
  all(entity?: string): KeptNumber[];
  /** Drops all records. */
  clear(): void;
};

/** Value of `within` for numbers that are counted in the whole entity. */
export const whole = '';

/** Value of `within` that covers all values of the other fields, and the whole entity. */
const anyValues = '*';

/** SQL that creates the table if it is missing, because snapshots of earlier releases lack it. */
export const keptNumbersTable = `CREATE TABLE IF NOT EXISTS svc_numbers (
  entity TEXT NOT NULL, field TEXT NOT NULL, within TEXT NOT NULL, largest REAL NOT NULL,
  PRIMARY KEY (entity, field, within)
) WITHOUT ROWID`;

const putSql = `INSERT INTO svc_numbers (entity, field, within, largest) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET largest = max(largest, excluded.largest)`;

const largestSql = `SELECT max(largest) AS largest FROM svc_numbers
  WHERE entity = ? AND field = ? AND within IN (?, '${anyValues}')`;

const oneSql = 'svc_numbers WHERE entity = ? AND field = ? AND within = ?';

/** Writes the records of another database; creates the table if there are any. */
export const writeKept = (db: DatabaseSync, kept: readonly KeptNumber[]): void => {
  if (kept.length === 0) return;
  db.exec(keptNumbersTable);
  const put = db.prepare(putSql);
  for (const { entity, field, within, largest } of kept) put.run(entity, field, within, largest);
};

/** Creates the access to the records in a database, and their table. Without `freeSpace`, space is unlimited. */
export const createKeptNumbers = (
  db: DatabaseSync,
  prepare: Statements,
  freeSpace?: FreeSpace,
): KeptNumbers => {
  db.exec(keptNumbersTable);
  const put = ({ entity, field, within, largest }: KeptNumber): void => {
    const bytes = Buffer.byteLength(entity + field + within);
    const values = (freeSpace?.take(bytes, 1) ?? true) ? within : anyValues;
    prepare(putSql).run(entity, field, values, largest);
  };
  return {
    put,
    largest(entity, field, within) {
      const largest = prepare(largestSql).get(entity, field, within)?.largest;
      return typeof largest === 'number' ? largest : undefined;
    },
    move(entity, field, from, to) {
      const largest = prepare(`SELECT largest FROM ${oneSql}`).get(entity, field, from)?.largest;
      if (typeof largest !== 'number') return;
      prepare(`DELETE FROM ${oneSql}`).run(entity, field, from);
      if (to !== undefined) put({ entity, field, within: to, largest });
    },
    all: (entity) =>
      prepare('SELECT * FROM svc_numbers WHERE ?1 IS NULL OR entity = ?1').all(
        entity ?? null,
      ) as KeptNumber[],
    clear: () => db.exec('DELETE FROM svc_numbers'),
  };
};
