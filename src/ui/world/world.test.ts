import { beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, routeAddress, writableFields } from '../host/writes.ts';
import { setWorldNow, worldNow } from './clock.ts';
import { describeFilters, readFilter, withFilter, withoutFilter } from './filters.ts';
import { readForm, readInput, writeInput } from './inputs.ts';
import { keyText, nameOf, readKeyText, showKey } from './keys.ts';
import { type PageEntity, type PageField, type PageRoute, setModel } from './model.ts';
import { readTime, showAbsolute, showExact, showRelative } from './times.ts';

const field = (name: string, parts: Partial<PageField> = {}): PageField => ({
  name,
  label: name,
  kind: 'text',
  required: false,
  nullable: false,
  ...parts,
});

const entity = (parts: Partial<PageEntity> = {}): PageEntity => ({
  name: 'notes',
  label: 'Notes',
  key: ['id'],
  title: null,
  fields: [field('id', { kind: 'integer', required: true }), field('title', { required: true })],
  references: [],
  routes: {},
  ...parts,
});

const route: PageRoute = {
  method: 'POST',
  segments: [
    { literal: 'files' },
    { argument: 'path', rest: true },
    { parts: [{ argument: 'name' }, { literal: '.json' }] },
  ],
  fills: { path: 'folder', name: 'name' },
  body: [
    { field: 'title', from: ['a', 'title'], required: true },
    { field: 'note', from: ['__proto__', 'note'], required: false },
  ],
  envelope: '',
};

beforeAll(() => setModel({ title: 'w', apiPath: '/-/api', entry: '/', entities: [] }));

describe('keys in addresses', () => {
  const two = entity({
    key: ['owner', 'number'],
    fields: [field('owner'), field('number', { kind: 'integer' })],
  });

  it.each([
    ['plain', ['ann', 5], 'ann,5'],
    ['with what means something there', ['a,b/c~d', -1], 'a~2cb~2fc~7ed,-1'],
    ['empty', ['', 0], ',0'],
  ])('are read back from their text: %s', (_what, key, text) => {
    expect(keyText(two, key)).toBe(text);
    expect(readKeyText(two, text)).toEqual(key);
  });

  it('cannot be parsed if a part is missing or is not a value', () => {
    expect(readKeyText(two, 'ann')).toBeUndefined();
    expect(readKeyText(two, 'ann,x')).toBeUndefined();
  });

  it('name a row that has no title', () => {
    expect(showKey(['ann', 5])).toBe('ann / 5');
    expect(nameOf(entity({ title: 'title' }), { id: 1, title: 'T' })).toBe('T');
    expect(nameOf(entity({ title: 'title' }), { id: 1, title: '' })).toBe('1');
  });
});

describe('the text in an input', () => {
  it.each([
    ['integer', '7', { value: 7 }],
    ['integer', '7.5', { fault: 'Enter a whole number.' }],
    ['number', '7.5', { value: 7.5 }],
    ['number', ' ', { fault: 'Enter a number.' }],
    ['boolean', 'false', { value: false }],
    ['json', '[1]', { value: [1] }],
    ['text', '7', { value: '7' }],
  ] as const)('is read by the kind of its field: %s %s', (kind, text, read) => {
    expect(readInput(field('a', { kind }), text)).toEqual(read);
  });

  it('must be JSON of the right kind, or one of the choices', () => {
    const list = field('a', { kind: 'json', of: 'list' });
    expect(readInput(list, '{}')).toHaveProperty('fault');
    expect(readInput(list, '[')).toHaveProperty('fault');
    const choice = field('a', { kind: 'choice', choices: [1, 'x'] });
    expect(readInput(choice, writeInput(choice, 'x'))).toEqual({ value: 'x' });
    expect(readInput(choice, '"y"')).toHaveProperty('fault');
  });

  const fields = [
    field('id', { kind: 'integer', required: true }),
    field('note'),
    field('rank', { kind: 'number', nullable: true, required: true }),
    field('state', { kind: 'choice', choices: ['a'] }),
  ];

  it('becomes a field of a new row, unless it is empty', () => {
    expect(readForm(fields, { id: '1' })).toEqual({ fields: { id: 1, rank: null }, faults: {} });
    expect(readForm(fields, {}).faults).toEqual({ id: 'Enter a value.' });
  });

  it('updates its field if it was changed, and empties it in the way that the field allows', () => {
    const before = { id: '1', note: 'n', rank: '2', state: '"a"' };
    expect(readForm(fields, before, before)).toEqual({ fields: {}, faults: {} });
    const emptied = readForm(fields, { id: '1' }, before);
    expect(emptied.fields).toEqual({ note: '', rank: null });
    expect(Object.keys(emptied.faults)).toEqual(['state']);
  });
});

describe('filters', () => {
  const rank = field('rank', { kind: 'integer' });

  it('may contain several conditions on one field', () => {
    expect(readFilter(rank, 'gte', '5')).toEqual({ condition: { gte: 5 } });
    expect(readFilter(rank, 'gte', 'x')).toHaveProperty('fault');
    expect(readFilter(rank, 'empty', '')).toEqual({ condition: { exists: false } });
    const where = withFilter({ rank: 3 }, 'rank', { lt: 9 });
    expect(where).toEqual({ rank: { eq: 3, lt: 9 } });
    expect(withoutFilter(where, 'rank', 'eq')).toEqual({ rank: { lt: 9 } });
    expect(withoutFilter({ rank: 3 }, 'rank', null)).toEqual({});
  });

  it('are described in words', () => {
    const described = describeFilters(entity(), { title: { contains: 'x', exists: true }, id: 4 });
    expect(described.map(({ words }) => words)).toEqual([
      'title contains x',
      'title is not empty',
      'id is 4',
    ]);
  });
});

describe("a world's routes", () => {
  it('take their addresses and bodies only from own fields of a row', () => {
    const row = { folder: 'a/b c', name: 'x/y' };
    expect(routeAddress(route, row)).toBe('/-/api/files/a/b%20c/x%2Fy.json');
    expect(JSON.stringify(bodyOf(route, { title: 't', note: 'n', other: 1 }))).toBe(
      '{"a":{"title":"t"},"__proto__":{"note":"n"}}',
    );
    expect(({} as Record<string, unknown>).note).toBeUndefined();
  });

  it('define the fields of a form; without a route, only the form for a new row has the key', () => {
    expect(writableFields(entity({ routes: { create: route } }), 'create')).toEqual([
      'folder',
      'name',
      'title',
      'note',
    ]);
    expect(writableFields(entity(), 'create')).toEqual(['id', 'title']);
    expect(writableFields(entity(), 'update')).toEqual(['title']);
  });
});

describe('times', () => {
  it('are shown relative to the current time', () => {
    const now = new Date('2026-03-01T12:00:00Z');
    const shown = (text: string) => showRelative(readTime(text) ?? now, now);
    expect(shown('2026-03-01T11:59:58Z')).toBe('now');
    expect(shown('2026-03-01T09:00:00Z')).toBe('3 hr. ago');
    expect(shown('2026-03-02T12:00:00Z')).toBe('tomorrow');
    expect(shown('2024-01-01T00:00:00Z')).toBe('2 yr. ago');
    expect(readTime('2026-03-01')).toBeUndefined();
  });
});

describe('times of a world', () => {
  it('are in UTC, whatever the time zone of the browser', () => {
    const time = new Date('2026-03-02T23:30:00-02:00');
    expect(showAbsolute(time)).toBe('03 Mar 2026 01:30');
    expect(showExact(time)).toBe('Tue, 03 Mar 2026 01:30:00 GMT');
  });

  it('follow the clock that the host reported, not that of the machine', () => {
    setWorldNow('2026-03-01T00:00:00Z');
    expect(worldNow().toISOString()).toBe('2026-03-01T00:00:00.000Z');
    expect(showRelative(new Date('2026-03-03T00:00:00Z'), worldNow())).toBe('in 2 days');
  });
});
