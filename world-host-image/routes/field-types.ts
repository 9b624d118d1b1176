/**
 * Finds which JSON types a field may have, by the entity's schema. Paths and query strings contain only text. The types
 * decide whether "5" means the number; `filter-values.ts` converts it.
 */
import { isObject } from '#domain/json.ts';
import type { Contract, EntityContract, FieldPath, JsonSchema } from '#language/contract.ts';

export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object';

type Definitions = Contract['definitions'];

/** Maximum depth of references that is followed, because definitions may refer to each other in cycles. */
const maxDepth = 32;

/** Returns the schema and all schemas that it refers to or is composed of. */
const alternatives = (definitions: Definitions, schema: unknown, depth = 0): JsonSchema[] => {
  if (!isObject(schema) || depth > maxDepth) return [];
  const name = typeof schema.$ref === 'string' ? schema.$ref.replace('#/$defs/', '') : undefined;
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const inner = [...parts, ...(name === undefined ? [] : [definitions[name]])];
  return [schema, ...inner.flatMap((part) => alternatives(definitions, part, depth + 1))];
};

/** Returns true if a segment of a path can be the index of a list item. */
const isIndex = (segment: string): boolean => /^\d+$/.test(segment);

const stepInto = (definitions: Definitions, schema: JsonSchema, segment: string): JsonSchema[] =>
  alternatives(definitions, schema).flatMap((part) => {
    const properties = isObject(part.properties) ? part.properties : {};
    const member = Object.hasOwn(properties, segment) ? properties[segment] : undefined;
    const found = member ?? (isIndex(segment) ? part.items : undefined);
    return isObject(found) ? [found] : [];
  });

const typeOf = (value: unknown): JsonType => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as JsonType;
};

const declaredTypes = (schema: JsonSchema): JsonType[] => {
  if (schema.type !== undefined) return [schema.type].flat() as JsonType[];
  if (Array.isArray(schema.enum)) return schema.enum.map(typeOf);
  return 'const' in schema ? [typeOf(schema.const)] : [];
};

/** Returns the types that a field may have; an empty set if its schema declares none. */
export const fieldTypes = (
  definitions: Definitions,
  entity: EntityContract,
  path: FieldPath,
): ReadonlySet<JsonType> => {
  let schemas: JsonSchema[] = [entity.schema];
  for (const segment of path) {
    schemas = schemas.flatMap((schema) => stepInto(definitions, schema, segment));
  }
  const all = schemas.flatMap((schema) => alternatives(definitions, schema));
  return new Set(all.flatMap(declaredTypes));
};

/** Names of the top-level fields in an entity's schemas, computed once for each entity. */
const namedFields = new WeakMap<EntityContract, ReadonlySet<string>>();

const findNamed = (definitions: Definitions, entity: EntityContract): ReadonlySet<string> => {
  const known = namedFields.get(entity);
  if (known !== undefined) return known;
  const properties = alternatives(definitions, entity.schema).flatMap((part) =>
    isObject(part.properties) ? Object.entries(part.properties) : [],
  );
  const found = new Set(properties.flatMap(([name, member]) => (isObject(member) ? [name] : [])));
  namedFields.set(entity, found);
  return found;
};

/** Returns true if rows of the entity have a top-level field of this name. */
export const hasField = (
  definitions: Definitions,
  entity: EntityContract,
  field: string,
): boolean =>
  findNamed(definitions, entity).has(field) ||
  (isIndex(field) && stepInto(definitions, entity.schema, field).length > 0);

/** Returns the types of a list field's items; for any other field, its own types. */
export const itemTypes = (
  definitions: Definitions,
  entity: EntityContract,
  path: FieldPath,
): ReadonlySet<JsonType> => {
  const own = fieldTypes(definitions, entity, path);
  return own.has('array') ? fieldTypes(definitions, entity, [...path, '0']) : own;
};
