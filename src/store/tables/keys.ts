/**
 * Canonical keys: the JSON array of a row's primary-key values, in the contract's order, for example
 * `["octo","hello"]`. Equal keys have equal texts, whatever the order of the row's fields or the spelling of its
 * values.
 */
import { toPointer } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import { StoreRefusal } from '../refusal.ts';
import type { CatalogEntity } from './catalog.ts';

/** Returns the key made of the values of `fields`; undefined if one of the values is null or absent. */
export const keyFrom = (row: Row, fields: readonly string[]): string | undefined => {
  const values = fields.map((field) => row[field]);
  return values.some((value) => value === null || value === undefined)
    ? undefined
    : JSON.stringify(values);
};

/**
 * Returns the canonical key of a row, or of an object that has the key fields. Throws `StoreRefusal` of kind `shape` if
 * one is missing.
 */
export const keyOf = (entity: CatalogEntity, row: Row): string => {
  const key = keyFrom(row, entity.primaryKey);
  if (key !== undefined) return key;
  const field =
    entity.primaryKey.find((name) => row[name] === null || row[name] === undefined) ?? '';
  throw new StoreRefusal({
    entity: entity.name,
    kind: 'shape',
    field,
    pointer: toPointer([field]),
    detail: `the primary key is (${entity.primaryKey.join(', ')}) and "${field}" is missing`,
  });
};

/** Returns the key fields with their values from a canonical key. */
export const fieldsOfKey = (entity: CatalogEntity, key: string): Row => {
  const values = JSON.parse(key) as unknown[];
  return Object.fromEntries(entity.primaryKey.map((field, index) => [field, values[index]]));
};

/** Returns the key in words, for messages: `id 5`, or `owner "octo", name "hello"`. */
export const describeKey = (fields: readonly string[], key: string): string => {
  const values = JSON.parse(key) as unknown[];
  return fields.map((field, index) => `${field} ${JSON.stringify(values[index])}`).join(', ');
};
