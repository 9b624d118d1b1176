import { describe, expect, it } from 'vitest';
import { contractOf } from '#test/support/worlds/small-world.ts';
import { languageLimits } from '../limits.ts';
import { createRowChecker, createToolChecker } from './checkers.ts';

const card = {
  id: 1,
  list_id: 1,
  title: 'A card',
  state: 'open',
  author: { login: 'ada' },
  labels: ['x'],
  created_at: '2025-01-02T03:04:05Z',
};

describe('createRowChecker', () => {
  const checker = createRowChecker(contractOf());

  it('accepts valid rows, with null where null is allowed', () => {
    expect(checker.check('cards', card)).toEqual([]);
    expect(checker.check('cards', { ...card, cover: null, code: null, estimate: 0.5 })).toEqual([]);
  });

  it.each([
    ['a missing field', { title: undefined }, 'title', '/title', 'is missing'],
    ['another type', { id: '1' }, 'id', '/id', 'must be integer, is string "1"'],
    ['null', { labels: null }, 'labels', '/labels', 'must be array, is null'],
    ['an item', { labels: ['x', 1] }, 'labels', '/labels/1', 'must be string, is number 1'],
    ['a nested field', { author: {} }, 'author', '/author/login', 'is missing'],
    ['an enum', { state: 'shut' }, 'state', '/state', 'must be one of ["open","done"], is "shut"'],
    [
      'a format',
      { created_at: 'now' },
      'created_at',
      '/created_at',
      'must be a date-time, is "now"',
    ],
    ['a minimum', { id: 0 }, 'id', '/id', 'must be >= 1'],
    ['a pattern', { code: 'a' }, 'code', '/code', 'must match the pattern ^[A-Z]+-\\d+$, is "a"'],
    [
      'a field too many',
      { titel: 'x' },
      'titel',
      '/titel',
      'is not a known field; did you mean "title"?',
    ],
    [
      'a field too many inside',
      { author: { login: 'a', 'x/y': 1 } },
      'author',
      '/author/x~1y',
      'is not a known field',
    ],
    [
      'the shape of "this or null"',
      { cover: { url: 1 } },
      'cover',
      '/cover/url',
      'must be string, is number 1',
    ],
    ['neither this nor null', { cover: 5 }, 'cover', '/cover', 'must be object, is number 5'],
  ])('names field, place and fault: %s', (_what, change, field, pointer, detail) => {
    const row = JSON.parse(JSON.stringify({ ...card, ...change }));
    expect(checker.check('cards', row)).toEqual([{ field, pointer, detail }]);
  });

  it('reports every problem of a row', () => {
    const problems = checker.check('cards', { ...card, id: 'x', title: '', extra: 1 });
    expect(problems.map(({ field }) => field).sort()).toEqual(['extra', 'id', 'title']);
  });

  it('refuses a value that is no object', () => {
    const [problem] = checker.check('cards', [card]);
    expect(problem).toEqual({ field: '', pointer: '', detail: 'must be object, is a list' });
  });

  it('refuses keys that objects inherit', () => {
    const row = JSON.parse(JSON.stringify(card).replace('{', '{"__proto__":{"id":2},'));
    expect(checker.check('cards', row)).toMatchObject([{ field: '__proto__' }]);
  });

  it('lists the known entities if the entity is unknown', () => {
    expect(checker.check('card', card)).toEqual([
      { field: '', pointer: '', detail: 'the world has no entity "card"; did you mean "cards"?' },
    ]);
  });

  it('reports a limited number of problems for large rows that are invalid throughout', () => {
    const problems = checker.check('cards', { ...card, labels: Array(200_000).fill(0) });
    expect(problems).toHaveLength(1);
  });

  it('follows schemas that contain themselves, down to the limit of depth', () => {
    const chain = (depth: number): object =>
      depth === 0 ? { login: 'a' } : { login: 'a', reports_to: chain(depth - 1) };
    expect(checker.check('cards', { ...card, author: chain(50) })).toEqual([]);
    let author: object = { login: 'a' };
    for (let i = 0; i < 100_000; i += 1) author = { login: 'a', reports_to: author };
    expect(checker.check('cards', { ...card, author })).toEqual([
      { field: '', pointer: '', detail: `nests deeper than ${languageLimits.depth} levels` },
    ]);
  });

  it('takes linear time for any pattern', () => {
    const slow = createRowChecker(
      contractOf((world) => {
        world.json['schema/world.json'].$defs.Card.properties.title.pattern = '^(a+)+$';
        world.json['data/cards.json'] = [];
        world.json['scenarios/finish/seed/cards.json'] = [];
      }),
    );
    // If the time were more than linear, this would not end before the test's deadline.
    expect(slow.check('cards', { ...card, title: `${'a'.repeat(50_000)}!` })).toHaveLength(1);
  });
});

describe('createToolChecker', () => {
  const checker = createToolChecker(contractOf());

  it('checks inputs and outputs against their schemas', () => {
    expect(checker.input('get_card', { card_id: 1 })).toEqual([]);
    expect(checker.input('get_card', {})).toEqual([
      { field: 'card_id', pointer: '/card_id', detail: 'is missing' },
    ]);
    expect(checker.output('list_cards', [card])).toEqual([]);
    expect(checker.output('list_cards', [{ ...card, id: 'x' }])).toEqual([
      { field: '0', pointer: '/0/id', detail: 'must be integer, is string "x"' },
    ]);
    expect(checker.output('cards.archive', null)).toEqual([]);
  });

  it('lists the known tools if the tool is unknown', () => {
    expect(checker.input('get_cards', {})).toMatchObject([
      { detail: 'the world has no tool "get_cards"; did you mean "get_card"?' },
    ]);
  });
});
