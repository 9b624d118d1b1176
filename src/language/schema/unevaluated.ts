/**
 * Keywords `unevaluatedProperties` and `unevaluatedItems`. They apply to those members and items of a value that no
 * other keyword has evaluated. Which these are depends on the alternatives that the value fits, so this code follows
 * the schema along the value. Its result is right only for values that are valid according to all other keywords,
 * because these keywords come last.
 *
 * The validator decides whether a value fits an alternative, and the answer is cached for one validation. Otherwise the
 * work would double with each level of nesting.
 */

import { _, type CodeKeywordDefinition } from 'ajv/dist/2020.js';
import { own } from '#domain/json.ts';
import type { JsonSchema } from '../contract.ts';
import { isTable, type Table } from '../read/values.ts';
import { definitionName } from './keywords.ts';
import type { Pattern } from './patterns.ts';
import type { Steps } from './steps.ts';

type Container = Readonly<Record<string, unknown>> | readonly unknown[];

/** Members or items of a value that were evaluated: `all` of them, or those whose names or indexes are listed. */
type Looked = { all: boolean; parts: Set<string | number> };

/** Functions of the validator that the two keywords need. */
type Validation = {
  definitions: Readonly<Record<string, JsonSchema>>;
  /** Returns true if a value fits a subschema. */
  fits(schema: Table, value: unknown): boolean;
  pattern(source: string): Pattern;
  steps: Steps;
};

const listIn = (held: unknown): readonly unknown[] => (Array.isArray(held) ? held : []);
const entriesIn = (held: unknown): [string, unknown][] =>
  isTable(held) ? Object.entries(held) : [];

/** Function that records the members or items of a value that a schema itself evaluates. */
type Look = (schema: Table, value: Container, looked: Looked, validation: Validation) => void;

const lookAtProperties: Look = (schema, value, looked, { pattern }) => {
  if (own(schema, 'additionalProperties') !== undefined) looked.all = true;
  if (own(schema, 'unevaluatedProperties') !== undefined) looked.all = true;
  for (const [name] of entriesIn(schema.properties)) looked.parts.add(name);
  for (const [source] of entriesIn(schema.patternProperties)) {
    const matching = pattern(source);
    for (const name of Object.keys(value)) if (matching.test(name)) looked.parts.add(name);
  }
};

const lookAtItems: Look = (schema, value, looked, validation) => {
  if (own(schema, 'items') !== undefined) looked.all = true;
  if (own(schema, 'unevaluatedItems') !== undefined) looked.all = true;
  for (const index of listIn(schema.prefixItems).keys()) looked.parts.add(index);
  const { contains } = schema;
  for (const [index, item] of Array.isArray(value) ? value.entries() : []) {
    const isFound = isTable(contains) ? validation.fits(contains, item) : contains === true;
    if (isFound) looked.parts.add(index);
  }
};

/** Returns the subschemas of a schema that apply to the same value. */
const partsInForce = (schema: Table, value: Container, validation: Validation): unknown[] => {
  const fits = (part: unknown): boolean =>
    isTable(part) ? validation.fits(part, value) : part === true;
  const name = definitionName(schema.$ref);
  const isMet = Object.hasOwn(schema, 'if') && fits(schema.if);
  const branch = isMet ? [schema.if, schema.then] : [schema.else];
  return [
    name === undefined ? undefined : own(validation.definitions, name),
    ...listIn(schema.allOf),
    ...listIn(schema.anyOf).filter(fits),
    ...listIn(schema.oneOf).filter(fits),
    ...(Object.hasOwn(schema, 'if') ? branch : []),
    ...entriesIn(schema.dependentSchemas)
      .filter(([property]) => !Array.isArray(value) && Object.hasOwn(value, property))
      .map(([, part]) => part),
  ];
};

const sizeOf = (value: Container): number =>
  Array.isArray(value) ? value.length : Object.keys(value).length;

/**
 * Returns the number of steps in which a schema is followed at a value: names are compared with patterns, items with
 * `contains`.
 */
const stepsOfLook = (
  { properties, patternProperties, contains }: Table,
  value: Container,
): number =>
  1 +
  entriesIn(properties).length +
  (patternProperties === undefined && contains === undefined ? 0 : sizeOf(value));

/** Returns the members or items that a schema has evaluated, without its own `unevaluated…` keywords at the root. */
const lookAlong = (root: Table, value: Container, look: Look, validation: Validation): Looked => {
  const looked: Looked = { all: false, parts: new Set() };
  const visit = (schema: unknown): void => {
    if (!isTable(schema) || looked.all) return;
    validation.steps.take(stepsOfLook(schema, value));
    look(schema, value, looked, validation);
    for (const part of partsInForce(schema, value, validation)) visit(part);
  };
  const { unevaluatedProperties: _p, unevaluatedItems: _i, ...others } = root;
  visit(others);
  return looked;
};

/** Returns the two keywords, which replace those of the validator. */
export const unevaluatedKeywords = (validation: Validation): CodeKeywordDefinition[] => {
  const keyword = (name: string, type: 'object' | 'array', look: Look): CodeKeywordDefinition => ({
    keyword: name,
    type,
    schemaType: ['boolean', 'object'],
    trackErrors: true,
    error: {
      message:
        type === 'array'
          ? 'has more items than its schema allows'
          : 'has a property that its schema does not allow',
      params: ({ params }) => _`{unevaluatedProperty: ${params.part}}`,
    },
    code(cxt) {
      const { gen, schema, data, it, parentSchema } = cxt;
      if (schema === true) return;
      const partsOf = (value: Container): (string | number)[] => {
        const { all, parts } = lookAlong(parentSchema, value, look, validation);
        const held = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
        return all ? [] : held.filter((part) => !parts.has(part));
      };
      const list = gen.scopeValue('func', { ref: partsOf });
      const valid = gen.let('valid', true);
      gen.forOf('part', _`${list}(${data})`, (part) => {
        if (schema === false) {
          cxt.setParams({ part });
          cxt.error();
          gen.assign(valid, false);
        } else {
          const fits = gen.name('fits');
          const dataPropType = type === 'object' ? 1 : 0;
          cxt.subschema({ keyword: name, dataProp: part, dataPropType }, fits);
          gen.if(_`!${fits}`, () => gen.assign(valid, false));
        }
        if (!it.allErrors) gen.if(_`!${valid}`, () => gen.break());
      });
      cxt.ok(valid);
    },
  });
  return [
    keyword('unevaluatedProperties', 'object', lookAtProperties),
    keyword('unevaluatedItems', 'array', lookAtItems),
  ];
};
