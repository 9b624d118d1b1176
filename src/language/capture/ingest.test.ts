import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Explode, Ingest, Row, VendorOperation } from '../contract.ts';
import { ingestAnswer } from './ingest.ts';

const operationOf = (
  ingest: Partial<Ingest> = {},
  more: Partial<VendorOperation> = {},
): VendorOperation => ({
  name: 'list_cards',
  method: 'GET',
  path: '/boards/{board}/cards',
  segments: [{ literal: 'boards' }, { argument: 'board' }, { literal: 'cards' }],
  params: [{ name: 'state', repeated: false }],
  entity: 'cards',
  results: [],
  ingest: { drop: [], carryArgs: [], explode: [], ...ingest },
  ...more,
});

const ingest = (operation: VendorOperation, body: unknown, given: Row = {}) =>
  ingestAnswer(operation, { arguments: given, body });

const cards = (...rows: Row[]) => rows.map((row) => ({ entity: 'cards', row }));

describe('results', () => {
  it('are the body itself, as one row or a list of rows', () => {
    const operation = operationOf();
    expect(ingest(operation, { id: 1 })).toEqual({ rows: cards({ id: 1 }), missing: [] });
    expect(ingest(operation, [{ id: 1 }, { id: 2 }]).rows).toEqual(cards({ id: 1 }, { id: 2 }));
    expect(ingest(operation, [])).toEqual({ rows: [], missing: [] });
    expect(ingest(operation, null)).toEqual({ rows: [], missing: [] });
  });

  it('are found at a path, through lists too', () => {
    const body = { data: [{ cards: [{ id: 1 }] }, { cards: { id: 2 } }], none: null };
    const at = (...results: string[]) => ingest(operationOf({}, { results }), body);
    expect(at('data', '0', 'cards').rows).toEqual(cards({ id: 1 }));
    expect(at('data', '1', 'cards').rows).toEqual(cards({ id: 2 }));
    expect(at('none')).toEqual({ rows: [], missing: [] });
  });

  it.each([
    [['items'], {}, '/items', 'is missing'],
    [['items', 'x'], { items: [1] }, '/items/x', 'is missing'],
    [['items', '-1'], { items: [{}] }, '/items/-1', 'is missing'],
    [['length'], [{}], '/length', 'is missing'],
    [['toString'], {}, '/toString', 'is missing'],
    [['items'], null, '/items', 'is missing'],
    [['items'], 'text', '/items', 'is missing'],
    [['items'], { items: 'secret' }, '/items', 'must be a list or an object, is a text'],
    [[], 7, '', 'must be a list or an object, is a number'],
    [[], true, '', 'must be a list or an object, is a boolean'],
  ])('leave a gap at the path %j of %j', (results, body, pointer, detail) => {
    expect(ingest(operationOf({}, { results }), body)).toEqual({
      rows: [],
      missing: [{ source: 'body', pointer, detail, count: 1 }],
    });
  });

  it('do not include items that are no objects; these are counted by type', () => {
    const body = { items: [{ id: 1 }, 'x', null, 'y', [{ id: 2 }], { id: 3 }] };
    expect(ingest(operationOf({}, { results: ['items'] }), body)).toEqual({
      rows: cards({ id: 1 }, { id: 3 }),
      missing: [
        { source: 'body', pointer: '/items/1', detail: 'must be an object, is a text', count: 2 },
        { source: 'body', pointer: '/items/2', detail: 'must be an object, is null', count: 1 },
        { source: 'body', pointer: '/items/4', detail: 'must be an object, is a list', count: 1 },
      ],
    });
  });

  it('are ignored if the operation has no entity', () => {
    const operation = operationOf({}, { entity: null, results: ['items'] });
    expect(ingest(operation, 5)).toEqual({ rows: [], missing: [] });
  });
});

describe('drop and carry_args', () => {
  it('drop removes fields of the row itself, and no inner fields with the same name', () => {
    const operation = operationOf({ drop: ['url', 'toString'] });
    expect(ingest(operation, { id: 1, url: 'u', author: { url: 'v' } }).rows).toEqual(
      cards({ id: 1, author: { url: 'v' } }),
    );
  });

  it('carry_args writes arguments as they were given into each row, in place of existing values', () => {
    const carryArgs = [
      { field: 'board_id', argument: 'board' },
      { field: 'state', argument: 'state' },
    ];
    const operation = operationOf({ carryArgs, drop: ['board_id'] });
    const body = [
      { id: 1, board_id: { id: 9 } },
      { id: 2, state: 'other' },
    ];
    expect(ingest(operation, body, { board: '7', state: ['open'] })).toEqual({
      rows: cards(
        { id: 1, board_id: '7', state: ['open'] },
        { id: 2, board_id: '7', state: ['open'] },
      ),
      missing: [],
    });
    expect(ingest(operation, body, { board: '7' })).toEqual({
      rows: cards({ id: 1, board_id: '7' }, { id: 2, state: 'other', board_id: '7' }),
      missing: [{ source: 'arguments', pointer: '/state', detail: 'is missing', count: 1 }],
    });
  });
});

describe('explode', () => {
  const explode = (more: Partial<Explode>): Explode => ({
    field: ['labels'],
    entity: 'labels',
    carry: [{ field: 'card_id', from: ['id'] }],
    take: null,
    ...more,
  });
  const labels = (...rows: Row[]) => rows.map((row) => ({ entity: 'labels', row }));

  it('makes a row from each item, and removes the list from the captured row', () => {
    const operation = operationOf({ explode: [explode({})] });
    const body = [
      { id: 1, labels: [{ name: 'a', card_id: 'own' }, { name: 'b' }] },
      { id: 2, labels: [] },
      { id: 3, labels: null },
    ];
    expect(ingest(operation, body)).toEqual({
      rows: [
        ...cards({ id: 1 }),
        ...labels({ name: 'a', card_id: 1 }, { name: 'b', card_id: 1 }),
        ...cards({ id: 2 }, { id: 3 }),
      ],
      missing: [],
    });
  });

  it('copies chosen fields of an item, or a scalar item itself', () => {
    const chosen = explode({
      field: ['meta', 'labels'],
      take: [
        { field: 'name', from: ['label', 'name'] },
        { field: 'color', from: ['color'] },
      ],
    });
    const scalar = explode({ field: ['names'], take: [{ field: 'name', from: [] }] });
    const body = {
      id: 1,
      meta: { labels: [{ label: { name: 'a' }, color: null, x: 1 }, { label: 5 }], size: 2 },
      names: ['b', null, { deep: true }],
    };
    expect(ingest(operationOf({ explode: [chosen, scalar] }), body)).toEqual({
      rows: [
        ...cards({ id: 1, meta: { size: 2 } }),
        ...labels(
          { name: 'a', color: null, card_id: 1 },
          { card_id: 1 },
          { name: 'b', card_id: 1 },
          { name: null, card_id: 1 },
          { name: { deep: true }, card_id: 1 },
        ),
      ],
      missing: [],
    });
  });

  it('copies values of the captured row, including its arguments, before anything is dropped', () => {
    const operation = operationOf({
      drop: ['node'],
      carryArgs: [{ field: 'board', argument: 'board' }],
      explode: [
        explode({
          carry: [
            { field: 'node', from: ['node', 'id'] },
            { field: 'board', from: ['board'] },
            { field: 'count', from: ['labels', '0', 'n'] },
          ],
        }),
      ],
    });
    expect(
      ingest(operation, { id: 1, node: { id: 'N' }, labels: [{ n: 4 }] }, { board: '7' }),
    ).toEqual({
      rows: [...cards({ id: 1, board: '7' }), ...labels({ n: 4, node: 'N', board: '7', count: 4 })],
      missing: [],
    });
  });

  it('reads the same list twice, and nested lists, each at its path', () => {
    const operation = operationOf({
      explode: [
        explode({ field: ['pages', '0'], carry: [] }),
        explode({ field: ['pages', '1'], carry: [] }),
        explode({ field: ['pages', '1'], carry: [], entity: 'tags' }),
      ],
    });
    expect(ingest(operation, { pages: [[{ n: 1 }], [{ n: 2 }], 'x'] }).rows).toEqual([
      ...cards({ pages: [null, null, 'x'] }),
      ...labels({ n: 1 }, { n: 2 }),
      { entity: 'tags', row: { n: 2 } },
    ]);
  });

  it('records what is missing, and leaves a value that is no list in the row', () => {
    const operation = operationOf(
      {
        explode: [explode({}), explode({ field: ['names'], take: [{ field: 'n', from: ['n'] }] })],
      },
      { results: ['items'] },
    );
    const items = [
      { labels: [{ name: 'a' }, 'b', 'c'] },
      { id: 2, labels: { a: 1 }, names: [5, { n: 6 }] },
      { id: 3, names: [true] },
    ];
    expect(ingest(operation, { items })).toEqual({
      rows: [
        ...cards({}),
        ...labels({ name: 'a' }),
        ...cards({ id: 2, labels: { a: 1 } }),
        ...labels({ n: 6, card_id: 2 }),
        ...cards({ id: 3 }),
      ],
      missing: [
        { source: 'body', pointer: '/items/0/id', detail: 'is missing', count: 1 },
        {
          source: 'body',
          pointer: '/items/0/labels/1',
          detail: 'must be an object, is a text',
          count: 2,
        },
        { source: 'body', pointer: '/items/0/names', detail: 'is missing', count: 1 },
        {
          source: 'body',
          pointer: '/items/1/labels',
          detail: 'must be a list, is an object',
          count: 1,
        },
        {
          source: 'body',
          pointer: '/items/1/names/0',
          detail: 'must be an object, is a number',
          count: 1,
        },
        { source: 'body', pointer: '/items/2/labels', detail: 'is missing', count: 1 },
        {
          source: 'body',
          pointer: '/items/2/names/0',
          detail: 'must be an object, is a boolean',
          count: 1,
        },
      ],
    });
  });
});

describe('ingestAnswer, whatever it is given', () => {
  it('treats keys that objects inherit like any other', () => {
    const operation = operationOf({
      carryArgs: [{ field: 'toString', argument: 'constructor' }],
      explode: [
        {
          field: ['__proto__', 'items'],
          entity: 'labels',
          carry: [{ field: '__proto__', from: ['valueOf'] }],
          take: null,
        },
      ],
    });
    const body = JSON.parse('{"__proto__":{"items":[{"__proto__":1}],"x":2},"id":1}');
    const { rows, missing } = ingest(operation, body);
    expect(JSON.stringify(rows)).toBe(
      '[{"entity":"cards","row":{"__proto__":{"x":2},"id":1}},{"entity":"labels","row":{"__proto__":1}}]',
    );
    expect(missing.map(({ source, pointer }) => [source, pointer])).toEqual([
      ['arguments', '/constructor'],
      ['body', '/valueOf'],
    ]);
    for (const { row } of rows) expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
  });

  it('returns rows and few gaps, and does not change the body', () => {
    const segment = fc.constantFrom('a', 'b', '0', '__proto__', 'length');
    const path = fc.array(segment, { minLength: 1, maxLength: 3 });
    const fields = fc.array(fc.record({ field: segment, from: path }), { maxLength: 2 });
    const operation = fc.record({
      drop: fc.array(segment, { maxLength: 2 }),
      carryArgs: fc.array(fc.record({ field: segment, argument: segment }), { maxLength: 2 }),
      explode: fc.array(
        fc.record({
          field: path,
          entity: fc.constant('labels'),
          carry: fields,
          take: fc.option(fields),
        }),
        { maxLength: 2 },
      ),
    });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom<unknown>(null, 1, 'x', true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(segment, tie('value'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(operation, fc.array(segment, { maxLength: 2 }), value, (rules, results, body) => {
        const before = JSON.stringify(body);
        const { rows, missing } = ingest(operationOf(rules, { results }), body, { a: 1 });
        expect(JSON.stringify(body)).toBe(before);
        for (const { row } of rows) expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
        expect(missing.length).toBeLessThan(40);
        expect(JSON.stringify(ingest(operationOf(rules, { results }), body, { a: 1 }))).toBe(
          JSON.stringify({ rows, missing }),
        );
      }),
      { numRuns: 300 },
    );
  });
});
