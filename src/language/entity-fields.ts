/**
 * Returns the top-level fields of an entity. The schema of its rows is a closed object, which is written inline or
 * referenced.
 */
import { isObject, own } from '#domain/json.ts';
import type { Contract, EntityContract } from './contract.ts';

/** Returns the names of the fields, in the order of the schema. */
export const fieldNames = (
  { definitions }: Pick<Contract, 'definitions'>,
  { schema }: Pick<EntityContract, 'schema'>,
): string[] => {
  const seen = new Set<string>();
  let shape: unknown = schema;
  while (isObject(shape)) {
    if (isObject(shape.properties)) return Object.keys(shape.properties);
    const name = /^#\/\$defs\/(.+)$/.exec(String(shape.$ref))?.[1];
    if (name === undefined || seen.has(name)) return [];
    seen.add(name);
    shape = own(definitions, name);
  }
  return [];
};
