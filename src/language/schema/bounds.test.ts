import { describe, expect, it } from 'vitest';
import { deepestDefinition } from './bounds.ts';

const to = (name: string) => ({ $ref: `#/$defs/${name}` });

describe('deepestDefinition', () => {
  it('adds up nested schemas, following references', () => {
    const definitions = {
      A: { properties: { b: to('B') } },
      B: { items: { items: to('C') } },
      C: { type: 'string' },
    };
    expect(deepestDefinition(definitions)).toEqual({ name: 'A', depth: 2 + 3 + 1 });
  });

  it('counts the depth of a cycle as the sum of its members', () => {
    const definitions = {
      A: { properties: { b: to('B') } },
      B: { properties: { a: to('A'), b: to('B'), c: to('C') } },
      C: {},
      D: { properties: { a: to('A') } },
    };
    expect(deepestDefinition(definitions)).toEqual({ name: 'D', depth: 2 + (2 + 2) + 1 });
  });

  it('returns nothing without definitions', () => {
    expect(deepestDefinition({})).toBeUndefined();
    expect(deepestDefinition({ A: to('Missing') })).toEqual({ name: 'A', depth: 1 });
  });
});
