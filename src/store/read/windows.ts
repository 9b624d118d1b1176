/**
 * Scans an entity's rows in windows, so that a scan of all of them can stop between two windows. For each matching row
 * it returns the position and the sort key, never the row itself.
 */
import type { FieldPath } from '#language/contract.ts';
import { quoteName } from '#language/sql/ddl.ts';
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';
import { type Condition, conditionOf, type Filter, lowerAscii, valueAt } from './filter.ts';

/** Sort key of a row; for a text, its beginning. Null if the field is null or absent. */
export type SortKey = string | number | null;

export type WindowQuery = {
  /** Filters, all of which must hold. */
  where?: readonly Filter[] | undefined;
  /** Words. Each must occur in at least one field of the row that has a column, ignoring the case of ASCII letters. */
  words?: readonly string[] | undefined;
  sortBy?: FieldPath | undefined;
  /** Only rows after this position; -1 for all. */
  after: number;
  /** Number of rows to scan, matching or not: a whole number from 1. */
  rows: number;
};

export type Window = {
  /** Position and sort key of each row that matches, in the order of insertion. */
  found: [position: number, key: SortKey][];
  /** Last position that was scanned; undefined if no row was left to scan. */
  last: number | undefined;
};

export type WindowReader = {
  /** Scans one window. Throws `StoreRefusal` for a filter or an order that cannot be evaluated. */
  window(entity: string, query: WindowQuery): Window;
};

/** Maximum length of the sort key of a text, in characters. */
const sortedChars = 200;

/**
 * Returns SQL for the sort key. A whole number is read as a floating-point one, since it may exceed the integers that
 * JavaScript reads from a column.
 */
const keyAt = (entity: CatalogEntity, path: FieldPath | undefined): string => {
  if (path === undefined) return 'NULL';
  const value = valueAt(entity, path);
  const type = path.length === 1 ? entity.columns.get(path[0] ?? '') : undefined;
  if (type === 'TEXT') return `substr(${value}, 1, ${sortedChars})`;
  if (type !== undefined) return `CAST(${value} AS REAL)`;
  return `CASE typeof(${value}) WHEN 'text' THEN substr(${value}, 1, ${sortedChars})
    WHEN 'integer' THEN CAST(${value} AS REAL) ELSE ${value} END`;
};

/**
 * Returns the condition that a row contains a word. It searches the row's text first, which costs a tenth of reading
 * its fields.
 */
const holdsWord = (entity: CatalogEntity, word: string): Condition => {
  const wanted = lowerAscii(word);
  const written = lowerAscii(JSON.stringify(word).slice(1, -1));
  const byType = [...entity.columns].sort(([, one], [, other]) => (one > other ? -1 : 1));
  const columns = byType.map(([column]) => quoteName(column)); // texts first, which hold most words
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
