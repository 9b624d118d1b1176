/**
 * Types of parsed values, and functions on them. No function here recurses, because a client's value may nest
 * arbitrarily deep.
 */

import { isObject } from '#domain/json.ts';

/** A JSON object or TOML table whose keys a user chose; read it with `Object.entries`. */
export type Table = { readonly [key: string]: unknown };

export const isTable = (value: unknown): value is Table =>
  isObject(value) && !(value instanceof Date);

/** Returns true if lists and objects nest in more than `most` levels. */
export const isDeeperThan = (value: unknown, most: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, most - 1));
  for (const name in value) {
    const held = (value as Table)[name];
    // Most members are scalars, which need no recursion.
    if (typeof held === 'object' && isDeeperThan(held, most - 1)) return true;
  }
  return false;
};

/** Describes a value's type in words, for messages. */
export const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (isTable(value)) return 'a table';
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 60))}`;
  return `${typeof value} ${String(value)}`;
};

/** Returns true if two lists have the same texts in the same order. */
export const areSameTexts = (list: readonly string[], other: readonly string[]): boolean => {
  if (list.length !== other.length) return false;
  for (let index = 0; index < list.length; index += 1) {
    if (list[index] !== other[index]) return false;
  }
  return true;
};
