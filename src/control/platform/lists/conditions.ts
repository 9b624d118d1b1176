/**
 * Builds conditions of lists from single query parameters; each is undefined if its parameter is absent. `sql` is
 * always trusted text of this program; values from clients become parameters of the statement.
 */

import type { Condition } from '../../db/core/where.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import { invalidParameter, listIn, type RawQuery, textIn, timeIn } from './query.ts';

/** Returns the condition on a value, if there is a value. */
export const on = <Value>(
  value: Value | undefined,
  condition: (bound: string) => string,
): Condition | undefined => (value === undefined ? undefined : (bind) => condition(bind(value)));

/** Requires the column to equal the parameter. */
export const equals = (query: RawQuery, name: string, sql: string) =>
  on(textIn(query, name), (text) => `${sql} = ${text}`);

/** Requires the column to be one of the values that the parameter lists. */
export const anyOf = (query: RawQuery, name: string, sql: string) =>
  on(listIn(query, name), (texts) => `${sql} = any(${texts}::text[])`);

/** Requires the column, an array, to contain all values that the parameter lists. */
export const hasAll = (query: RawQuery, name: string, sql: string) =>
  on(listIn(query, name), (texts) => `${sql} @> ${texts}::text[]`);

/** Requires the column to equal the parameter, which must be one of these words. Throws `invalid` for any other. */
export const oneOf = (query: RawQuery, name: string, words: readonly string[], sql: string) => {
  const text = textIn(query, name);
  if (text === undefined || words.includes(text)) return equals(query, name, sql);
  throw invalidParameter(name, `must be one of ${words.join(', ')}`);
};

/** Requires the column to be at or after the time in the parameter. */
export const since = (query: RawQuery, name: string, sql: string) =>
  on(timeIn(query, name), (at) => `${sql} >= ${at}::timestamptz`);

/** Requires the column to be before the time in the parameter. */
export const before = (query: RawQuery, name: string, sql: string) =>
  on(timeIn(query, name), (at) => `${sql} < ${at}::timestamptz`);

/** Requires the column to be the key, within the project, of the id in the parameter. */
export const keyed = (query: RawQuery, projectId: string, name: string, sql: string) => {
  const id = textIn(query, name);
  return on(id && keyOf(projectId, id), (key) => `${sql} = ${key}::uuid`);
};

/** Requires the column to be one of the keys, within the project, of the ids that the parameter lists. */
export const anyKeyed = (query: RawQuery, projectId: string, name: string, sql: string) => {
  const keys = listIn(query, name)?.map((id) => keyOf(projectId, id));
  return on(keys, (bound) => `${sql} = any(${bound}::uuid[])`);
};
