/**
 * Conditions of lists that are filtered in many ways. A condition is SQL of ours, in which each value of a client's
 * is a parameter.
 */
import { limits } from '#domain/limits.ts';
import { type Queryable, replannedStatement, type Statement } from './database.ts';
import type { Count } from './lists.ts';

/** Names a value's parameter. */
export type Bind = (value: unknown) => string;
/** The SQL of a condition. */
export type Condition = (bind: Bind) => string;

/** A statement that is made of conditions, with its values. It is planned each time. */
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

/** How many rows match, up to a bound. */
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
