/**
 * Rows of many columns, written many at a time: one array a column, which a statement puts side by side again. What a
 * row is in the program and in the table is said once, as a list of columns.
 */
import { type Statement, statement } from './database.ts';

/** A column: its name, its type, and its value in a row of the program. */
export type Column<Row> = {
  name: string;
  type: string;
  /** Undefined and null are null. A list is given as `arrayText`, with the type `text[]`. */
  of(row: Row): unknown;
};

/** A list of texts as PostgreSQL writes it: an array of arrays would have to be a rectangle. */
export const arrayText = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** Times are written so; the driver would use the zone of this machine. */
export const timeText = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString();

const isList = ({ type }: { type: string }): boolean => type.endsWith('[]');

const sourceOf = (columns: readonly Column<never>[]): string => {
  const arrays = columns.map(
    (column, index) => `$${index + 1}::${isList(column) ? 'text' : column.type}[]`,
  );
  return `unnest(${arrays.join(', ')}) as given(${columns.map(({ name }) => name).join(', ')})`;
};

const given = (column: { name: string; type: string }): string =>
  isList(column) ? `given.${column.name}::${column.type}` : `given.${column.name}`;

/** Inserts rows that are not there yet, in the order of `order`, and returns the keys of those. */
export const insertStatement = (
  name: string,
  table: string,
  columns: readonly Column<never>[],
  order: string,
): Statement =>
  statement(
    name,
    `insert into ${table} (${columns.map((column) => column.name).join(', ')})
     select ${columns.map(given).join(', ')} from ${sourceOf(columns)} order by ${order}
     on conflict do nothing returning key`,
  );

/** Writes rows anew that are there, found by `keys`. */
export const updateStatement = (
  name: string,
  table: string,
  columns: readonly Column<never>[],
  keys: readonly string[],
): Statement => {
  const set = columns.filter((column) => !keys.includes(column.name));
  return statement(
    name,
    `update ${table} set ${set.map((column) => `${column.name} = ${given(column)}`).join(', ')},
            updated_at = now()
       from ${sourceOf(columns)}
      where ${keys.map((key) => `${table}.${key} = given.${key}`).join(' and ')}`,
  );
};

/** The arrays of such a statement. */
export const arraysOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): unknown[][] =>
  columns.map((column) => rows.map((row) => column.of(row) ?? null));
