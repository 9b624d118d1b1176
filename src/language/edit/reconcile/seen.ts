/**
 * Summarises values one after another, and builds a schema that accepts all of them: their types, the format of their
 * texts, and the closed schemas of their objects.
 *
 * Memory grows with the schema, and not with the number of values. Objects with very many different keys become maps,
 * and very deep values are not constrained, so that strange values cannot make a schema grow without end.
 */
import type { JsonSchema } from '../../contract.ts';
import { isInherited } from '../../read/names.ts';
import { isTable } from '../../read/values.ts';
import type { JsonType } from '../../schema/analysis.ts';
import { assertedFormats } from '../../schema/formats.ts';

/** Number of further fields that all summaries with the same budget may still add; at 0, objects become maps. */
export type FieldBudget = { left: number };

export const createFieldBudget = (): FieldBudget => ({ left: 5_000 });

/** Summary of the values at one place. */
export type Seen = {
  budget: FieldBudget;
  types: Map<JsonType, number>;
  /** Formats that all texts have until now; undefined before the first text. */
  formats: string[] | undefined;
  objects: number;
  /** Fields of the objects, in the order in which they first occurred. */
  fields: Map<string, { count: number; seen: Seen }>;
  /** Summary of all values of a map; undefined while the objects are no map. */
  values: Seen | undefined;
  /** Summary of all items of the lists; undefined if there are none. */
  items: Seen | undefined;
};

const maxFields = 100;
const maxDepth = 8;

/** Formats that are recognised in texts. URIs must be HTTP URLs, because any text with a colon would be a URI. */
const formatTests: readonly [format: string, test: (text: string) => boolean][] = (
  ['date-time', 'uuid', 'email', 'uri'] as const
).map((format) => [
  format,
  (text) =>
    assertedFormats[format]?.(text) === true && (format !== 'uri' || /^https?:\/\//i.test(text)),
]);

export const createSeen = (budget: FieldBudget): Seen => ({
  budget,
  types: new Map(),
  formats: undefined,
  objects: 0,
  fields: new Map(),
  values: undefined,
  items: undefined,
});

/** Returns the type of a value; a whole number is an `integer`. */
export const typeOfValue = (value: unknown): JsonType => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'object' ? 'object' : (typeof value as 'string' | 'boolean');
};

const addTo = <Key>(counts: Map<Key, number>, key: Key, count = 1): void => {
  counts.set(key, (counts.get(key) ?? 0) + count);
};

/** Adds the summary `from` to `into`; `from` must not be used afterwards. */
export const mergeSeen = (into: Seen, from: Seen): void => {
  for (const [type, count] of from.types) addTo(into.types, type, count);
  if (from.formats !== undefined) {
    const { formats = from.formats } = into;
    into.formats = formats.filter((format) => from.formats?.includes(format));
  }
  into.objects += from.objects;
  for (const [name, { count, seen }] of from.fields) {
    const known = into.fields.get(name);
    if (known === undefined) into.fields.set(name, { count, seen });
    else {
      known.count += count;
      mergeSeen(known.seen, seen);
    }
  }
  for (const part of ['values', 'items'] as const) {
    const [own, other] = [into[part], from[part]];
    if (own === undefined) into[part] = other;
    else if (other !== undefined) mergeSeen(own, other);
  }
  if (into.values !== undefined || into.fields.size > maxFields) becomeMap(into);
};

/** Turns the summary of an object's fields into that of a map. */
const becomeMap = (seen: Seen): void => {
  seen.values ??= createSeen(seen.budget);
  const { fields, values } = seen;
  seen.fields = new Map();
  for (const { seen: field } of fields.values()) mergeSeen(values, field);
};

const seeText = (seen: Seen, text: string): void => {
  const formats = seen.formats ?? formatTests.map(([format]) => format);
  seen.formats = formats.filter((format) =>
    formatTests.some(([name, test]) => name === format && test(text)),
  );
};

const newField = ({ budget, fields }: Seen, name: string): { count: number; seen: Seen } => {
  budget.left -= 1;
  const field = { count: 0, seen: createSeen(budget) };
  fields.set(name, field);
  return field;
};

const seeObject = (seen: Seen, value: object, depth: number): void => {
  seen.objects += 1;
  for (const [name, part] of Object.entries(value)) {
    if (seen.values === undefined && isInherited(name)) becomeMap(seen);
    if (seen.values !== undefined) {
      see(seen.values, part, depth + 1);
      continue;
    }
    const field = seen.fields.get(name) ?? newField(seen, name);
    field.count += 1;
    see(field.seen, part, depth + 1);
    if (seen.fields.size > maxFields || seen.budget.left < 0) becomeMap(seen);
  }
};

/** Adds a value to a summary. */
export const see = (seen: Seen, value: unknown, depth = 0): void => {
  addTo(seen.types, typeOfValue(value));
  if (typeof value === 'string') seeText(seen, value);
  if (depth >= maxDepth) return;
  if (isTable(value)) seeObject(seen, value, depth);
  if (Array.isArray(value)) {
    for (const item of value) {
      seen.items ??= createSeen(seen.budget);
      see(seen.items, item, depth + 1);
    }
  }
};

const typeOrder: readonly JsonType[] = [
  'string',
  'integer',
  'number',
  'boolean',
  'object',
  'array',
  'null',
];

/** Returns the value of the keyword `type` for the given types: one name, or a list with `null` at its end. */
export const typeKeyword = (types: Iterable<JsonType>): JsonType | JsonType[] => {
  const given = new Set(types);
  if (given.has('number')) given.delete('integer');
  const [only, ...others] = typeOrder.filter((type) => given.has(type));
  return only !== undefined && others.length === 0 ? only : [only ?? 'null', ...others];
};

/** Returns the keywords that describe those values that are objects. */
export const objectKeywords = (seen: Seen, depth = 0): JsonSchema => {
  if (seen.objects === 0 || depth >= maxDepth) return {};
  if (seen.values !== undefined) return { additionalProperties: schemaOf(seen.values, depth + 1) };
  const fields = [...seen.fields];
  const required = fields.flatMap(([name, { count }]) => (count === seen.objects ? [name] : []));
  const properties = fields.map(([name, field]) => [name, schemaOf(field.seen, depth + 1)]);
  return {
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    ...(fields.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
  };
};

/** Returns the keywords that describe those values that are lists. */
export const listKeywords = (seen: Seen, depth = 0): JsonSchema =>
  seen.items === undefined ? {} : { items: schemaOf(seen.items, depth + 1) };

/** Returns a schema that accepts all the values. */
export const schemaOf = (seen: Seen, depth = 0): JsonSchema => {
  if (seen.types.size === 0) return {};
  const [format] = seen.formats ?? [];
  return {
    type: typeKeyword(seen.types.keys()),
    ...(format === undefined ? {} : { format }),
    ...objectKeywords(seen, depth),
    ...listKeywords(seen, depth),
  };
};
