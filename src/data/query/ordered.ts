/**
 * Reads the rows of one of two compared worlds in the order of their keys, for the merge in `parity.ts`. If the key has
 * an index, rows are read along the index in batches. This needs neither a sort nor a call for each row, and takes a
 * third of the time. Otherwise SQLite sorts the rows, and returns them one by one.
 */
import type { StatementSync } from 'node:sqlite';
import { jsonPath, quoteText } from '#language/sql/ddl.ts';
import { type Filter, valueAt } from '#store/read/filter.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';
import { conditionIn } from './condition.ts';
import type { Key } from './keys.ts';
import { isUnique, type Mapping } from './pairs.ts';
import type { StoreFile } from './store-file.ts';

/** Rows of one world that are compared: those that meet the conditions. */
export type Side = { file: StoreFile; entity: string; where: readonly Filter[] };

/** A row for the comparison: its key, and the value of each field as JSON text; null for an absent field. */
export type Read = { key: Key; values: (string | null)[] };

export type KeyOfSide = {
  field: string;
  /** Conversion of keys before they are compared; undefined if keys are compared as they are stored. */
  map: Mapping | undefined;
  /** Name of the SQL function that applies the conversion. */
  called: string;
};

/** Number of rows that one call reads. */
const rowsAtOnce = 2_000;

type Found = [key: unknown, position: number | bigint, ...texts: (string | null)[]];

const toKey = (value: unknown): Key =>
  typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string'
    ? value
    : null;

const readOf = ([key, , ...values]: Found): Read => ({ key: toKey(key), values });

/** Prepares a query whose rows are `Found`. */
const prepare = (file: StoreFile, sql: string): StatementSync => {
  const statement = file.prepareAnew(sql);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  return statement;
};

const columnsOf = (entity: CatalogEntity, fields: readonly string[]): string[] =>
  fields.map((field) => {
    valueAt(entity, [field]); // refuses an unknown field
    return `payload -> ${quoteText(jsonPath([field]))}`;
  });

/**
 * Reads all rows along the index of a column. Each batch starts after the last row of the previous batch. The query
 * names that row by its position, and SQLite looks up its key again, so that SQLite compares the stored key, and not a
 * value that was converted on its way through JavaScript.
 */
const readAlongIndex = function* (
  file: StoreFile,
  { table, position }: CatalogEntity,
  at: string,
  columns: readonly string[],
): Generator<Read> {
  const select = `SELECT ${[at, position, ...columns].join(', ')} FROM ${table}`;
  const end = `LIMIT ${rowsAtOnce}`;
  const keyOfLast = `(SELECT ${at} FROM ${table} WHERE ${position} = ?1)`;
  const stretches = [
    {
      first: `${select} WHERE ${at} IS NULL ORDER BY ${position} ${end}`,
      next: `${select} WHERE ${at} IS NULL AND ${position} > ?1 ORDER BY ${position} ${end}`,
    },
    {
      first: `${select} WHERE ${at} IS NOT NULL ORDER BY ${at}, ${position} ${end}`,
      next: `${select} WHERE (${at}, ${position}) > (${keyOfLast}, ?1) ORDER BY ${at}, ${position} ${end}`,
    },
  ];
  for (const { first, next } of stretches) {
    let rows = prepare(file, first).all() as unknown as Found[];
    const following = prepare(file, next);
    for (;;) {
      for (const row of rows) yield readOf(row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < rowsAtOnce) break;
      rows = following.all(last[1]) as unknown as Found[];
    }
  }
};

/** Returns the rows that meet the conditions, sorted. */
const readSorted = function* (
  { file, where }: Side,
  entity: CatalogEntity,
  keySql: string,
  columns: readonly string[],
): Generator<Read> {
  const { sql, values } = conditionIn(file, entity, where);
  const select = `SELECT ${[keySql, entity.position, ...columns].join(', ')}`;
  const statement = prepare(file, `${select} FROM ${entity.table} WHERE 1${sql} ORDER BY 1, 2`);
  for (const row of statement.iterate(...values) as Iterable<unknown> as Iterable<Found>) {
    yield readOf(row);
  }
};

/** Returns the rows of one world in the order of their keys. Throws `StoreRefusal` for an unknown field. */
export const readInOrder = (
  side: Side,
  { field, map, called }: KeyOfSide,
  fields: readonly string[],
): Generator<Read> => {
  const { file, where } = side;
  const entity = file.catalog.entity(side.entity);
  const at = valueAt(entity, [field]);
  const columns = columnsOf(entity, fields);
  if (map !== undefined) {
    file.addFunction(called, (value) => toKey(map(value)));
    return readSorted(side, entity, `${called}(${at})`, columns);
  }
  return where.length === 0 && entity.columns.has(field) && isUnique(entity, field)
    ? readAlongIndex(file, entity, at, columns)
    : readSorted(side, entity, at, columns);
};
