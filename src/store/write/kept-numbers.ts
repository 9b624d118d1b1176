/**
 * Keeps the largest numbers of rows that are gone, in a table beside the rows, so that they follow transactions and
 * marks as rows do. Keeping one never fails, although the records may take more space than their rows did. If a full
 * world has no space, one record of the field's largest number stands for all groups that it is counted within.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Statements } from '../tables/statements.ts';
import type { FreeSpace } from './free-space.ts';

/** Largest number of a field of an entity, within the values of other fields. */
export type KeptNumber = { entity: string; field: string; within: string; largest: number };

export type KeptNumbers = {
  put(kept: KeptNumber): void;
  /** Returns the largest number kept; undefined if none was. */
  largest(entity: string, field: string, within: string): number | undefined;
  /** Moves the numbers kept within values that no row has any more to other values, or drops them. */
  move(entity: string, field: string, from: string, to: string | undefined): void;
  /** Returns the numbers of all entities, or of one. */
  all(entity?: string): KeptNumber[];
  /** Drops all numbers. */
  clear(): void;
};

/** Value of `within` for numbers counted in the whole entity. */
export const whole = '';

/** Value of `within` that stands for all values, and for the whole entity. */
const anyValues = '*';

/** Created if missing, since snapshots of earlier releases lack it. */
export const keptNumbersTable = `CREATE TABLE IF NOT EXISTS svc_numbers (
  entity TEXT NOT NULL, field TEXT NOT NULL, within TEXT NOT NULL, largest REAL NOT NULL,
  PRIMARY KEY (entity, field, within)
) WITHOUT ROWID`;

const putSql = `INSERT INTO svc_numbers (entity, field, within, largest) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET largest = max(largest, excluded.largest)`;

const largestSql = `SELECT max(largest) AS largest FROM svc_numbers
  WHERE entity = ? AND field = ? AND within IN (?, '${anyValues}')`;

const oneSql = 'svc_numbers WHERE entity = ? AND field = ? AND within = ?';

/** Writes the numbers that another database kept; creates the table when there are any. */
export const writeKept = (db: DatabaseSync, kept: readonly KeptNumber[]): void => {
  if (kept.length === 0) return;
  db.exec(keptNumbersTable);
  const put = db.prepare(putSql);
  for (const { entity, field, within, largest } of kept) put.run(entity, field, within, largest);
};

/** Creates the access to kept numbers in a database, with their table. Without `freeSpace`, space is unlimited. */
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
