/**
 * Conditions of lists with many filters. The SQL of a condition is text of this program; each value from a client is a
 * parameter.
 */
import { limits } from '#domain/limits.ts';
import { type Queryable, replannedStatement, type Statement } from './database.ts';
import type { Count } from './lists.ts';

/** Adds a value to the statement and returns its parameter, such as `$1`. */
export type Bind = (value: unknown) => string;
/** Builds the SQL of one condition. It adds its values with the given `Bind`. */
export type Condition = (bind: Bind) => string;

/** Builds a statement from conditions, together with its values. PostgreSQL plans it at each execution. */
export const conditioned = (
  name: string,
  write: (where: string, bind: Bind) => string,
  conditions: readonly Condition[],
): { statement: Statement; values: unknown[] } => {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const where = conditions.map((condition) => `(${condition(bind)})`).join(' and ');
  const text = write(where === '' ? 'true' : where, bind);
  return { statement: replannedStatement(name, text), values };
};

/** List of rows: the name of its statement, the columns, the table or join, and the order. */
export type RowList = { name: string; columns: string; from: string; order: string };

/** Reads a page of the rows that meet the conditions. */
export const listPage = <Row>(
  db: Queryable,
  { name, columns, from, order }: RowList,
  conditions: readonly Condition[],
  { limit, offset }: { limit: number; offset: number },
): Promise<Row[]> => {
  const { statement, values } = conditioned(
    name,
    (where, bind) =>
      `select ${columns} from ${from} where ${where}
        order by ${order} limit ${bind(limit)} offset ${bind(offset)}`,
    conditions,
  );
  return db.query<Row>(statement, values);
};

/** Counts the rows that meet the conditions, up to a bound. */
export const countUpTo = async (
  db: Queryable,
  name: string,
  from: string,
  conditions: readonly Condition[],
  most: number = limits.countedItems,
): Promise<Count> => {
  const { statement, values } = conditioned(
    name,
    (where) =>
      `select count(*)::int as found from (select from ${from} where ${where} limit ${most + 1}) counted`,
    conditions,
  );
  const [row] = await db.query<{ found: number }>(statement, values);
  const found = row?.found ?? 0;
  return { total: Math.min(found, most), isLowerBound: found > most };
};
