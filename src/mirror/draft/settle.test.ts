/**
 * Tests documents with a part that the world language refuses: the part is marked, and the rest is drafted and
 * compiles.
 */
import { describe, expect, it } from 'vitest';
import { compileTree } from '#language/compile/compile.ts';
import { draftWorld } from './draft.ts';
import { apiFromOpenApi } from './from-openapi.ts';

type Json = Record<string, unknown>;

const answerOf = (schema: unknown, example?: unknown): Json => ({
  responses: {
    200: {
      description: 'ok',
      content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
    },
  },
});

const rowOf = (properties: Json): Json => ({ type: 'object', required: ['id'], properties });
const id = { type: 'string' };
const sound = { get: answerOf({ type: 'array', items: rowOf({ id, name: id }) }) };

/** Drafts a document that has a valid list, `/sound`, and the given paths. */
const draftOf = (paths: Json, more: Json = {}) => {
  const { api, marks } = apiFromOpenApi({
    openapi: '3.0.3',
    info: { title: 'Odd', version: '1' },
    servers: [{ url: 'https://api.odd.example' }],
    paths: { '/sound': sound, ...paths },
    ...more,
  });
  const draft = draftWorld(api, marks);
  expect(draft.problems).toEqual([]);
  const compiled = compileTree(draft.files);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  expect(draft.operations).toContainEqual({
    ...{ name: 'get_sound', route: 'GET /sound', isServed: true },
  });
  return {
    draft,
    contract: compiled.contract,
    rows: compiled.baseRows,
    marks: draft.marks.map(({ place, message }) => `${place}: ${message}`).join('\n'),
  };
};

const listOf = (properties: Json, example?: Json): Json => ({
  get: answerOf({ type: 'array', items: rowOf(properties) }, example && [example]),
});

describe('a draft of a document with an unsupported part', () => {
  it('contains one of several paths that differ only by a fragment, and marks the others', () => {
    const one = answerOf(rowOf({ id, url: id }));
    const { draft, marks } = draftOf({
      '/links/{id}#add_share': { put: one },
      '/links/{id}#get_share': { get: one },
      '/links/{id}': { get: one },
    });
    expect(draft.operations.map(({ route }) => route)).toEqual([
      'GET /sound',
      'GET /links/{id}',
      'PUT /links/{id}',
    ]);
    expect(marks).toContain(
      'path /links/{id}#add_share: a fragment is never sent in requests: PUT is drafted',
    );
    expect(marks).toContain('path /links/{id}#get_share: GET differs from /links/{id} by');
  });

  it('leaves out properties without a name, and properties that all objects inherit', () => {
    const odd = JSON.parse('{"": {}, "__proto__": {}, "constructor": {}, "toString": {}}') as Json;
    const { contract, marks } = draftOf({ '/rows': listOf({ id, ...odd }) });
    const rows = contract.entities.find(({ name }) => name === 'rows');
    expect(Object.keys(rows?.schema.properties as object)).toEqual(['id']);
    expect(marks).toContain(': "", __proto__, constructor, toString');
  });

  it('keeps the value of a field that has the name of the parent, and relates another field', () => {
    const kind = { type: 'string', enum: ['slot'] };
    const { rows, contract } = draftOf({
      '/parcels/types': listOf({ id, name: id }, { id: 'T1', name: 'small' }),
      '/parcels/types/{type_id_or_name}/slots': listOf(
        { id, type: kind },
        { id: 'S1', type: 'slot' },
      ),
    });
    expect(rows.slots).toEqual([{ id: 'S1', type: 'slot', type_id_or_name: 'T1' }]);
    expect(contract.entities.find(({ name }) => name === 'slots')?.relationships).toEqual([
      { fields: ['type_id_or_name'], target: 'types' },
    ]);
  });

  it('leaves numbers out of example rows if JSON cannot represent them exactly, at any depth', () => {
    const big = 2 ** 63;
    const { rows, marks } = draftOf({
      '/topics': listOf(
        { id, flush: {}, inner: {} },
        { id: 'a', flush: big, inner: { list: [big] } },
      ),
    });
    expect(rows.topics).toEqual([{ id: 'a' }]);
    expect(marks).toContain('entity topics: values of examples that cannot be represented exactly');
  });

  it('follows references with percent signs, whether these begin escapes or not', () => {
    const { contract } = draftOf(
      {
        '/rates': listOf({
          id,
          half: { $ref: '#/components/schemas/50%' },
          third: { $ref: '#/components/schemas/33%25' },
        }),
      },
      { components: { schemas: { '50%': { type: 'number' }, '33%': { type: 'integer' } } } },
    );
    const rates = contract.entities.find(({ name }) => name === 'rates');
    expect(rates?.schema.properties).toMatchObject({
      half: { type: 'number' },
      third: { type: 'integer' },
    });
  });

  it.each([
    ['a path with a blank', '/a b'],
    ['a path that does not close its argument', '/odd/{id'],
    ['a path with one argument twice', '/odd/{id}/of/{id}'],
  ])('marks and leaves out %s', (_, path) => {
    const { draft, marks } = draftOf({ [path]: sound });
    expect(draft.operations).toHaveLength(1);
    expect(marks).toMatch(/operation \w+: it was left out: /);
  });

  it('does not serve a route whose table is refused, but includes it for captures', () => {
    const other = answerOf({ type: 'array', items: rowOf({ id, name: id }) });
    const { draft, marks } = draftOf({ '/odd/{a}': { get: other }, '/odd/{b}': { get: other } });
    expect(draft.operations.filter(({ isServed }) => isServed)).not.toHaveLength(3);
    expect(marks).toMatch(/operation get_odd_by_[ab]: it/);
  });

  it.each([
    [
      'two fields that differ by case alone',
      { id, Name: id, name: id },
      /its field "[Nn]ame" was left/,
    ],
  ])('leaves out one of %s', (_, properties, mark) => {
    const { draft, marks } = draftOf({ '/rows': listOf(properties) });
    expect(draft.entities.map(({ name }) => name)).toContain('rows');
    expect(marks).toMatch(mark);
  });

  it('treats control characters in titles and marks as plain text', () => {
    const { draft } = draftOf(
      {},
      { info: { title: '\u001b[2J\u0007!\u007f' }, servers: [{ url: '\u0007' }] },
    );
    const text = draft.files.map(({ content }) => Buffer.from(content).toString()).join('');
    expect(text).not.toContain('\u0007');
    expect(text).not.toContain('\u007f');
  });
});
