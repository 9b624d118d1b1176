/**
 * Tests schemas and values that an attacker would choose: results must be correct and time must be bounded. If a
 * validation took too much time, its test would not end.
 */
import { describe, expect, it } from 'vitest';
import { takeSchema } from '#test/support/worlds/schemas.ts';

const takes = (schema: unknown, definitions: Record<string, unknown> = {}) => {
  const { fits, refused } = takeSchema(schema, definitions);
  if (fits === undefined) throw new Error(`refused: ${refused}`);
  return fits;
};

const parse = (text: string): unknown => JSON.parse(text);

describe('keys that every object inherits', () => {
  const inherited = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'];

  it.each(inherited)('include %s, which is missing unless the value itself has it', (name) => {
    const fits = takes({ required: [name] });
    expect(fits({})).toBe(false);
    expect(fits(parse(`{${JSON.stringify(name)}: 1}`))).toBe(true);
  });

  it.each(inherited)('include %s, which as a key does not affect comparisons of values', (name) => {
    const text = `{${JSON.stringify(name)}: {"a": 1}}`;
    expect(takes({ const: parse(text) })(parse(text))).toBe(true);
    expect(takes({ enum: [parse(text)] })(parse('{}'))).toBe(false);
    expect(takes({ uniqueItems: true })([parse(text), parse(text)])).toBe(false);
    expect(takes({ uniqueItems: true })([parse(text), parse('{}')])).toBe(true);
  });

  it.each(inherited)('include %s, which counts as an additional property', (name) => {
    const value = parse(`{${JSON.stringify(name)}: 1}`);
    for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
      expect(takes({ properties: { a: true }, [keyword]: false })(value)).toBe(false);
      expect(takes({ properties: { a: true }, [keyword]: { type: 'integer' } })(value)).toBe(true);
    }
  });
});

describe('names with a lone surrogate', () => {
  it('are refused in declarations, and allowed in lists of required names', () => {
    const properties = { '\ud800': true };
    expect(takeSchema({ properties }, {}).refused).toEqual(['bad_name']);
    expect(takeSchema({ required: ['\ud800'] }, {}).fits?.({ '\ud800': 1 })).toBe(true);
  });
});

describe('a small input that could cause much work', () => {
  it('is a long list, which is read only once for comparisons', () => {
    const list = Array.from({ length: 200_000 }, (_, index) => (index % 2 ? index : `${index}`));
    const fits = takes({ uniqueItems: true });
    expect(fits(list)).toBe(true);
    expect(fits([...list, '0'])).toBe(false);
  });

  it('is a nested value, of which each level is checked only once', () => {
    const tree = {
      anyOf: [{ properties: { child: { $ref: '#/$defs/Tree' } } }, { required: ['never'] }],
      unevaluatedProperties: false,
    };
    const fits = takes({ $ref: '#/$defs/Tree' }, { Tree: tree });
    let value: unknown = {};
    for (let depth = 0; depth < 60; depth += 1) value = { child: value };
    expect(fits(value)).toBe(true);
    expect(fits({ child: { child: { other: 1 } } })).toBe(false);
  });

  it('is a large definition, which is not copied into every schema that refers to it', () => {
    const fields = Array.from({ length: 400 }, (_, index) => [`f${index}`, { maxLength: index }]);
    const users = Array.from({ length: 400 }, (_, index) => [`u${index}`, { $ref: '#/$defs/Big' }]);
    const big = { properties: Object.fromEntries(fields) };
    const fits = takes({ properties: Object.fromEntries(users) }, { Big: big });
    expect(fits({ u399: { f1: 'a' } })).toBe(true);
    expect(fits({ u399: { f1: 'ab' } })).toBe(false);
  });
});
