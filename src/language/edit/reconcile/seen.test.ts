import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createShapes } from '../../schema/shapes.ts';
import { createFieldBudget, createSeen, schemaOf, see } from './seen.ts';

const inferred = (...values: unknown[]) => {
  const seen = createSeen(createFieldBudget());
  for (const value of values) see(seen, value);
  return schemaOf(seen);
};

describe('schemaOf', () => {
  it.each<[unknown[], object]>([
    [[1, 2], { type: 'integer' }],
    [[1, 2.5], { type: 'number' }],
    [['a', null], { type: ['string', 'null'] }],
    [[null, true, 1], { type: ['integer', 'boolean', 'null'] }],
    [[null], { type: 'null' }],
    [[[]], { type: 'array' }],
    [[[1], ['a', null]], { type: 'array', items: { type: ['string', 'integer', 'null'] } }],
    [[{}], { type: 'object', additionalProperties: false }],
  ])('describes the values %j', (values, schema) => {
    expect(inferred(...values)).toEqual(schema);
  });

  it('requires the fields that all objects have, and closes the schema', () => {
    expect(inferred({ a: 1, b: { c: 'x' } }, { a: null, b: {} })).toEqual({
      type: 'object',
      additionalProperties: false,
      required: ['a', 'b'],
      properties: {
        a: { type: ['integer', 'null'] },
        b: {
          type: 'object',
          additionalProperties: false,
          properties: { c: { type: 'string' } },
        },
      },
    });
  });

  it.each([
    ['date-time', '2025-01-02T03:04:05Z'],
    ['uuid', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
    ['email', 'ada@example.com'],
    ['uri', 'https://example.com/a?b'],
  ])('recognizes the format %s when all texts have it', (format, text) => {
    expect(inferred(text, null, text)).toEqual({ type: ['string', 'null'], format });
    expect(inferred(text, 'else')).toEqual({ type: 'string' });
  });

  it('does not treat a digest as a URI', () => {
    expect(inferred(`sha256:${'0'.repeat(64)}`)).toEqual({ type: 'string' });
  });

  it('treats objects with very many keys, or with keys that JavaScript objects inherit, as maps', () => {
    const map = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, index]));
    expect(inferred(map)).toEqual({ type: 'object', additionalProperties: { type: 'integer' } });
    const odd = JSON.parse('{"a": 1, "__proto__": "x"}');
    expect(inferred(odd)).toEqual({
      type: 'object',
      additionalProperties: { type: ['string', 'integer'] },
    });
  });

  it('describes a limited number of fields in all', () => {
    const bush = (depth: number): unknown =>
      depth === 0
        ? 1
        : Object.fromEntries(
            Array.from({ length: 60 }, (_, index) => [`f${index}`, bush(depth - 1)]),
          );
    expect(JSON.stringify(inferred(bush(3))).length).toBeLessThan(400_000);
  });

  it('does not constrain values below a depth', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 60; level += 1) deep = level % 2 ? [deep] : { a: deep };
    expect(JSON.stringify(inferred(deep)).length).toBeLessThan(1_000);
  });

  it('returns a schema that every value fits', () => {
    const value = fc.jsonValue({ maxDepth: 5 });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), (values) => {
        const read = JSON.parse(JSON.stringify(values)) as unknown[];
        const check = createShapes({}, new Map([['x', inferred(...read)]])).get('x');
        expect(read.flatMap((each) => check?.(each) ?? [])).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
