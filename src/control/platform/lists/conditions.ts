/**
 * Conditions of lists by single parameters of a query: each is absent where its parameter is. `sql` is always of ours;
 * what a client gave is a parameter of the statement.
 */

import type { Condition } from '../../db/core/where.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import { invalidParameter, listIn, type RawQuery, textIn, timeIn } from './query.ts';

/** A condition on a value, when there is one. */
export const on = <Value>(
  value: Value | undefined,
  condition: (bound: string) => string,
): Condition | undefined => (value === undefined ? undefined : (bind) => condition(bind(value)));

/** The column is what the parameter says. */
export const equals = (query: RawQuery, name: string, sql: string) =>
  on(textIn(query, name), (text) => `${sql} = ${text}`);

/** The column is one of those that the parameter lists. */
export const anyOf = (query: RawQuery, name: string, sql: string) =>
  on(listIn(query, name), (texts) => `${sql} = any(${texts}::text[])`);

/** The column, a list, has all that the parameter lists. */
export const hasAll = (query: RawQuery, name: string, sql: string) =>
  on(listIn(query, name), (texts) => `${sql} @> ${texts}::text[]`);

/** The column is one of these words. Throws `invalid` for any other. */
export const oneOf = (query: RawQuery, name: string, words: readonly string[], sql: string) => {
  const text = textIn(query, name);
  if (text === undefined || words.includes(text)) return equals(query, name, sql);
  throw invalidParameter(name, `must be one of ${words.join(', ')}`);
};

/** The column is no earlier than the parameter. */
export const since = (query: RawQuery, name: string, sql: string) =>
  on(timeIn(query, name), (at) => `${sql} >= ${at}::timestamptz`);

/** The column is earlier than the parameter. */
export const before = (query: RawQuery, name: string, sql: string) =>
  on(timeIn(query, name), (at) => `${sql} < ${at}::timestamptz`);

/** Of a parameter that holds an id: the column is its key in the project. */
export const keyed = (query: RawQuery, projectId: string, name: string, sql: string) => {
  const id = textIn(query, name);
  return on(id && keyOf(projectId, id), (key) => `${sql} = ${key}::uuid`);
};

/** Of a parameter that lists ids: the column is one of their keys in the project. */
export const anyKeyed = (query: RawQuery, projectId: string, name: string, sql: string) => {
  const keys = listIn(query, name)?.map((id) => keyOf(projectId, id));
  return on(keys, (bound) => `${sql} = any(${bound}::uuid[])`);
};
