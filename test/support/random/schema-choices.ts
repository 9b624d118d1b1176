/**
 * Random schemas of the dialect that worlds accept, and values for them that fit, or narrowly miss. Every keyword
 * occurs, definitions refer to one another, and shapes are recursive.
 */
import type { Choices } from './choices.ts';

type Schema = Record<string, unknown> | boolean;

export type SchemaFamily = { definitions: Record<string, Schema>; root: Schema };

const definitionNames = ['D0', 'D1', 'D2'] as const;
const reference = (index: number): string => `#/$defs/${definitionNames[index]}`;

/** Names of properties: plain ones, ones that need escapes, and ones that often break programs. */
const names = ['a', 'b', 'c', 'x_1', 'é', '0', '1', 'a/b', 'a~b', 'length', ' ', '', '$ref', '😀'];
/** Names that every object inherits: a schema cannot describe them, but may require them. */
const inheritedNames = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'];
const anyNames = [...names, ...inheritedNames];

const numbers = [0, 1, 2, 3, -1, 0.5, 1.5, 0.1, 0.3, 19.99, 10, 1000, -2.5, 2 ** 53, 1e-5];
const lengths = [0, 1, 2, 3];
const texts = [
  '',
  'a',
  'b',
  'ab',
  'aB1',
  'x_1',
  'é',
  '😀',
  'a b',
  '\u00a0',
  '\u2028',
  '12',
  '\ud83d',
];
const patterns = [
  'a',
  '^a',
  'b$',
  '^[a-z]+$',
  '^x_',
  '\\d',
  '^\\w*$',
  '\\s',
  '^\\S+$',
  '^.$',
  '.',
  '^\\p{L}+$',
  '[^a]',
  '(?:a|b){2}',
  '^$',
  'é',
  '\\u{1F600}',
  '\\ud83d\\ude00',
  '^[^\\s\\d]*$',
];
export const formatTexts: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2025-01-02T03:04:05Z', '2024-02-29t23:59:59.123+01:30'],
  date: ['2025-01-31', '2024-02-29', '1900-02-29'],
  time: ['03:04:05Z', '23:59:59.5-08:00'],
  duration: ['P1Y2M3DT4H5M6S', 'P4W', 'PT36H', 'P1D'],
  email: ['ada.l@example.com', '"a b"@x.org', 'a@[127.0.0.1]', 'a@[IPv6:::1]'],
  hostname: ['www.example.com', 'a-b.c', '1.x'],
  ipv4: ['127.0.0.1', '255.249.10.0'],
  ipv6: ['::1', '2001:db8::8a2e:370:7334', '::ffff:1.2.3.4', '1:2:3:4:5:6:7:8'],
  uri: ['https://u:p@example.com:8080/a/b?c=d#e', 'urn:x:y', 'http://[::1]/%20', 'a:'],
  'uri-reference': ['//h/p', '../a?b#c', '#x', 'a/b:c', '?q', ''],
  uuid: ['2eb8aa08-aa98-11ea-b4aa-73b441d16380'],
  'json-pointer': ['/a/b~0c~1/0', '', '/'],
};
const formats = [...Object.keys(formatTexts), 'color'];
const types = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'] as const;

/** Returns any JSON value of little depth. */
export const chooseValue = (choices: Choices, depth = 3): unknown => {
  const kind = choices.below(depth > 0 && !choices.isUsedUp() ? 7 : 5);
  if (kind === 0) return null;
  if (kind === 1) return choices.of(numbers);
  if (kind === 2) return choices.of(texts);
  if (kind === 3) return choices.oneIn(2);
  if (kind === 4) return choices.of(formatTexts[choices.of(Object.keys(formatTexts))] ?? ['']);
  if (kind === 5) return choices.list(0, 4, () => chooseValue(choices, depth - 1));
  const entries = choices.list(0, 4, () => [choices.of(anyNames), chooseValue(choices, depth - 1)]);
  return Object.fromEntries(entries);
};

/**
 * Place of a schema. Below a property or item it may refer to any definition. If it applies to the value of the
 * definition itself, it may refer only to a later one, so that no definition is circular.
 */
type Spot = { depth: number; firstReference: number };

const chooseSchema = (choices: Choices, spot: Spot): Schema => {
  if (spot.depth === 0 || choices.isUsedUp()) return choices.of([true, {}, true, false]);
  if (choices.oneIn(12)) return choices.oneIn(2);
  const schema: Record<string, unknown> = {};
  for (const add of choices.list(1, 3, () => choices.of(keywordGroups))) {
    Object.assign(schema, add(choices, spot));
  }
  return schema;
};

const part = (choices: Choices, { depth }: Spot): Schema =>
  chooseSchema(choices, { depth: depth - 1, firstReference: 0 });
const sameValue = (choices: Choices, { depth, firstReference }: Spot): Schema =>
  chooseSchema(choices, { depth: depth - 1, firstReference });
const named = <Value>(choices: Choices, make: () => Value): Record<string, Value> =>
  Object.fromEntries(choices.list(1, 3, () => [choices.of(names), make()]));

type KeywordGroup = (choices: Choices, spot: Spot) => Record<string, unknown>;

const distinctNames = (choices: Choices): string[] => [
  ...new Set(choices.list(0, 2, () => choices.of(anyNames))),
];

/** Combines several of the makers, so that related keywords often occur in one schema. */
const someOf = (
  choices: Choices,
  makers: Readonly<Record<string, () => unknown>>,
): Record<string, unknown> => {
  const keys = choices.list(1, 3, () => choices.of(Object.keys(makers)));
  return Object.fromEntries([...new Set(keys)].map((key) => [key, makers[key]?.()]));
};

const keywordGroups: readonly KeywordGroup[] = [
  (choices) => ({
    type: choices.oneIn(3)
      ? [...new Set(choices.list(1, 3, () => choices.of(types)))]
      : choices.of(types),
  }),
  (choices, spot) =>
    someOf(choices, {
      properties: () => named(choices, () => part(choices, spot)),
      required: () => distinctNames(choices),
      additionalProperties: () => part(choices, spot),
      patternProperties: () => ({ [choices.of(patterns)]: part(choices, spot) }),
      unevaluatedProperties: () => part(choices, spot),
    }),
  (choices, spot) =>
    someOf(choices, {
      propertyNames: () => part(choices, spot),
      minProperties: () => choices.of(lengths),
      maxProperties: () => choices.of(lengths),
      dependentRequired: () => named(choices, () => distinctNames(choices)),
      dependentSchemas: () => named(choices, () => sameValue(choices, spot)),
      unevaluatedProperties: () => choices.oneIn(2),
    }),
  (choices, spot) =>
    someOf(choices, {
      items: () => part(choices, spot),
      prefixItems: () => choices.list(1, 2, () => part(choices, spot)),
      minItems: () => choices.of(lengths),
      maxItems: () => choices.of(lengths),
      uniqueItems: () => !choices.oneIn(4),
    }),
  (choices, spot) => ({
    contains: part(choices, spot),
    ...someOf(choices, {
      minContains: () => choices.of(lengths),
      maxContains: () => choices.of(lengths),
      unevaluatedItems: () => part(choices, spot),
    }),
  }),
  (choices) =>
    someOf(choices, {
      minimum: () => choices.of(numbers),
      maximum: () => choices.of(numbers),
      exclusiveMinimum: () => choices.of(numbers),
      exclusiveMaximum: () => choices.of(numbers),
      multipleOf: () => choices.of([1, 2, 3, 0.5, 0.25]),
    }),
  (choices) =>
    someOf(choices, {
      minLength: () => choices.of(lengths),
      maxLength: () => choices.of(lengths),
      pattern: () => choices.of(patterns),
      format: () => choices.of(formats),
    }),
  (choices) =>
    choices.oneIn(2)
      ? { const: chooseValue(choices, 2) }
      : { enum: choices.list(1, 3, () => chooseValue(choices, 2)) },
  (choices, spot) =>
    someOf(choices, {
      allOf: () => choices.list(1, 3, () => sameValue(choices, spot)),
      anyOf: () => choices.list(1, 3, () => sameValue(choices, spot)),
      oneOf: () => choices.list(1, 3, () => sameValue(choices, spot)),
      not: () => sameValue(choices, spot),
      unevaluatedProperties: () => part(choices, spot),
      unevaluatedItems: () => part(choices, spot),
    }),
  (choices, spot) => ({
    if: sameValue(choices, spot),
    ...someOf(choices, {
      // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema
      then: () => sameValue(choices, spot),
      else: () => sameValue(choices, spot),
      unevaluatedProperties: () => false,
      unevaluatedItems: () => false,
    }),
  }),
  (choices, { firstReference }) => {
    const left = definitionNames.length - firstReference;
    return left === 0 ? {} : { $ref: reference(firstReference + choices.below(left)) };
  },
  (choices) => ({ default: chooseValue(choices, 1), readOnly: true, title: 'a', examples: [1] }),
];

/** Returns a schema with definitions that it and they refer to. */
export const chooseFamily = (choices: Choices): SchemaFamily => ({
  root: chooseSchema(choices, { depth: 3, firstReference: 0 }),
  definitions: Object.fromEntries(
    definitionNames.map((name, index) => [
      name,
      chooseSchema(choices, { depth: 2, firstReference: index + 1 }),
    ]),
  ),
});
