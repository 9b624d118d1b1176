/**
 * The largest numbers that rows held which are gone, in a table beside the rows, so that they follow
 * transactions and marks as rows do. Noting one never fails: notes may take more room than the rows that
 * they are of, and where a full world has no more of it, the largest of a field is noted once for all that it is
 * counted within.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Statements } from '../tables/statements.ts';
import type { Room } from './room.ts';

/** The largest number of a field of an entity, within the values of others. */
export type KeptNumber = { entity: string; field: string; within: string; largest: number };

export type KeptNumbers = {
  put(kept: KeptNumber): void;
  /** Undefined where nothing was noted. */
  largest(entity: string, field: string, within: string): number | undefined;
  /** Rows with these values are no more; what was noted counts within others from now on, or not at all. */
  move(entity: string, field: string, from: string, to: string | undefined): void;
  /** Those of all entities, or of one. */
  all(entity?: string): KeptNumber[];
  /** Forgets everything. */
  clear(): void;
};

/** The name under which the numbers of a whole entity are kept. */
export const whole = '';

/** Within whatever values, and in the whole entity. */
const anyValues = '*';

/** Created where it is missing, since snapshots of earlier releases are without it. */
export const keptNumbersTable = `CREATE TABLE IF NOT EXISTS svc_numbers (
  entity TEXT NOT NULL, field TEXT NOT NULL, within TEXT NOT NULL, largest REAL NOT NULL,
  PRIMARY KEY (entity, field, within)
) WITHOUT ROWID`;

const putSql = `INSERT INTO svc_numbers (entity, field, within, largest) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET largest = max(largest, excluded.largest)`;

const largestSql = `SELECT max(largest) AS largest FROM svc_numbers
  WHERE entity = ? AND field = ? AND within IN (?, '${anyValues}')`;

const oneSql = 'svc_numbers WHERE entity = ? AND field = ? AND within = ?';

/** Gives a database the numbers that another one kept; its table comes with the first of them. */
export const writeKept = (db: DatabaseSync, kept: readonly KeptNumber[]): void => {
  if (kept.length === 0) return;
  db.exec(keptNumbersTable);
  const put = db.prepare(putSql);
  for (const { entity, field, within, largest } of kept) put.run(entity, field, within, largest);
};

/** Over a database, which gets the table. Without `room`, there is always some. */
export const createKeptNumbers = (
  db: DatabaseSync,
  prepare: Statements,
  room?: Room,
): KeptNumbers => {
  db.exec(keptNumbersTable);
  const put = ({ entity, field, within, largest }: KeptNumber): void => {
    const bytes = Buffer.byteLength(entity + field + within);
    const values = (room?.take(bytes, 1) ?? true) ? within : anyValues;
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
