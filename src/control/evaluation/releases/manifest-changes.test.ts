import { describe, expect, it } from 'vitest';
import { manifestChanges, toolChanges } from './manifest-changes.ts';
import { schemaChanges } from './schema-changes.ts';

const args = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

/**
 * For each case: title; schema before; schema after; path of the difference; true if the change breaks callers, as an
 * input schema; true if it breaks readers, as an output schema.
 */
const cases: [string, unknown, unknown, string, boolean, boolean][] = [
  ['a removed type', { type: ['string', 'null'] }, { type: 'string' }, '/type', true, false],
  ['an added type', { type: 'integer' }, { type: 'number' }, '/type', false, true],
  ['another type', { type: 'string' }, { type: 'integer' }, '/type', true, true],
  ['a removed value', { enum: ['a', 'b'] }, { enum: ['a'] }, '/enum', true, false],
  ['an added value', { const: 'a' }, { enum: ['a', 'b'] }, '/enum', false, true],
  ['a value in place of another', { const: 1 }, { const: 2 }, '/enum', true, true],
  ['a removed member', args({ a: {}, b: {} }), args({ a: {} }), '/properties/b', true, true],
  ['an added member', args({ a: {} }), args({ a: {}, b: {} }), '/properties/b', false, false],
  [
    'a member that is now required',
    args({ a: {} }),
    args({ a: {} }, { required: ['a'] }),
    '/required',
    true,
    false,
  ],
  [
    'a member that is no longer required',
    args({ a: {} }, { required: ['a'] }),
    args({ a: {} }),
    '/required',
    false,
    true,
  ],
  [
    'other members that are now refused',
    {},
    { additionalProperties: false },
    '/additionalProperties',
    true,
    false,
  ],
  [
    'other members that are now accepted',
    { additionalProperties: false },
    {},
    '/additionalProperties',
    false,
    true,
  ],
  ['a lower bound', { minimum: 1 }, { minimum: 0 }, '/minimum', false, true],
  ['an added bound', {}, { maxLength: 9 }, '/maxLength', true, false],
  ['a greater bound', { maxItems: 2 }, { maxItems: 3 }, '/maxItems', false, true],
  ['an added pattern', {}, { pattern: '(a+)+$' }, '/pattern', true, false],
  ['another pattern', { pattern: 'a' }, { pattern: 'b' }, '/pattern', true, true],
  [
    'items of another type',
    { items: { type: 'string' } },
    { items: { type: 'null' } },
    '/items/type',
    true,
    true,
  ],
  ['a removed alternative', { anyOf: [{ const: 1 }, {}] }, { anyOf: [{}] }, '/anyOf', true, false],
  [
    'a definition',
    { $defs: { a: { type: 'string' } } },
    { $defs: { a: {} } },
    '/$defs/a/type',
    false,
    true,
  ],
  ['an unknown keyword', { x: 1 }, { x: 2 }, '/x', true, true],
];

describe('the comparison of two schemas', () => {
  it.each(cases)('reports %s', (_, from, to, path, breaksInput, breaksOutput) => {
    const found = { path, change: expect.any(String) };
    expect(schemaChanges(from, to, 'input')).toEqual([{ ...found, breaking: breaksInput }]);
    expect(schemaChanges(from, to, 'output')).toEqual([{ ...found, breaking: breaksOutput }]);
  });

  it('ignores titles, descriptions, defaults and equivalent forms', () => {
    const from = { title: 'x', type: 'object', properties: { a: { description: 'y' } } };
    const to = { properties: { a: { default: 1 } }, required: [], type: ['object'] };
    expect(schemaChanges(from, to, 'input')).toEqual([]);
    expect(schemaChanges(undefined, true, 'output')).toEqual([]);
  });

  it('compares properties whatever their names are', () => {
    const from = JSON.parse('{"properties": {"__proto__": {"type": "string"}, "constructor": {}}}');
    expect(schemaChanges(from, { properties: { constructor: {} } }, 'input')).toEqual([
      { path: '/properties/__proto__', change: 'removed', breaking: true },
    ]);
  });

  it('compares deep and long schemas in one pass', () => {
    const deep = (leaf: string) => {
      let schema: object = { enum: Array.from({ length: 5_000 }, (_, n) => `${leaf}${n}`) };
      for (let level = 0; level < 190; level += 1) schema = { items: schema };
      return schema;
    };
    expect(schemaChanges(deep('a'), deep('b'), 'input')).toHaveLength(1);
  });
});

describe('the comparison of two manifests', () => {
  const tool = (name: string, inputSchema: object = {}) => ({ name, inputSchema });

  it('reports changes of tools, prompts and the model', () => {
    const base = {
      model: 'm-1',
      prompt: 'Be kind.',
      prompts: { plan: 'Plan.', old: 'x' },
      tools: [tool('read'), tool('write', args({ a: {} })), tool('gone')],
    };
    const candidate = {
      model: 'm-2',
      prompt: 'Be kind.',
      prompts: { plan: 'Plan more.', new: 'y' },
      tools: [
        { ...tool('read'), description: 'Reads.' },
        { name: 'write', parameters: args({ a: {} }, { required: ['a'] }) },
        tool('fresh'),
      ],
    };
    const description = { part: 'description', path: '', change: 'changed', breaking: false };
    const required = { part: 'inputSchema', path: '/required', change: '"a" is now required' };
    expect(manifestChanges(base, candidate)).toEqual({
      breaking: true,
      tools: [
        { name: 'fresh', change: 'added', breaking: false, changes: [] },
        { name: 'gone', change: 'removed', breaking: true, changes: [] },
        { name: 'read', change: 'changed', breaking: false, changes: [description] },
        {
          name: 'write',
          change: 'changed',
          breaking: true,
          changes: [{ ...required, breaking: true }],
        },
      ],
      prompts: [
        { name: 'new', change: 'added', base: null, candidate: 'y' },
        { name: 'old', change: 'removed', base: 'x', candidate: null },
        { name: 'plan', change: 'changed', base: 'Plan.', candidate: 'Plan more.' },
      ],
      model: { changed: true, base: 'm-1', candidate: 'm-2' },
    });
    expect(manifestChanges(base, base)).toMatchObject({ breaking: false, tools: [], prompts: [] });
    expect(toolChanges({}, {})).toEqual([]);
  });
});
