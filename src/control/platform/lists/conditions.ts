/**
 * Builds conditions of lists from single query parameters. Each function returns undefined if its parameter is absent.
 * `sql` is always trusted text of this program; values from clients become parameters of the statement.
 */

import type { Condition } from '../../db/core/where.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import { invalidParameter, listIn, type RawQuery, textIn, timeIn } from './query.ts';

/**
 * Returns the condition on a value; undefined if there is no value. `condition` builds the SQL from the value's
 * parameter.
 */
export const on = <Value>(
  value: Value | undefined,
  condition: (bound: string) => string,
): Condition | undefined => (value === undefined ? undefined : (bind) => condition(bind(value)));

/** Builds the condition that the column equals the parameter. */
export const equals = (query: RawQuery, name: string, sql: string) =>
  on(textIn(query, name), (text) => `${sql} = ${text}`);

/** Builds the condition that the column is one of the values in the parameter. */
export const anyOf = (query: RawQuery, name: string, sql: string) =>
  on(listIn(query, name), (texts) => `${sql} = any(${texts}::text[])`);

/** Builds the condition that the column, an array, contains all values in the parameter. */
export const hasAll = (query: RawQuery, name: string, sql: string) =>
  on(listIn(query, name), (texts) => `${sql} @> ${texts}::text[]`);

/**
 * Builds the condition that the column equals the parameter. Throws `invalid` unless the parameter is one of the given
 * words.
 */
export const oneOf = (query: RawQuery, name: string, words: readonly string[], sql: string) => {
  const text = textIn(query, name);
  if (text === undefined || words.includes(text)) return equals(query, name, sql);
  throw invalidParameter(name, `must be one of ${words.join(', ')}`);
};

/** Builds the condition that the column is at or after the time in the parameter. */
export const since = (query: RawQuery, name: string, sql: string) =>
  on(timeIn(query, name), (at) => `${sql} >= ${at}::timestamptz`);

/** Builds the condition that the column is before the time in the parameter. */
export const before = (query: RawQuery, name: string, sql: string) =>
  on(timeIn(query, name), (at) => `${sql} < ${at}::timestamptz`);

/** Builds the condition that the column equals the key, within the project, that belongs to the id in the parameter. */
export const keyed = (query: RawQuery, projectId: string, name: string, sql: string) => {
  const id = textIn(query, name);
  return on(id && keyOf(projectId, id), (key) => `${sql} = ${key}::uuid`);
};

/**
 * Builds the condition that the column is one of the keys, within the project, that belong to the ids in the parameter.
 */
export const anyKeyed = (query: RawQuery, projectId: string, name: string, sql: string) => {
  const keys = listIn(query, name)?.map((id) => keyOf(projectId, id));
  return on(keys, (bound) => `${sql} = any(${bound}::uuid[])`);
};
