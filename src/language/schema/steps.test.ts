/**
 * Checks that the sizes of schema and value bound the cost of a validation, whatever they contain. Beyond a fixed
 * number of steps, a value is refused. If a validation did more work than it counts, these tests would not end.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Choices, choiceLists, createChoices } from '#test/support/random/choices.ts';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import { createFirstLook } from './first-look.ts';
import { createShapes, type StepLimits } from './shapes.ts';

/** Limits without a fast pre-check, because these tests are about the validator's limits. */
const usual: StepLimits = {
  look: 0,
  verdict: languageLimits.checkSteps,
  explanation: languageLimits.explanationSteps,
};

const checkerOf = (definitions: Record<string, JsonSchema>, limits: StepLimits = usual) => {
  const check = createShapes(definitions, new Map([['T', { $ref: '#/$defs/T' }]]), limits).get('T');
  if (check === undefined) throw new Error('there is no check');
  return check;
};

const to = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });
const inside = { c: to('T') };
const many = <Made>(count: number, make: (index: number) => Made): Made[] =>
  Array.from({ length: count }, (_, index) => make(index));
const nest = (depth: number, leaf: unknown): unknown =>
  many(depth, () => 'c').reduce<unknown>((value, key) => ({ [key]: value }), leaf);

describe('a schema that refers to itself, or to others, in several ways', () => {
  it.each<[string, JsonSchema, unknown, boolean]>([
    [
      'anyOf whose choices differ only at the end',
      { anyOf: many(20, () => ({ properties: inside })) },
      5,
      true,
    ],
    [
      'anyOf, none of which fits',
      { anyOf: many(20, () => ({ type: 'object', properties: inside })) },
      5,
      false,
    ],
    [
      'anyOf whose branches require missing members',
      { anyOf: many(3, (index) => ({ properties: inside, required: [`a${index}`] })) },
      {},
      false,
    ],
    ['oneOf', { oneOf: many(3, () => ({ properties: inside })) }, {}, false],
    ['allOf', { allOf: many(3, () => ({ type: 'object', properties: inside })) }, 5, false],
    ['not', { not: { required: ['c'], properties: inside } }, {}, true],
    [
      'if, then and else',
      {
        if: { properties: inside, required: ['c'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: inside },
        else: { properties: inside, required: ['z'] },
      },
      {},
      false,
    ],
    [
      'unevaluatedProperties',
      {
        anyOf: many(5, () => ({ properties: inside, type: 'object' })),
        unevaluatedProperties: false,
      },
      { z: 1 },
      false,
    ],
    [
      'dependentSchemas',
      { properties: inside, dependentSchemas: { c: { properties: inside } } },
      { c: 5 },
      true,
    ],
    [
      'patternProperties',
      { patternProperties: { '^c': to('T'), c$: to('T') }, type: 'object' },
      5,
      false,
    ],
  ])('is applied to all levels of a nested value: %s', (_name, shape, leaf, fits) => {
    const problems = checkerOf({ T: shape })(nest(languageLimits.depth - 2, leaf));
    expect(problems.length === 0).toBe(fits);
    expect(JSON.stringify(problems)).not.toContain('steps');
    expect(JSON.stringify(problems).length).toBeLessThan(20_000);
  });

  it('is applied along a chain of sixty schemas without a cycle', () => {
    const chain = Object.fromEntries(
      many(60, (index) => [
        index === 0 ? 'T' : `T${index}`,
        { anyOf: many(4, () => ({ properties: { c: to(`T${index + 1}`) }, type: 'object' })) },
      ]),
    );
    const check = checkerOf({ ...chain, T60: { type: 'object' } });
    expect(check(nest(60, {}))).toEqual([]);
    expect(check(nest(60, 5))).toEqual([
      { pointer: '', detail: 'fits none of the allowed alternatives, is an object' },
    ]);
  });
});

describe('a value that takes too many steps', () => {
  const wide = 390;
  const long = 'x'.repeat(1_000_000);
  const names = Object.fromEntries(many(50_000, (index) => [`k${'ab'.repeat(20)}${index}`, 1]));

  it.each<[string, JsonSchema, unknown]>([
    [
      'a list, of which every item is validated by many schemas',
      { items: { allOf: many(wide, () => ({ minimum: 0 })) } },
      many(100_000, Number),
    ],
    [
      'a text whose length is checked many times',
      { allOf: many(wide, () => ({ maxLength: 2e6 })) },
      long,
    ],
    [
      'a text whose format is checked many times',
      { allOf: many(wide, () => ({ format: 'uri-reference' })) },
      long,
    ],
    [
      'an object whose names are counted many times',
      { allOf: many(wide, () => ({ minProperties: 1 })) },
      names,
    ],
    [
      'names that are matched with many patterns',
      {
        patternProperties: Object.fromEntries(
          many(wide, (index) => [`(a|b)*z${index}$`, { type: 'integer' }]),
        ),
      },
      names,
    ],
    [
      'a long text that is matched with a large pattern',
      { pattern: '(?:a|b|ab){300}[xy]' },
      'ab'.repeat(500_000),
    ],
    [
      'a large value that is compared many times',
      { allOf: many(wide, () => ({ not: { const: {} } })) },
      names,
    ],
    [
      'a list whose items are compared many times',
      { allOf: many(wide, () => ({ uniqueItems: true })) },
      many(50_000, String),
    ],
    [
      'names, each of which is validated by many schemas',
      { propertyNames: { allOf: many(wide, () => ({ minLength: 1 })) } },
      names,
    ],
  ])('is refused: %s', (_name, shape, value) => {
    expect(checkerOf({ T: shape })(value)).toEqual([
      { pointer: '', detail: expect.stringContaining('takes more than 10000000 steps') },
    ]);
  });

  it('is refused with only its first problem if finding all problems would take too many steps', () => {
    const shape = { items: { allOf: many(wide, () => ({ type: 'string' })) } };
    const limits = { ...usual, explanation: 1_000 };
    expect(checkerOf({ T: shape }, limits)(many(10, Number))).toEqual([
      { pointer: '/0', detail: 'must be string, is number 0' },
    ]);
  });

  it('does not reduce the steps that the next value may take', () => {
    const check = checkerOf({ T: { pattern: '(?:a|b|ab){300}[xy]' } });
    expect(check('ab'.repeat(500_000))).toHaveLength(1);
    expect(check(`${'a'.repeat(300)}x`)).toEqual([]);
  });
});

describe('a problem', () => {
  it('quotes only the beginning of a large value', () => {
    const value = { c: many(200_000, (index) => ({ index, text: 'x'.repeat(10) })) };
    const [problem] = checkerOf({ T: { enum: many(20_000, (index) => ({ index })) } })(value);
    expect(problem?.detail).toContain('is {"c":[{"index":0,"text":"xxxxxxxxxx"}');
    expect(problem?.detail.length).toBeLessThan(200);
  });
});

const fields = ['a', 'b', 'c'];

/** Builds a schema that refers to other schemas, and to itself, by any keyword. */
const chooseShape = (choices: Choices, names: readonly string[], depth: number): JsonSchema => {
  const next = (): JsonSchema =>
    depth === 0 || choices.oneIn(2)
      ? { properties: { [choices.of(fields)]: to(choices.of(names)) } }
      : chooseShape(choices, names, depth - 1);
  const list = (): JsonSchema[] => many(2 + choices.below(2), next);
  switch (choices.below(8)) {
    case 0:
      return { anyOf: list() };
    case 1:
      return { oneOf: list() };
    case 2:
      return { allOf: list() };
    case 3:
      return { not: next() };
    case 4:
      return { required: [choices.of(fields)] };
    case 5:
      return { type: choices.of(['object', 'integer']) };
    default:
      return {
        properties: Object.fromEntries(fields.map((name) => [name, to(choices.of(names))])),
      };
  }
};

/** Returns a second implementation of the same keywords, which evaluates each schema once for each value. */
const readPlainly = (definitions: Record<string, JsonSchema>) => {
  const known = new Map<unknown, Map<unknown, boolean>>();
  const fits = (schema: JsonSchema, value: unknown): boolean => {
    const ofSchema = known.get(schema) ?? new Map<unknown, boolean>();
    known.set(schema, ofSchema);
    const answer = ofSchema.get(value) ?? judge(schema, value);
    ofSchema.set(value, answer);
    return answer;
  };
  const judge = (schema: JsonSchema, value: unknown): boolean => {
    const list = (keyword: string): JsonSchema[] => (schema[keyword] ?? []) as JsonSchema[];
    const isObject = typeof value === 'object' && value !== null;
    const parts = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
    const held = isObject ? (value as Record<string, unknown>) : {};
    const target = typeof schema.$ref === 'string' ? schema.$ref.slice('#/$defs/'.length) : '';
    if (target !== '' && !fits(definitions[target] ?? {}, value)) return false;
    if (schema.type === 'object' && !isObject) return false;
    if (schema.type === 'integer' && !Number.isInteger(value)) return false;
    if (isObject && list('required').some((name) => !Object.hasOwn(held, String(name))))
      return false;
    if (parts.some(([name, part]) => Object.hasOwn(held, name) && !fits(part, held[name])))
      return false;
    if (schema.not !== undefined && fits(schema.not as JsonSchema, value)) return false;
    if (list('allOf').some((part) => !fits(part, value))) return false;
    if (schema.anyOf !== undefined && !list('anyOf').some((part) => fits(part, value)))
      return false;
    return (
      schema.oneOf === undefined || list('oneOf').filter((part) => fits(part, value)).length === 1
    );
  };
  return fits;
};

const chooseValue = (choices: Choices, depth: number): unknown => {
  if (depth === 0 || choices.oneIn(12)) return choices.oneIn(2) ? {} : choices.below(3);
  const inner = chooseValue(choices, depth - 1);
  const value: Record<string, unknown> = { [choices.of(fields)]: inner };
  if (choices.oneIn(4)) value[choices.of(fields)] = chooseValue(choices, Math.min(3, depth - 1));
  return value;
};

const countTables = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 1
    : Object.values(value).reduce<number>((sum, part) => sum + countTables(part), 1);

describe("a schema's fast pre-check", () => {
  it.each<[string, JsonSchema, unknown]>([
    [
      'within a long list',
      { items: { anyOf: many(500, () => ({ type: 'null' })) } },
      many(500, () => 1),
    ],
    [
      'within nested alternatives',
      { anyOf: many(3, () => ({ properties: inside })), not: {} },
      nest(60, {}),
    ],
  ])('stops %s, and the value is still validated in full', (_name, shape, value) => {
    expect(createFirstLook({ T: shape })(to('T'))(value, languageLimits.lookSteps)).toBe(false);
    expect(checkerOf({ T: shape }, { ...usual, look: languageLimits.lookSteps })(value)).toEqual(
      checkerOf({ T: shape })(value),
    );
  });
});

describe('schemas that refer to one another at random', () => {
  it('take at most as many steps as schemas times values, and give the same verdicts as a simple validator', () => {
    const seen = { accepted: 0, refused: 0 };
    const property = fc.property(choiceLists(120), choiceLists(300), (forShapes, forValues) => {
      const choices = createChoices(forShapes);
      const names = ['T', 'U', 'V'].slice(0, 1 + choices.below(3));
      const definitions = Object.fromEntries(
        names.map((name) => [name, chooseShape(choices, names, 2)]),
      );
      const value = chooseValue(createChoices(forValues), 55);
      const verdict = 4 * countTables(definitions) * countTables(value);
      const problems = checkerOf(definitions, { ...usual, verdict })(value);
      expect(JSON.stringify(problems)).not.toContain('steps');
      const isAccepted = problems.length === 0;
      seen[isAccepted ? 'accepted' : 'refused'] += 1;
      expect(isAccepted).toBe(readPlainly(definitions)(to('T'), value));
      const look = createFirstLook(definitions)(to('T'));
      expect(look(value, languageLimits.lookSteps) && !isAccepted).toBe(false);
    });
    fc.assert(property, fuzzRuns(500));
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(50);
  });
});
