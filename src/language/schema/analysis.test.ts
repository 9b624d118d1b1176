import { describe, expect, it } from 'vitest';
import { columnType, createAnalysis, scalarType } from './analysis.ts';

const analysis = createAnalysis({
  Id: { type: 'integer' },
  Loop: { $ref: '#/$defs/Loop' },
  Tree: {
    type: 'object',
    additionalProperties: false,
    properties: {
      value: { type: 'string' },
      children: { type: 'array', items: { $ref: '#/$defs/Tree' } },
    },
  },
});

const types = (schema: unknown) => [...analysis.types([schema])];

describe('types', () => {
  it.each([
    [{ type: 'string' }, ['string']],
    [{ type: ['string', 'null'] }, ['null', 'string']],
    [{ type: 'number' }, ['integer', 'number']],
    [{ enum: ['a', 1, null] }, ['null', 'integer', 'string']],
    [{ type: 'string', enum: ['a', 1] }, ['string']],
    [{ const: 1.5 }, ['number']],
    [{ $ref: '#/$defs/Id', description: 'x' }, ['integer']],
    [{ anyOf: [{ $ref: '#/$defs/Id' }, { type: 'null' }] }, ['null', 'integer']],
    [{ allOf: [{ type: ['string', 'null'] }, { type: ['string', 'integer'] }] }, ['string']],
    [false, []],
  ])('are the JSON types that %j allows', (schema, expected) => {
    expect(types(schema)).toEqual(expected);
  });

  it('of empty schemas, and of schemas that only refer to themselves, are all types', () => {
    expect(types({})).toHaveLength(7);
    expect(types({ $ref: '#/$defs/Loop' })).toHaveLength(7);
  });
});

describe('at', () => {
  const row = {
    type: 'object',
    additionalProperties: false,
    properties: {
      tree: { $ref: '#/$defs/Tree' },
      open: { type: 'object', properties: { a: { type: 'string' } } },
      map: { type: 'object', additionalProperties: { type: 'integer' } },
      coded: {
        type: 'object',
        patternProperties: { '^x_': { type: 'boolean' } },
        additionalProperties: false,
      },
      pair: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'integer' } },
      choice: {
        anyOf: [
          { type: 'object', additionalProperties: false, properties: { a: { type: 'string' } } },
          { type: 'object', additionalProperties: false, properties: { b: { type: 'integer' } } },
          { type: 'null' },
        ],
      },
    },
  };
  const at = (...path: string[]) => [...analysis.types(analysis.at(row, path))];

  it.each([
    [['tree', 'children', '0', 'children', '5', 'value'], ['string']],
    [['open', 'a'], ['string']],
    [['map', 'anything'], ['integer']],
    [['coded', 'x_1'], ['boolean']],
    [['pair', '0'], ['string']],
    [['pair', '7'], ['integer']],
    [['choice', 'a'], ['string']],
    [['choice', 'b'], ['integer']],
  ])('finds %j', (path, expected) => {
    expect(at(...path)).toEqual(expected);
  });

  it('treats open parts as any value', () => {
    expect(at('open', 'b')).toHaveLength(7);
  });

  it.each([
    ['other'],
    ['tree', 'x'],
    ['tree', 'children', 'value'],
    ['coded', 'y'],
    ['choice', 'c'],
    ['pair', 'x'],
  ])('finds nothing at %s %s', (...path) => {
    expect(analysis.at(row, path)).toEqual([]);
  });
});

describe('columnType', () => {
  it.each([
    [{ type: 'string' }, 'TEXT'],
    [{ type: ['integer', 'null'] }, 'INTEGER'],
    [{ type: 'boolean' }, 'INTEGER'],
    [{ type: 'number' }, 'REAL'],
    [{ type: ['string', 'integer'] }, undefined],
    [{ type: 'array' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (schema, expected) => {
    expect(columnType(analysis.types([schema]))).toBe(expected);
  });

  it('is that of the only scalar type', () => {
    expect(scalarType(new Set(['null', 'number', 'integer']))).toBe('number');
    expect(scalarType(new Set(['null']))).toBeUndefined();
  });
});
