/**
 * Writes many rows of many columns at a time: the program passes one array per column, and the statement joins them
 * with `unnest`. A list of columns defines once how a row of the program maps to a row of the table.
 */
import { type Statement, statement } from './database.ts';

/** Column of a table: its name, its type, and the function that reads its value from a row of the program. */
export type Column<Row> = {
  name: string;
  type: string;
  /**
   * Value of the column; undefined is stored as null. A time is in milliseconds since 1970; a list is given as
   * `arrayText`, with the type `text[]`.
   */
  of(row: Row): unknown;
};

/**
 * Encodes a list of texts as a PostgreSQL array literal. It is passed as text, because an array of arrays must be
 * rectangular.
 */
export const arrayText = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** Formats a time in UTC; the driver would use the time zone of this machine. */
const timeText = (ms: number): string => new Date(ms).toISOString();

const isList = ({ type }: { type: string }): boolean => type.endsWith('[]');

/** Builds the `unnest` that makes rows from arrays, in the order of the columns. */
export const sourceOf = (columns: readonly Column<never>[]): string => {
  const arrays = columns.map(
    (column, index) => `$${index + 1}::${isList(column) ? 'text' : column.type}[]`,
  );
  return `unnest(${arrays.join(', ')}) as given(${columns.map(({ name }) => name).join(', ')})`;
};

const given = (column: { name: string; type: string }): string =>
  isList(column) ? `given.${column.name}::${column.type}` : `given.${column.name}`;

/**
 * Declares a statement that inserts the rows whose keys are new, in the order of their keys, and returns those keys.
 * Existing rows are locked and left unchanged. Two transactions that write the same rows wait for each other, and the
 * order rules out deadlocks.
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

/** Declares a statement that updates existing rows, found by `keys`. */
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

/** Builds the arrays of such a statement, one per column. */
export const arraysOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): unknown[][] =>
  columns.map((column) => rows.map((row) => asParameter(column, row)));
