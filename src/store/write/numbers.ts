/**
 * Assigns numbers to new rows, and never reuses one. A field continues from the largest number that rows have or have
 * had; `kept-numbers.ts` records the numbers of rows that are gone or were changed. `nextNumber` reserves nothing;
 * inserting a row with the number does.
 *
 * Numbers are counted in the whole entity, or within the other fields of a key: `number` of the key (`owner`, `repo`,
 * `number`) is counted for each repository. If those fields refer to a row, the count belongs to that row. The count
 * follows the row when its key changes, and ends with the row, so that a new repository under the name of a deleted one
 * counts from 1.
 */
import type { FieldPath, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { conditionOf, type Filter, filtersOfWhere, valueAt } from '../read/filter.ts';
import { StoreRefusal } from '../refusal.ts';
import type { Catalog, CatalogEntity, Sequence } from '../tables/catalog.ts';
import { keyFrom } from '../tables/keys.ts';
import type { Statements } from '../tables/statements.ts';
import { type KeptNumber, type KeptNumbers, whole } from './kept-numbers.ts';

export type Numbers = {
  /**
   * Returns the next number of a top-level field among rows that have the values `within` (fields by name or path).
   * Throws `StoreRefusal` of kind `shape` if the field is not counted within these fields, and `full` after the last
   * number.
   */
  nextNumber(entity: string, field: string, within?: Row | undefined): number;
};

export type NumberKeeper = Numbers & {
  /** Returns the recorded numbers of all entities, or of one. */
  keptNumbers(entity?: string): KeptNumber[];
  /** Records the numbers that a row no longer has; `after` is the changed row, undefined if the row was removed. */
  keep(entity: CatalogEntity, before: Row, after: Row | undefined): void;
  /** Drops the recorded numbers. It is called while no client has seen any row. */
  forgetNumbers(): void;
};

const nameOf = (path: FieldPath): string => path.join('.');

const keyOfWithin = (sequence: Sequence | undefined, read: (path: FieldPath) => unknown) =>
  sequence === undefined
    ? whole
    : JSON.stringify(sequence.within.map((path) => [nameOf(path), read(path) ?? null]));

/** Returns, as text, the row's values within which its number is counted; undefined if one is missing. */
const withinOf = (row: Row, sequence: Sequence): string | undefined => {
  const isWhole = sequence.within.every((path) => (valueAtPath(row, path) ?? null) !== null);
  return isWhole ? keyOfWithin(sequence, (path) => valueAtPath(row, path)) : undefined;
};

/**
 * Returns, as text, the values within which the numbers of `owner` are counted. These values are the key of that row.
 */
const withinOfOwner = (owner: Row, { sequence, fields, key }: CatalogEntity['counts'][number]) =>
  keyOfWithin(sequence, ([field = '']) => owner[key[fields.indexOf(field)] ?? '']);

/** Returns true if a row may have had a number that it no longer has. */
const isGone = (before: unknown, after: unknown): before is number =>
  typeof before === 'number' && !(typeof after === 'number' && after >= before);

/**
 * Returns true if a change leaves both the number of a row and the values of `within` the same. Most changes are of
 * other fields.
 */
const isUnmoved = (before: Row, after: Row, { field, within }: Sequence): boolean =>
  before[field] === after[field] &&
  within.every((path) => valueAtPath(before, path) === valueAtPath(after, path));

const describe = ({ within }: Sequence): string => `within ${within.map(nameOf).join(', ')}`;

/** Returns the sequence that counts the field within exactly these fields; undefined for the whole entity. */
const sequenceOf = (
  entity: CatalogEntity,
  field: string,
  within: readonly Filter[],
): Sequence | undefined => {
  const names = within
    .map(({ path }) => nameOf(path))
    .sort()
    .join();
  if (names === '') return undefined;
  const known = entity.sequences.filter((sequence) => sequence.field === field);
  const found = known.find((sequence) => sequence.within.map(nameOf).join() === names);
  if (found !== undefined) return found;
  const ways = ['in the whole entity', ...known.map(describe)].join(', or ');
  const detail = `numbers of "${field}" are counted ${ways}; a primary key or unique list of "${field}" and other fields makes it countable within those fields`;
  throw new StoreRefusal({ entity: entity.name, kind: 'shape', field, detail });
};

const largestHeld = (
  prepare: Statements,
  entity: CatalogEntity,
  field: string,
  within: readonly Filter[],
): number => {
  const at = valueAt(entity, [field]);
  const { sql, values } = conditionOf(entity, within);
  const text = `SELECT max(${at}) AS n FROM ${entity.table} WHERE 1${sql}`;
  const largest = prepare(text).get(...values)?.n;
  return typeof largest === 'number' ? largest : Number.NEGATIVE_INFINITY;
};

const refuseLast = (entity: CatalogEntity, field: string, largest: number): never => {
  const detail = `there is no number after ${largest}, the largest possible number, which a row has or had in "${field}"`;
  throw new StoreRefusal({ entity: entity.name, kind: 'full', field, detail });
};

/**
 * Creates the function that returns the next number. It uses the present rows and the recorded numbers of other rows.
 */
export const createNextNumber =
  (
    catalog: Catalog,
    prepare: Statements,
    kept: Pick<KeptNumbers, 'largest'>,
  ): Numbers['nextNumber'] =>
  (name, field, given = {}) => {
    const entity = catalog.entity(name);
    const within = filtersOfWhere(given);
    const valueWithin = (path: FieldPath): unknown =>
      within.find((filter) => nameOf(filter.path) === nameOf(path))?.value;
    const sequence = sequenceOf(entity, field, within);
    const held = largestHeld(prepare, entity, field, within);
    const key = keyOfWithin(sequence, valueWithin);
    const largest = Math.max(held, kept.largest(name, field, key) ?? held);
    const next = Number.isFinite(largest) ? Math.floor(largest) + 1 : 1;
    return Number.isSafeInteger(next) ? next : refuseLast(entity, field, largest);
  };

/**
 * Creates the functions that return the next number, and that record the numbers of rows that are changed or removed.
 */
export const createNumbers = (
  catalog: Catalog,
  prepare: Statements,
  kept: KeptNumbers,
): NumberKeeper => {
  const hasOwner = (row: Row, { owner }: Sequence): boolean => {
    if (owner === undefined) return true;
    const sql = `SELECT 1 FROM ${catalog.entity(owner.target).table} WHERE _key = ?`;
    return prepare(sql).get(keyFrom(row, owner.fields) ?? null) !== undefined;
  };

  const keepWithin = (
    { name, sequences }: CatalogEntity,
    before: Row,
    after: Row | undefined,
  ): void => {
    for (const sequence of sequences) {
      const { field } = sequence;
      const largest = before[field];
      if (after !== undefined && isUnmoved(before, after, sequence)) continue;
      const within = withinOf(before, sequence);
      if (within === undefined || typeof largest !== 'number') continue;
      const isSame = after !== undefined && withinOf(after, sequence) === within;
      const stays = isSame && !isGone(largest, after[field]);
      if (stays || !hasOwner(before, sequence)) continue;
      kept.put({ entity: name, field, within, largest });
    }
  };

  const moveCounts = ({ counts }: CatalogEntity, before: Row, after: Row | undefined): void => {
    for (const count of counts) {
      const from = withinOfOwner(before, count);
      const to = after && withinOfOwner(after, count);
      if (to !== from) kept.move(count.entity, count.sequence.field, from, to);
    }
  };

  return {
    nextNumber: createNextNumber(catalog, prepare, kept),
    keep(entity, before, after) {
      for (const [field, largest] of Object.entries(before)) {
        if (!isGone(largest, after?.[field])) continue;
        kept.put({ entity: entity.name, field, within: whole, largest });
      }
      keepWithin(entity, before, after);
      moveCounts(entity, before, after);
    },
    keptNumbers: kept.all,
    forgetNumbers: kept.clear,
  };
};
