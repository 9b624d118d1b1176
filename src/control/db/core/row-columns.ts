/**
 * Writes many rows with many columns at a time. The program passes one array for each column, and the statement joins
 * the arrays with `unnest`. A list of columns defines once how a row of the program becomes a row of the table.
 */
import { type Statement, statement } from './database.ts';

/** Column of a table: its name, its type, and the function that reads its value from a row of the program. */
export type Column<Row> = {
  name: string;
  type: string;
  /**
   * Returns the value of the column; undefined is stored as null. A time is in milliseconds since 1970. A list is
   * encoded by `arrayText`, and its column has the type `text[]`.
   */
  of(row: Row): unknown;
};

/**
 * Encodes a list of texts as a PostgreSQL array literal. It is passed as text, because PostgreSQL requires an array of
 * arrays to be rectangular.
 */
export const arrayText = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** Formats a time in UTC. The driver would use the time zone of this machine instead. */
const timeText = (ms: number): string => new Date(ms).toISOString();

const isList = ({ type }: { type: string }): boolean => type.endsWith('[]');

/** Builds the `unnest` that turns the arrays into rows, in the order of the columns. */
export const sourceOf = (columns: readonly Column<never>[]): string => {
  const arrays = columns.map(
    (column, index) => `$${index + 1}::${isList(column) ? 'text' : column.type}[]`,
  );
  return `unnest(${arrays.join(', ')}) as given(${columns.map(({ name }) => name).join(', ')})`;
};

const given = (column: { name: string; type: string }): string =>
  isList(column) ? `given.${column.name}::${column.type}` : `given.${column.name}`;

/**
 * Declares a statement that inserts the rows whose keys are new, in the order of their keys, and returns the inserted
 * keys. Existing rows are locked and left unchanged. Two transactions that write the same rows wait for each other; the
 * order prevents deadlocks.
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

/** Builds the arrays for such a statement, one for each column. */
export const arraysOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): unknown[][] =>
  columns.map((column) => rows.map((row) => asParameter(column, row)));
