/**
 * Numbers of new rows, of which none comes back. A field counts on from the largest number that rows hold
 * or have held: what a row that is gone or was changed held is kept in a table beside the rows, so it
 * follows transactions and marks as they do. Asking for a number takes nothing; inserting a row with it does.
 *
 * Numbers are counted in the whole entity, or within the other fields of a key: `number` of the key
 * (`owner`, `repo`, `number`) for each repository.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { FieldPath, Row } from '#language/contract.ts';
import type { Catalog, CatalogEntity, Sequence } from './catalog.ts';
import { isFull, valueIn } from './collisions.ts';
import { conditionOf, valueAt } from './filter.ts';
import { StoreRefusal } from './refusal.ts';
import type { Statements } from './statements.ts';

export type Numbers = {
  /**
   * The next number of a top-level field, in rows whose fields (names or dotted paths) are `within`.
   * Throws `StoreRefusal` of kind `shape` for numbers that are not counted so, and `full` after the last.
   */
  nextNumber(entity: string, field: string, within?: Row | undefined): number;
};

/** The largest number that a row held which is gone: of a field of an entity, within the values of others. */
export type KeptNumber = { entity: string; field: string; within: string; largest: number };

export type NumberKeeper = Numbers & {
  /** Of all entities, or of one. */
  keptNumbers(entity?: string): KeptNumber[];
  /** Keeps the numbers of a row that holds them no longer; `after` is what became of it. */
  keep(entity: CatalogEntity, before: Row, after: Row | undefined): void;
  /** Forgets what rows held that are gone: nobody has seen them. */
  forgetNumbers(): void;
};

/** Created where it is missing, since snapshots are without it until a row of theirs is gone. */
const table = `CREATE TABLE IF NOT EXISTS svc_numbers (
  entity TEXT NOT NULL, field TEXT NOT NULL, within TEXT NOT NULL, largest REAL NOT NULL,
  PRIMARY KEY (entity, field, within)
) WITHOUT ROWID`;

const keepSql = `INSERT INTO svc_numbers (entity, field, within, largest) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET largest = max(largest, excluded.largest)`;

const keptSql = 'SELECT largest FROM svc_numbers WHERE entity = ? AND field = ? AND within = ?';

/** The name under which the numbers of a whole entity are kept. */
const whole = '';

const nameOf = (path: FieldPath): string => path.join('.');

const keyOfWithin = (sequence: Sequence | undefined, read: (path: FieldPath) => unknown) =>
  sequence === undefined
    ? whole
    : JSON.stringify(sequence.within.map((path) => [nameOf(path), read(path) ?? null]));

/** The values of a row that its number is counted within, as text; undefined where one is missing. */
const withinOf = (row: Row, sequence: Sequence): string | undefined => {
  const isWhole = sequence.within.every((path) => (valueIn(row, path) ?? null) !== null);
  return isWhole ? keyOfWithin(sequence, (path) => valueIn(row, path)) : undefined;
};

/** Whether a row may have had a number that it now holds no more. */
const isGone = (before: unknown, after: unknown): before is number =>
  typeof before === 'number' && !(typeof after === 'number' && after >= before);

const describe = ({ within }: Sequence): string => `within ${within.map(nameOf).join(', ')}`;

/** The sequence that counts the field within just these fields; undefined for the whole entity. */
const sequenceOf = (entity: CatalogEntity, field: string, within: Row): Sequence | undefined => {
  const names = Object.keys(within).sort().join();
  if (names === '') return undefined;
  const known = entity.sequences.filter((sequence) => sequence.field === field);
  const found = known.find((sequence) => sequence.within.map(nameOf).join() === names);
  if (found !== undefined) return found;
  const ways = ['in the whole entity', ...known.map(describe)].join(', or ');
  const detail = `numbers of "${field}" are counted ${ways}; a primary key or unique list of "${field}" and other fields makes it countable within those`;
  throw new StoreRefusal({ entity: entity.name, kind: 'shape', field, detail });
};

const largestHeld = (
  prepare: Statements,
  entity: CatalogEntity,
  field: string,
  within: Row,
): number => {
  const at = valueAt(entity, [field]);
  const filters = Object.entries(within).map(([path, value]) => ({
    path: path.split('.'),
    match: 'equals' as const,
    value,
  }));
  const { sql, values } = conditionOf(entity, filters);
  const text = `SELECT max(${at}) AS n FROM ${entity.table} WHERE 1${sql}`;
  const largest = prepare(text).get(...values)?.n;
  return typeof largest === 'number' ? largest : Number.NEGATIVE_INFINITY;
};

const refuseLast = (entity: CatalogEntity, field: string, largest: number): never => {
  const detail = `there is no number after ${largest}, which a row has or had in "${field}"`;
  throw new StoreRefusal({ entity: entity.name, kind: 'full', field, detail });
};

/** Gives a database the numbers that another one kept; its table comes with the first of them. */
export const writeKept = (db: DatabaseSync, kept: readonly KeptNumber[]): void => {
  if (kept.length === 0) return;
  db.exec(table);
  const put = db.prepare(keepSql);
  for (const { entity, field, within, largest } of kept) put.run(entity, field, within, largest);
};

/** Counts over the rows of a database, which gets the table for it. */
export const createNumbers = (
  db: DatabaseSync,
  catalog: Catalog,
  prepare: Statements,
): NumberKeeper => {
  db.exec(table);
  const put = (entity: CatalogEntity, field: string, within: string, number: number): void => {
    try {
      prepare(keepSql).run(entity.name, field, within, number);
    } catch (error) {
      if (!isFull(error)) throw error;
      const detail = 'the world has reached its size limit, with no room to note what is gone';
      throw new StoreRefusal({ entity: entity.name, kind: 'full', field, detail });
    }
  };
  return {
    nextNumber(name, field, within = {}) {
      const entity = catalog.entity(name);
      const sequence = sequenceOf(entity, field, within);
      const held = largestHeld(prepare, entity, field, within);
      const key = keyOfWithin(sequence, (path) => within[nameOf(path)]);
      const kept = prepare(keptSql).get(name, field, key)?.largest;
      const largest = Math.max(held, typeof kept === 'number' ? kept : held);
      const next = Number.isFinite(largest) ? Math.floor(largest) + 1 : 1;
      return Number.isSafeInteger(next) ? next : refuseLast(entity, field, largest);
    },
    keep(entity, before, after) {
      for (const [field, number] of Object.entries(before)) {
        if (isGone(number, after?.[field])) put(entity, field, whole, number);
      }
      for (const sequence of entity.sequences) {
        const number = before[sequence.field];
        const within = withinOf(before, sequence);
        if (within === undefined || typeof number !== 'number') continue;
        const isSame = after !== undefined && withinOf(after, sequence) === within;
        const stays = isSame && !isGone(number, after[sequence.field]);
        if (!stays) put(entity, sequence.field, within, number);
      }
    },
    keptNumbers: (entity) =>
      prepare('SELECT * FROM svc_numbers WHERE ?1 IS NULL OR entity = ?1').all(
        entity ?? null,
      ) as KeptNumber[],
    forgetNumbers: () => db.exec('DELETE FROM svc_numbers'),
  };
};
