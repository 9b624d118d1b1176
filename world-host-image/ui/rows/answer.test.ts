import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { operation, serveApi } from '#test/support/worlds/api-world.ts';
import { answerRows, rowsPrefix } from './answer.ts';

const notes = Array.from({ length: 2_500 }, (_, index): Row => {
  const id = index + 1;
  return {
    id,
    title: id === 1_234 ? 'Needle "quoted"' : `note ${id}`,
    state: id % 3 === 0 ? 'done' : 'open',
    rank: id % 5 === 0 ? null : (id * 7) % 1_000,
    book_id: id % 2 === 0 ? 1 : null,
    ...(id === 7 ? { owner: { login: 'x'.repeat(20_000) } } : {}),
  };
});

const row = { type: 'object' };
const api = await serveApi({
  operations: operation('GET', '/notes'),
  tools: {
    create_notes: { input: { ...row, properties: { row } }, output: true },
  },
  books: [{ id: 1 }, { id: 2 }],
  notes,
});
beforeEach(() => api.reset());
afterAll(() => api.stop());

type Answered = { status: number; json: Row };

const ask = async (
  method: string,
  path: string,
  {
    query = {},
    body,
    type = 'application/json',
  }: { query?: Row; body?: unknown; type?: string } = {},
): Promise<Answered> => {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const request = {
    method,
    path: `${rowsPrefix}${path}`,
    query: new URLSearchParams(texts),
    headers: { 'content-type': type },
    readBody: async () => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  };
  const { status, body: text } = await answerRows(request, api.session);
  return { status, json: JSON.parse(text) as Row };
};

const list = (query: Row) => ask('GET', 'entities/notes/rows', { query });
const idsOf = ({ json }: Answered): unknown[] => (json.rows as Row[]).map(({ id }) => id);
const problemsOf = ({ json }: Answered) => json.problems;

describe('lists of rows', () => {
  it('contain the counts of entities, and page rows in insertion order, with and without a cursor', async () => {
    expect((await ask('GET', 'entities')).json).toEqual({
      entities: [
        { name: 'books', rows: 2 },
        { name: 'notes', rows: 2_500 },
      ],
      now: expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/),
    });
    const first = await list({ limit: 3 });
    expect([idsOf(first), first.json.total]).toEqual([[1, 2, 3], 2_500]);
    expect(idsOf(await list({ limit: 2, cursor: first.json.cursor }))).toEqual([4, 5]);
    const last = await list({ limit: 10, offset: 2_498 });
    expect([idsOf(last), last.json.cursor]).toEqual([[2_499, 2_500], null]);
  });

  it('can be sorted, with missing values last in both directions, and continue where a page ended', async () => {
    const up = await list({ sort: 'rank', limit: 2 });
    const ranks = ({ json }: Answered) => (json.rows as Row[]).map(({ rank }) => rank);
    expect([ranks(up), up.json.total]).toEqual([[1, 1], 2_500]);
    expect(ranks(await list({ sort: 'rank', limit: 2, cursor: up.json.cursor }))).toEqual([1, 2]);
    expect(ranks(await list({ sort: '-rank', limit: 2 }))).toEqual([999, 999]);
    expect(ranks(await list({ sort: '-rank', limit: 1, offset: 2_499 }))).toEqual([null]);
    const titles = await list({ sort: 'title', limit: 2, where: { id: [1, 10, 1_234] } });
    expect(idsOf(titles)).toEqual([1_234, 1]);
  });

  it('continue at the right row after earlier rows were inserted or deleted', async () => {
    const page = await list({ sort: '-id', limit: 2 });
    expect(idsOf(page)).toEqual([2_500, 2_499]);
    await ask('DELETE', 'entities/notes/row', { query: { key: [2_500] } });
    const next = await list({ sort: '-id', limit: 2, cursor: page.json.cursor });
    expect(idsOf(next)).toEqual([2_498, 2_497]);
    expect(next.json.total).toBe(2_499);
  });

  it('can be filtered, and searched for several words in any field, in upper or lower case', async () => {
    const filtered = await list({ where: { state: 'done', rank: { gte: 990 } }, limit: 5 });
    expect(filtered.json.total).toBe(
      notes.filter(({ state, rank }) => state === 'done' && Number(rank) >= 990).length,
    );
    expect(idsOf(await list({ search: 'needle "QUOTED"' }))).toEqual([1_234]);
    expect(idsOf(await list({ search: '2499 NOTE' }))).toEqual([2_499]);
    expect((await list({ search: 'title' })).json.total).toBe(0);
    expect(idsOf(await list({ search: '1234' }))).toEqual([1_234]);
  });

  it('contain a shortened form of a large row, which is marked as cut', async () => {
    const { json } = await list({ limit: 2, offset: 6 });
    expect(json).toMatchObject({
      cut: [0],
      rows: [{ id: 7, title: 'note 7', owner: null }, { id: 8 }],
    });
    const whole = await ask('GET', 'entities/notes/row', { query: { key: [7] } });
    expect(whole.json.row).toEqual(notes[6]);
  });

  it.each([
    ['sort', { sort: 'titel' }, 'did you mean "title"?'],
    ['where', { where: { nope: 1 } }, 'there is no field "nope"'],
    ['where', { where: '[' }, 'where: is not JSON'],
    ['limit', { limit: 501 }, 'limit: must be a whole number from 0 to 500'],
    ['cursor', { cursor: 'x' }, 'cursor: is not JSON'],
    ['number of words', { search: 'a b c d e f g h i' }, 'search: has 9 words, more than 8'],
  ])('are refused with an error for an invalid %s', async (_name, query, message) => {
    const answer = await list(query);
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain(message);
  });

  it('are refused for unknown entities, and so are unknown rows', async () => {
    expect((await ask('GET', 'entities/nope/rows')).status).toBe(404);
    expect((await ask('GET', 'entities/notes/constructor')).status).toBe(404);
    expect((await ask('PUT', 'entities/notes/rows')).status).toBe(400);
    expect((await ask('GET', 'entities/notes/row', { query: { key: [9_999] } })).status).toBe(404);
    expect((await ask('GET', 'entities/notes/row', { query: { key: [1, 2] } })).status).toBe(400);
    expect((await ask('GET', 'entities/%ff/rows')).status).toBe(404);
  });
});

describe('a row', () => {
  it('is returned with the rows that it refers to, and the rows that refer to it', async () => {
    const note = await ask('GET', 'entities/notes/row', { query: { key: [2] } });
    expect(note.json.references).toEqual([
      { fields: ['book_id'], entity: 'books', row: { id: 1 } },
    ]);
    const book = await ask('GET', 'entities/books/row', { query: { key: [1] } });
    expect(book.json.dependents).toMatchObject([
      { entity: 'notes', fields: ['book_id'], where: { book_id: 1 }, total: 1_250 },
    ]);
    expect((book.json.dependents as Row[])[0]?.rows).toHaveLength(10);
    const none = await ask('GET', 'entities/notes/row', { query: { key: [1] } });
    expect(none.json.references).toEqual([{ fields: ['book_id'], entity: 'books', row: null }]);
  });

  it('is created by the conventional tool, and changed and deleted without a tool, under the contract', async () => {
    const body = { id: 3_000, title: 'new', book_id: 2 };
    const made = await ask('POST', 'entities/notes/rows', { body });
    expect(made).toMatchObject({ status: 201, json: { row: body } });
    const query = { key: [3_000] };
    const changed = await ask('PATCH', 'entities/notes/row', { query, body: { title: 'newer' } });
    expect(changed).toMatchObject({ status: 200, json: { row: { ...body, title: 'newer' } } });
    expect((await ask('DELETE', 'entities/notes/row', { query })).status).toBe(200);
    expect((await ask('DELETE', 'entities/notes/row', { query })).status).toBe(404);
    const entries = (await api.requests()).filter(({ via }) => via === 'ui');
    expect(entries.slice(-4)).toMatchObject([
      { operation: 'create_notes', method: 'POST', status: 201, changes: { notes: {} } },
      { operation: 'update notes', method: 'PATCH', path: '/__svc/ui/entities/notes/row' },
      { operation: 'delete notes', method: 'DELETE', status: 200 },
      { operation: 'delete notes', method: 'DELETE', status: 404, changes: {} },
    ]);
  });

  it('is refused with the problems of all fields, and nothing is written', async () => {
    const body = { id: 1, title: '', book_id: 77, nope: 1 };
    const refused = await ask('POST', 'entities/notes/rows', { body });
    expect(refused.status).toBe(400);
    const fields = (problemsOf(refused) as Row[]).map(({ field }) => field);
    expect(fields.toSorted()).toEqual(['book_id', 'id', 'nope', 'title']);
    const query = { key: [1] };
    const update = await ask('PATCH', 'entities/notes/row', { query, body: { state: 'x' } });
    expect(problemsOf(update)).toMatchObject([{ field: 'state', pointer: '/state' }]);
    const book = await ask('DELETE', 'entities/books/row', { query });
    expect(book.status).toBe(409);
    expect(api.rows('notes', { id: 1 })).toEqual([notes[0]]);
  });

  it('can be checked without being written', async () => {
    const query = { key: [1] };
    const checked = await ask('POST', 'entities/notes/check', { query, body: { book_id: 5 } });
    expect(problemsOf(checked)).toEqual([
      { field: 'book_id', pointer: '/book_id', message: 'there is no row 5 in books' },
    ]);
    const fine = await ask('POST', 'entities/notes/check', { body: { id: 9_000, title: 'x' } });
    expect(problemsOf(fine)).toEqual([]);
    expect(api.rows('notes', { id: 9_000 })).toEqual([]);
  });

  it.each([
    ['a form', { type: 'text/plain', body: {} }, 'send the row as application/json'],
    ['an incomplete body', { body: '{' }, 'the body is not JSON'],
    ['a row of megabytes', { body: { title: 'x'.repeat(300_000) } }, 'larger than 262144 bytes'],
    ['a list', { body: [] }, 'the body must be an object'],
    ['a member "__proto__"', { body: '{"__proto__": {}}' }, '__proto__'],
  ])('is not written for a request with %s', async (_name, asked, message) => {
    const answer = await ask('POST', 'entities/notes/rows', asked);
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain(message);
  });
});
