/**
 * An entity's rows looked at stretch by stretch, so that looking at all of them can be left off between two stretches.
 * Of each row that matches comes where it stands and the value that it is sorted by, never the row itself.
 */
import type { FieldPath } from '#language/contract.ts';
import { quoteName } from '#language/sql/ddl.ts';
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';
import { type Condition, conditionOf, type Filter, lowerAscii, valueAt } from './filter.ts';

/** What a row is sorted by: of a text its beginning; null also where the field is absent. */
export type SortKey = string | number | null;

export type WindowQuery = {
  /** All must hold. */
  where?: readonly Filter[] | undefined;
  /** Words that each stand in one of the row's fields that have a column, whatever the case of ASCII letters. */
  words?: readonly string[] | undefined;
  sortBy?: FieldPath | undefined;
  /** Only rows that came after this position; -1 for all. */
  after: number;
  /** So many rows are looked at, whether they match or not: a whole number from 1. */
  rows: number;
};

export type Window = {
  /** Rows that match, in the order of insertion. */
  found: [position: number, key: SortKey][];
  /** The last position that was looked at; undefined when there was none any more. */
  last: number | undefined;
};

export type WindowReader = {
  /** Throws `StoreRefusal` for a filter or an order that cannot be asked. */
  window(entity: string, query: WindowQuery): Window;
};

/** Characters of a text that rows are sorted by. */
const sortedChars = 200;

/** A whole number is read as a fraction, since it may be larger than JavaScript reads from a column of them. */
const keyAt = (entity: CatalogEntity, path: FieldPath | undefined): string => {
  if (path === undefined) return 'NULL';
  const value = valueAt(entity, path);
  const type = path.length === 1 ? entity.columns.get(path[0] ?? '') : undefined;
  if (type === 'TEXT') return `substr(${value}, 1, ${sortedChars})`;
  if (type !== undefined) return `CAST(${value} AS REAL)`;
  return `CASE typeof(${value}) WHEN 'text' THEN substr(${value}, 1, ${sortedChars})
    WHEN 'integer' THEN CAST(${value} AS REAL) ELSE ${value} END`;
};

/** The row's text is looked at first, which costs a tenth of reading its fields. */
const holdsWord = (entity: CatalogEntity, word: string): Condition => {
  const wanted = lowerAscii(word);
  const written = lowerAscii(JSON.stringify(word).slice(1, -1));
  const byType = [...entity.columns].sort(([, one], [, other]) => (one > other ? -1 : 1));
  const columns = byType.map(([column]) => quoteName(column)); // texts first, which most words are in
  const fields = columns.map((column) => `instr(lower(${column}), ?) > 0`).join(' OR ');
  return {
    sql: ` AND instr(lower(payload), ?) > 0 AND (${fields || '1'})`,
    values: [written, ...columns.map(() => wanted)],
  };
};

export const createWindowReader = (catalog: Catalog, prepare: Statements): WindowReader => ({
  window(name, { where = [], words = [], sortBy, after, rows }) {
    const entity = catalog.entity(name);
    const { table, position } = entity;
    const next = `SELECT ${position} AS at FROM ${table} WHERE ${position} > ? ORDER BY ${position} LIMIT ? + 0`;
    const last = prepare(`SELECT max(at) AS last FROM (${next})`).get(after, rows)?.last;
    if (typeof last !== 'number') return { found: [], last: undefined };
    const conditions = [
      conditionOf(entity, where),
      ...words.map((word) => holdsWord(entity, word)),
    ];
    const text = `SELECT ${position}, ${keyAt(entity, sortBy)} FROM ${table}
      WHERE ${position} > ? AND ${position} <= ?${conditions.map(({ sql }) => sql).join('')} ORDER BY ${position}`;
    const statement = prepare(text);
    statement.setReturnArrays(true);
    const values = conditions.flatMap((condition) => condition.values);
    const found = statement.all(after, last, ...values) as unknown as Window['found'];
    return { found, last };
  },
});
