/**
 * Resolves schemas of an OpenAPI document: it follows references, merges `allOf`, and joins alternatives between
 * objects. A schema that cannot be resolved, or that refers to itself, is replaced by one that accepts any value.
 */
import { isObject, own, parsePointer } from '#domain/json.ts';
import type { JsonSchema } from '#language/contract.ts';
import { schemaName } from './api.ts';

const mostLevels = 8;
const mostFields = 300;

/** Decodes percent escapes; returns the text unchanged if they are not valid. */
const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Returns the target of a local reference; undefined if it has none. */
export const followReference = (document: unknown, reference: unknown): unknown => {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  return parsePointer(decode(reference.slice(1))).reduce<unknown>(
    (value, key) =>
      (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    document,
  );
};

/** Returns a part of a document after following references. */
export const resolvePart = (document: unknown, part: unknown): Record<string, unknown> => {
  let at = part;
  for (let hops = 0; isObject(at) && at.$ref !== undefined && hops < 32; hops += 1) {
    at = followReference(document, at.$ref);
  }
  return isObject(at) ? at : {};
};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const typesOf = (schema: JsonSchema): string[] => {
  const types = listOf(typeof schema.type === 'string' ? [schema.type] : schema.type).map(String);
  return schema.nullable === true && types.length > 0 ? [...types, 'null'] : types;
};

const withTypes = (types: readonly string[]): JsonSchema => {
  const distinct = [...new Set(types)];
  if (distinct.length === 0) return {};
  return { type: distinct.length === 1 ? distinct[0] : distinct };
};

type Merge = { properties: Record<string, unknown>; required: string[] };

/** Joins object schemas into one. A value must match all of them, or any of them. */
const joinObjects = (parts: readonly JsonSchema[], isAll: boolean): Merge => {
  // Without a prototype, so that a property may have the name of an inherited member.
  const properties = Object.create(null) as Record<string, unknown>;
  for (const part of parts) {
    for (const [name, schema] of Object.entries((part.properties ?? {}) as object)) {
      const known = own(properties, name);
      properties[name] = known === undefined || isAll ? schema : joinAny([known, schema]);
    }
  }
  const lists = parts.map((part) => listOf(part.required).map(String));
  const required = isAll
    ? [...new Set(lists.flat())]
    : (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));
  return { properties, required };
};

const isObjectSchema = (schema: JsonSchema): boolean =>
  typesOf(schema).includes('object') || schema.properties !== undefined;

/** Returns a schema that accepts every value that one of some resolved schemas accepts. */
const joinAny = (parts: readonly unknown[]): JsonSchema => {
  const schemas = parts.filter(isObject);
  const isNullable = schemas.some((part) => typesOf(part).includes('null'));
  const others = schemas.filter((part) => typesOf(part).some((type) => type !== 'null'));
  if (others.length < schemas.length - Number(isNullable)) return {};
  if (others.length === 0) return schemas[0] ?? {};
  if (others.every(isObjectSchema)) {
    const { properties, required } = joinObjects(others, false);
    const type = isNullable ? ['object', 'null'] : 'object';
    const name = others.map((part) => part[schemaName]).find((one) => one !== undefined);
    return { type, properties, required, ...(name === undefined ? {} : { [schemaName]: name }) };
  }
  if (others.length === 1) {
    const [only = {}] = others;
    return { ...only, ...withTypes([...typesOf(only), ...(isNullable ? ['null'] : [])]) };
  }
  if (others.some((part) => isObjectSchema(part) || typesOf(part).includes('array'))) return {};
  return withTypes(schemas.flatMap(typesOf));
};

const nameOf = (reference: unknown): string | undefined =>
  typeof reference === 'string' ? parsePointer(reference.slice(1)).at(-1) : undefined;

const scalarKeywords = ['enum', 'format', 'description', 'example', 'default'] as const;

/** Returns a schema in resolved form. `around` contains the references that were followed to reach it. */
export const plainSchema = (
  document: unknown,
  written: unknown,
  around: readonly string[] = [],
): JsonSchema => {
  if (!isObject(written) || around.length > 60) return {};
  const { $ref: reference } = written;
  if (typeof reference === 'string') {
    if (around.filter((one) => one === reference).length > 0) return {};
    const { $ref: _, ...beside } = written;
    const target = plainSchema(document, followReference(document, reference), [
      ...around,
      reference,
    ]);
    const name = nameOf(reference);
    const isNullable = beside.nullable === true;
    return {
      ...target,
      ...(isNullable ? withTypes([...typesOf(target), 'null']) : {}),
      ...(name === undefined ? {} : { [schemaName]: name }),
    };
  }
  const level = [...around, ''];
  if (level.filter((one) => one === '').length > mostLevels * 2) return {};
  const inner = (schema: unknown): JsonSchema => plainSchema(document, schema, level);
  const all = listOf(written.allOf);
  if (all.length > 0) {
    const { allOf: _, ...rest } = written;
    const parts = [...all.map(inner), inner(rest)];
    // A part that is combined with no other keeps its own name.
    const [only, ...others] = parts.filter((part) => Object.keys(part).length > 0);
    const named = others.length === 0 ? only?.[schemaName] : undefined;
    if (!parts.some(isObjectSchema)) return Object.assign({}, ...parts);
    const { properties, required } = joinObjects(parts, true);
    const types = typesOf(written).includes('null') ? ['object', 'null'] : 'object';
    const name = named === undefined ? {} : { [schemaName]: named };
    return { type: types, properties, required, ...name };
  }
  const any = [...listOf(written.oneOf), ...listOf(written.anyOf)];
  if (any.length > 0) {
    const { oneOf: _one, anyOf: _any, ...rest } = written;
    const joined = joinAny(any.map(inner));
    if (!isObjectSchema(rest)) return Object.keys(joined).length === 0 ? inner(rest) : joined;
    const merged = joinObjects([inner(rest), joined], true);
    return { type: 'object', ...merged, required: listOf(rest.required).map(String) };
  }
  const types = typesOf(written);
  const kept = Object.fromEntries(
    scalarKeywords.flatMap((key) => (written[key] === undefined ? [] : [[key, written[key]]])),
  );
  if (written.const !== undefined) kept.enum = [written.const];
  if (isObjectSchema(written)) {
    const properties = Object.entries(isObject(written.properties) ? written.properties : {})
      .slice(0, mostFields)
      .map(([name, schema]) => [name, inner(schema)] as const);
    return {
      ...kept,
      ...withTypes(types.length === 0 ? ['object'] : types),
      properties: Object.fromEntries(properties),
      required: listOf(written.required).map(String),
    };
  }
  if (types.includes('array')) return { ...kept, ...withTypes(types), items: inner(written.items) };
  const listed = listOf(kept.enum);
  const isOpen = types.includes('null') && listed.length > 0 && !listed.includes(null);
  return { ...kept, ...withTypes(types), ...(isOpen ? { enum: [...listed, null] } : {}) };
};
