/**
 * Infers facts about values from their schema alone: their possible JSON types, and the schemas that apply to the
 * values inside them. References, unions and compositions are followed.
 */
import { own } from '#domain/json.ts';
import type { ColumnType, FieldPath, JsonSchema } from '../contract.ts';
import { isTable, type Table } from '../read/values.ts';
import { definitionName, typeNames } from './keywords.ts';
import { compilePattern, type Pattern } from './patterns.ts';

export type JsonType = (typeof typeNames)[number];
type Types = ReadonlySet<JsonType>;

export type Analysis = {
  /** Returns the possible types of a value. If `number` is among them, `integer` is, too. */
  types(schemas: readonly unknown[]): ReadonlySet<JsonType>;
  /** Returns the schemas that may apply at a path below a value; an empty list if there can be no value. */
  at(schema: unknown, path: FieldPath): readonly unknown[];
  /** Returns the properties that a schema declares, by name. */
  properties(schema: unknown): Map<string, unknown[]>;
};

const everyType: Types = new Set(typeNames);
const noType: Types = new Set();

const typeOf = (value: unknown): JsonType => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'object' ? 'object' : (typeof value as 'string' | 'boolean');
};

const declaredTypes = ({ type }: Table): Types => {
  if (type === undefined) return everyType;
  const listed = (Array.isArray(type) ? type : [type]) as JsonType[];
  return new Set(listed.includes('number') ? [...listed, 'integer'] : listed);
};

const schemasIn = (held: unknown): unknown[] => (Array.isArray(held) ? held : []);

/** Returns the cached answer for a key, or computes and caches it. */
const keep = <Key extends object, Answer>(
  known: WeakMap<Key, Answer>,
  key: Key,
  find: () => Answer,
): Answer => {
  const before = known.get(key);
  if (before !== undefined) return before;
  const answer = find();
  known.set(key, answer);
  return answer;
};

/** Function that returns the definition to which a schema refers; undefined if it refers to none. */
type TargetOf = (schema: Table) => unknown;

type TypesOf = (schemas: readonly unknown[]) => Types;

/** Creates the function that infers the possible types of a value. */
const createTypes = (targetOf: TargetOf): TypesOf => {
  const known = new WeakMap<object, Types>();

  const union: TypesOf = (schemas) =>
    schemas.length === 1
      ? typesOf(schemas[0])
      : new Set(schemas.flatMap((schema) => [...typesOf(schema)]));

  const deduceTypes = (schema: Table): Types => {
    const limits: Types[] = [declaredTypes(schema)];
    if (Object.hasOwn(schema, 'const')) limits.push(new Set([typeOf(schema.const)]));
    if (Array.isArray(schema.enum)) limits.push(new Set(schema.enum.map(typeOf)));
    const target = targetOf(schema);
    if (target !== undefined) limits.push(typesOf(target));
    for (const part of schemasIn(schema.allOf)) limits.push(typesOf(part));
    for (const choice of [schema.anyOf, schema.oneOf]) {
      if (Array.isArray(choice)) limits.push(union(choice));
    }
    return new Set(typeNames.filter((type) => limits.every((types) => types.has(type))));
  };

  const typesOf = (schema: unknown): Types => {
    if (!isTable(schema)) return schema === false ? noType : everyType;
    const answer = known.get(schema);
    if (answer !== undefined) return answer;
    // A schema that refers to itself meets this answer while its own is being deduced.
    known.set(schema, everyType);
    const types = deduceTypes(schema);
    known.set(schema, types);
    return types;
  };

  return union;
};

type MembersOf = (schema: unknown) => readonly Table[];

/** Creates the function that returns a schema and all other schemas that apply, or may apply, to the same value. */
const createMembers = (targetOf: TargetOf): MembersOf => {
  const membersBySchema = new WeakMap<object, readonly Table[]>();

  const collect = (schema: unknown, members = new Set<Table>()): Set<Table> => {
    if (!isTable(schema) || members.has(schema)) return members;
    members.add(schema);
    const parts = [
      targetOf(schema),
      ...schemasIn(schema.allOf),
      ...schemasIn(schema.anyOf),
      ...schemasIn(schema.oneOf),
      schema.then,
      schema.else,
      ...Object.values(isTable(schema.dependentSchemas) ? schema.dependentSchemas : {}),
    ];
    for (const part of parts) collect(part, members);
    return members;
  };

  return (schema) =>
    isTable(schema) ? keep(membersBySchema, schema, () => [...collect(schema)]) : [];
};

const itemOf = (member: Table, index: number): unknown[] => {
  const listed = schemasIn(member.prefixItems);
  const item = index < listed.length ? listed[index] : member.items;
  return item === undefined ? [] : [item];
};

const propertyOf = (
  member: Table,
  name: string,
  patternOf: (source: string) => Pattern,
): unknown[] => {
  const found: unknown[] = [];
  if (isTable(member.properties) && Object.hasOwn(member.properties, name)) {
    found.push(member.properties[name]);
  }
  for (const [pattern, schema] of Object.entries(
    isTable(member.patternProperties) ? member.patternProperties : {},
  )) {
    if (patternOf(pattern).test(name)) found.push(schema);
  }
  if (found.length === 0 && isTable(member.additionalProperties)) {
    found.push(member.additionalProperties);
  }
  return found;
};

/**
 * Creates the function that returns the schemas of one value inside a value: of a property, or of an item of a list.
 */
const createParts = (typesOf: TypesOf, membersOf: MembersOf) => {
  const partsBySchema = new WeakMap<object, Map<string, readonly unknown[]>>();
  const patterns = new Map<string, Pattern>();

  const patternOf = (source: string): Pattern => {
    const pattern = patterns.get(source) ?? compilePattern(source);
    patterns.set(source, pattern);
    return pattern;
  };

  /**
   * Returns the schemas of a property or item. If no schema mentions the property or item, it may be anything, unless
   * the value allows no further ones.
   */
  const findParts = (schema: unknown, segment: string): unknown[] => {
    const isIndex = /^\d+$/.test(segment);
    if (!typesOf([schema]).has(isIndex ? 'array' : 'object')) return [];
    const members = membersOf(schema);
    const found = members.flatMap((member) =>
      isIndex ? itemOf(member, Number(segment)) : propertyOf(member, segment, patternOf),
    );
    if (found.length > 0) return found.filter((part) => part !== false);
    const closing = isIndex
      ? ['items', 'unevaluatedItems']
      : ['additionalProperties', 'unevaluatedProperties'];
    const isClosed = members.some((member) => closing.some((keyword) => member[keyword] === false));
    return isClosed ? [] : [true];
  };

  return (schema: unknown, segment: string): readonly unknown[] => {
    if (!isTable(schema)) return findParts(schema, segment);
    const known = keep(partsBySchema, schema, () => new Map());
    const parts = known.get(segment) ?? [...new Set(findParts(schema, segment))];
    known.set(segment, parts);
    return parts;
  };
};

/** Creates an analysis of schemas that share the given definitions. Answers are cached. */
export const createAnalysis = (definitions: Readonly<Record<string, JsonSchema>>): Analysis => {
  const targetOf: TargetOf = (schema) => {
    const name = definitionName(schema.$ref);
    return name === undefined ? undefined : own(definitions, name);
  };
  const typesOf = createTypes(targetOf);
  const membersOf = createMembers(targetOf);
  const partsOf = createParts(typesOf, membersOf);

  const stepInto = (schemas: readonly unknown[], segment: string): readonly unknown[] =>
    schemas.length === 1
      ? partsOf(schemas[0], segment)
      : [...new Set(schemas.flatMap((schema) => partsOf(schema, segment)))];

  return {
    types: typesOf,
    at: (schema, path) => path.reduce(stepInto, [schema] as readonly unknown[]),
    properties(schema) {
      const properties = new Map<string, unknown[]>();
      for (const member of membersOf(schema)) {
        const declared = isTable(member.properties) ? Object.entries(member.properties) : [];
        for (const [name, part] of declared) {
          properties.set(name, [...(properties.get(name) ?? []), part]);
        }
      }
      return properties;
    },
  };
};

const kept = new WeakMap<object, Analysis>();

/** Returns the analysis of definitions, which is cached as long as the definitions exist. */
export const analysisOf = (definitions: Readonly<Record<string, JsonSchema>>): Analysis =>
  keep(kept, definitions, () => createAnalysis(definitions));

const without = (types: Types, left: JsonType): JsonType[] =>
  [...types].filter((type) => type !== left);

/**
 * Returns the only scalar type of a value, apart from null; undefined if the value has several types, or may be an
 * object or list.
 */
export const scalarType = (
  types: Types,
): 'string' | 'integer' | 'number' | 'boolean' | undefined => {
  const given = without(types, 'null').sort().join(' ');
  if (given === 'integer number') return 'number';
  return (['string', 'integer', 'number', 'boolean'] as const).find((type) => type === given);
};

/** Returns the type of a scalar field's column in the store. In the store, booleans are 0 and 1. */
export const columnType = (types: Types): ColumnType | undefined => {
  const columns = {
    string: 'TEXT',
    integer: 'INTEGER',
    boolean: 'INTEGER',
    number: 'REAL',
  } as const;
  const type = scalarType(types);
  return type === undefined ? undefined : columns[type];
};
