/**
 * Rows of many columns, written many at a time: one array a column, which a statement puts side by side again. What a
 * row is in the program and in the table is said once, as a list of columns.
 */
import { type Statement, statement } from './database.ts';

/** A column: its name, its type, and its value in a row of the program. */
export type Column<Row> = {
  name: string;
  type: string;
  /**
   * Undefined and null are null. A time is in milliseconds since 1970; a list is given as `arrayText`, with the type
   * `text[]`.
   */
  of(row: Row): unknown;
};

/** A list of texts as PostgreSQL writes it: an array of arrays would have to be a rectangle. */
export const arrayText = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** Times are written so; the driver would use the zone of this machine. */
const timeText = (ms: number): string => new Date(ms).toISOString();

const isList = ({ type }: { type: string }): boolean => type.endsWith('[]');

/** Rows from arrays, in the order of the columns. */
export const sourceOf = (columns: readonly Column<never>[]): string => {
  const arrays = columns.map(
    (column, index) => `$${index + 1}::${isList(column) ? 'text' : column.type}[]`,
  );
  return `unnest(${arrays.join(', ')}) as given(${columns.map(({ name }) => name).join(', ')})`;
};

const given = (column: { name: string; type: string }): string =>
  isList(column) ? `given.${column.name}::${column.type}` : `given.${column.name}`;

/**
 * Inserts rows that are not there yet, in the order of their keys, and returns the keys of those. Those that are there
 * are locked and left as they are: two that write the same wait for each other, and never in a circle.
 */
export const takeStatement = (
  name: string,
  table: string,
  columns: readonly Column<never>[],
): Statement =>
  statement(
    name,
    `insert into ${table} (${columns.map((column) => column.name).join(', ')})
     select ${columns.map(given).join(', ')} from ${sourceOf(columns)} order by key
     on conflict (key) do update set updated_at = ${table}.updated_at where false returning key`,
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

const asParameter = <Row>(column: Column<Row>, row: Row): unknown => {
  const value = column.of(row) ?? null;
  return column.type === 'timestamptz' && value !== null ? timeText(value as number) : value;
};

/** The arrays of such a statement. */
export const arraysOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): unknown[][] =>
  columns.map((column) => rows.map((row) => asParameter(column, row)));
