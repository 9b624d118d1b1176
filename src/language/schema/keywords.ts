/**
 * Keywords of JSON Schema 2020-12 that a world's schemas may use: the kind of each keyword's value, the schemas inside
 * the value, and whether these apply to the same value as the schema that has the keyword.
 */
import {
  anything,
  distinct,
  flag,
  integer,
  type Kind,
  listOf,
  mapOf,
  oneOf,
  refuseType,
  refuseValue,
  text,
  textThat,
} from '../read/kinds.ts';
import { isTable } from '../read/values.ts';

export const typeNames = [
  'null',
  'boolean',
  'integer',
  'number',
  'string',
  'array',
  'object',
] as const;

export type Keyword = {
  /** Content of the keyword: `one` schema, a `list` of schemas, a `map` of names to schemas, or only a `value`. */
  holds: 'one' | 'list' | 'map' | 'value';
  kind: Kind<unknown>;
  /** True if the inner schemas apply to the value itself, and not to a value inside it. */
  isInPlace: boolean;
};

const value = (kind: Kind<unknown>): Keyword => ({ holds: 'value', kind, isInPlace: false });
const inPart = (holds: 'one' | 'list' | 'map'): Keyword => ({
  holds,
  kind: anything,
  isInPlace: false,
});
const inPlace = (holds: 'one' | 'list' | 'map'): Keyword => ({
  holds,
  kind: anything,
  isInPlace: true,
});

const count = integer(0, 2 ** 31);

const finiteNumber: Kind<number> = (place, read) => {
  if (typeof read === 'number') return read;
  return refuseType(place, 'a number', read);
};

const positiveNumber: Kind<number> = (place, read) => {
  const number = finiteNumber(place, read);
  if (number === undefined || number > 0) return number;
  return refuseValue(place, `must be above 0, is ${number}`);
};

const typeName = oneOf(typeNames);
const listOfTypes = distinct(listOf(typeName, { least: 1 }));
const types: Kind<unknown> = (place, read) =>
  Array.isArray(read) ? listOfTypes(place, read) : typeName(place, read);

const names = distinct(listOf(text));

export const keywords: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({
    $ref: value(textThat('a reference', (ref) => ref !== '')),
    $comment: value(text),
    title: value(text),
    description: value(text),
    default: value(anything),
    examples: value(listOf(anything)),
    deprecated: value(flag),
    readOnly: value(flag),
    writeOnly: value(flag),
    format: value(text),
    contentEncoding: value(text),
    contentMediaType: value(text),
    type: value(types),
    enum: value(listOf(anything, { least: 1 })),
    const: value(anything),
    multipleOf: value(positiveNumber),
    maximum: value(finiteNumber),
    exclusiveMaximum: value(finiteNumber),
    minimum: value(finiteNumber),
    exclusiveMinimum: value(finiteNumber),
    maxLength: value(count),
    minLength: value(count),
    pattern: value(text),
    maxItems: value(count),
    minItems: value(count),
    uniqueItems: value(flag),
    maxContains: value(count),
    minContains: value(count),
    maxProperties: value(count),
    minProperties: value(count),
    required: value(names),
    dependentRequired: value(mapOf(names)),
    properties: inPart('map'),
    patternProperties: inPart('map'),
    additionalProperties: inPart('one'),
    unevaluatedProperties: inPart('one'),
    propertyNames: inPart('one'),
    items: inPart('one'),
    prefixItems: inPart('list'),
    contains: inPart('one'),
    unevaluatedItems: inPart('one'),
    allOf: inPlace('list'),
    anyOf: inPlace('list'),
    oneOf: inPlace('list'),
    not: inPlace('one'),
    if: inPlace('one'),
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema
    then: inPlace('one'),
    else: inPlace('one'),
    dependentSchemas: inPlace('map'),
  } satisfies Record<string, Keyword>),
);

/** Keywords of the standard, or of a dialect of it, that are refused, each with the way out. */
export const refusedKeywords: ReadonlyMap<string, string> = new Map([
  ['$id', 'name schemas by their key in $defs'],
  ['$schema', 'only the whole document may name its dialect'],
  ['$anchor', 'refer to #/$defs/<name>'],
  ['$dynamicAnchor', 'refer to #/$defs/<name>'],
  ['$dynamicRef', 'use $ref'],
  ['$vocabulary', 'leave it out'],
  ['$defs', 'put definitions into the $defs of the document'],
  ['definitions', 'put definitions into the $defs of the document'],
  ['dependencies', 'use dependentRequired or dependentSchemas'],
  ['additionalItems', 'use prefixItems and items'],
  ['nullable', 'add "null" to the type'],
  ['discriminator', 'use oneOf with const'],
  ['contentSchema', 'leave it out'],
]);

/** A schema inside another schema: the keyword that contains it, and its path within the outer schema. */
type Subschema = { keyword: string; path: (string | number)[]; schema: unknown };

/** Returns the direct subschemas of a schema. */
export const subschemasOf = (schema: Readonly<Record<string, unknown>>): Subschema[] => {
  const found: Subschema[] = [];
  for (const keyword of Object.keys(schema)) {
    const held = schema[keyword];
    const holds = keywords.get(keyword)?.holds;
    if (holds === 'one') found.push({ keyword, path: [keyword], schema: held });
    if (holds === 'list' && Array.isArray(held)) {
      for (const [index, part] of held.entries()) {
        found.push({ keyword, path: [keyword, index], schema: part });
      }
    }
    if (holds === 'map' && isTable(held)) {
      for (const name of Object.keys(held)) {
        found.push({ keyword, path: [keyword, name], schema: held[name] });
      }
    }
  }
  return found;
};

const definitionPrefix = '#/$defs/';

/** Returns the name of the definition to which a resolved reference leads; undefined for anything else. */
export const definitionName = (reference: unknown): string | undefined =>
  typeof reference === 'string' && reference.startsWith(definitionPrefix)
    ? reference.slice(definitionPrefix.length)
    : undefined;
