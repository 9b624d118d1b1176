/**
 * Effect of each `[operations.api]` key on a route, over HTTP: its default, its values, and the values that are
 * rejected.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { ServeOptions } from '#test/support/host/serve-world.ts';
import {
  type ApiClient,
  type ApiWorld,
  notesUpTo,
  operation,
  serveApi,
} from '#test/support/worlds/api-world.ts';

let api: ApiClient;

const serve = async (world: ApiWorld, options?: ServeOptions): Promise<void> => {
  api = await serveApi(world, options);
  onTestFinished(api.stop);
};

const ids = (answer: { json: unknown }): unknown => (answer.json as Row[]).map(({ id }) => id);

const notFound = { error: 'not_found' };
const invalid = { error: 'invalid' };

describe('action', () => {
  it('is "read" by default, also for an operation without the table', async () => {
    const plain = '[[operations]]\nname = "plain"\npath = "/plain"\nentity = "notes"\n';
    await serve({ operations: operation('GET', '/notes') + plain, notes: notesUpTo(2) });
    const listed = await api.get('/notes');
    expect([listed.status, listed.text]).toEqual([
      200,
      '[{"id":1,"title":"Note 1"},{"id":2,"title":"Note 2"}]',
    ]);
    expect((await api.get('/plain')).text).toBe(listed.text);
    expect(listed.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('inserts a row if it is "create", and answers 201 with the row', async () => {
    await serve({ operations: operation('POST', '/notes', 'action = "create"') });
    const created = await api.ask('POST', '/notes', { body: { id: 7, title: 'New' } });
    expect([created.status, created.json]).toEqual([201, { id: 7, title: 'New' }]);
    expect(api.rows('notes', {})).toEqual([{ id: 7, title: 'New' }]);
    const again = await api.ask('POST', '/notes', { body: { id: 7, title: 'Again' } });
    expect([again.status, again.json]).toEqual([400, invalid]);
  });

  it('changes the first selected row if it is "update", and answers with the row', async () => {
    const lines = 'action = "update"\nfilter = { id = "id" }';
    await serve({ operations: operation('PATCH', '/notes/{id}', lines), notes: notesUpTo(2) });
    const updated = await api.ask('PATCH', '/notes/2', { body: { title: 'Changed', rank: 1.5 } });
    expect([updated.status, updated.json]).toEqual([200, { id: 2, title: 'Changed', rank: 1.5 }]);
    expect(api.rows('notes', { id: 1 })).toEqual([{ id: 1, title: 'Note 1' }]);
    const missing = await api.ask('PATCH', '/notes/3', { body: { title: 'x' } });
    expect([missing.status, missing.json]).toEqual([404, notFound]);
    const wrong = await api.ask('PATCH', '/notes/2', { body: { title: 5 } });
    expect([wrong.status, wrong.json]).toEqual([400, invalid]);
  });

  it('removes all selected rows if it is "delete", and answers 204 without a body', async () => {
    const lines = 'action = "delete"\nfilter = { state = "state" }';
    const notes = notesUpTo(3, (id) => ({ state: id === 2 ? 'open' : 'done' }));
    await serve({ operations: operation('DELETE', '/notes/of/{state}', lines), notes });
    const removed = await api.ask('DELETE', '/notes/of/done');
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect(removed.headers.get('content-type')).toBeNull();
    expect(api.rows('notes', {})).toMatchObject([{ id: 2 }]);
    expect((await api.ask('DELETE', '/notes/of/done')).status).toBe(404);
  });

  it('is refused if it is "delete" and other rows refer to the row', async () => {
    const lines = 'action = "delete"\nfilter = { id = "id" }';
    const operations = operation('DELETE', '/books/{id}', lines, { entity: 'books' });
    await serve({ operations, books: [{ id: 1 }], notes: notesUpTo(1, () => ({ book_id: 1 })) });
    const removed = await api.ask('DELETE', '/books/1');
    expect([removed.status, removed.json]).toEqual([400, invalid]);
    expect(api.rows('books', {})).toHaveLength(1);
  });
});

describe('filter and match', () => {
  const params = ['id', 'title', 'state', 'rank', 'pinned', 'tag', 'login', 'start', 'ids[]'];
  const lines = `filter = { id = "id", title = "title", state = "state", rank = "rank", pinned = "pinned", tag = "tags", login = "owner.login", start = "title", ids = "id" }
match = { title = "contains", tag = "contains", start = "prefix", login = "equals" }`;
  const notes: Row[] = [
    { id: 1, title: 'Buy Milk', state: 'open', rank: 1.5, pinned: true, tags: ['a', 'b'] },
    { id: 2, title: 'milk the cow', state: 'done', rank: null, pinned: false, tags: ['ab'] },
    { id: 3, title: 'Sleep', owner: { login: 'Ann Lee', age: 5 } },
  ];
  const operations = operation('GET', '/notes', lines, { params });

  it.each([
    ['', [1, 2, 3]],
    ['?id=2', [2]],
    ['?id=02x', []],
    ['?state=open', [1]],
    ['?state=OPEN', []],
    ['?state=', []],
    ['?rank=1.5', [1]],
    ['?pinned=false', [2]],
    ['?title=MILK', [1, 2]],
    ['?start=milk', [2]],
    ['?tag=b', [1]],
    ['?login=Ann%20Lee', [3]],
    ['?login=Ann+Lee', [3]],
    ['?login=ann%20lee', []],
    ['?state=done&title=milk', [2]],
    ['?state=done&state=open', [1]],
    ['?unknown=1&constructor=x&__proto__=y', [1, 2, 3]],
    ['?ids[]=1&ids[]=3', [1, 3]],
    ['?ids%5B%5D=1&ids%5B%5D=3', [1, 3]],
    ['?ids=1&ids=3', [1, 3]],
    ['?ids[0]=3&ids[1]=1', [1, 3]],
    ['?ids=3', [3]],
    ['?ids[]=1&ids=2&ids[]=x', [1, 2]],
    ['?id[]=2', [1, 2, 3]],
  ])('select, for /notes%s, the rows %j', async (query, found) => {
    await serve({ operations, notes });
    expect(ids(await api.get(`/notes${query}`))).toEqual(found);
  });

  it('compare all characters of a long text', async () => {
    const texts = ['k\u0000a', 'k\u0000b', 'K%_*[a]?', ''];
    const odd = texts.map((key, index) => ({ id: index + 1, title: 'x', key }));
    const match = 'filter = { key = "key", in = "key", start = "key" }';
    await serve({
      operations: operation(
        'GET',
        '/notes',
        `${match}\nmatch = { in = "contains", start = "prefix" }`,
        {
          params: ['key', 'in', 'start'],
        },
      ),
      notes: odd,
    });
    const found = async (name: string, text: string) =>
      ids(await api.get(`/notes?${new URLSearchParams({ [name]: text })}`));
    expect(await found('key', 'k')).toEqual([]);
    expect(await found('key', 'k\u0000b')).toEqual([2]);
    expect(await found('in', '\u0000A')).toEqual([1]);
    expect(await found('start', 'K\u0000b')).toEqual([2]);
    expect(await found('start', 'k%_*[')).toEqual([3]);
    expect(await found('start', '')).toEqual([1, 2, 3, 4]);
    expect(await found('key', '')).toEqual([4]);
    expect(await found('in', '%')).toEqual([3]);
  });

  it('require their arguments in routes that write', async () => {
    const write = (action: string) => `action = "${action}"\nfilter = { id = "id" }`;
    await serve({
      operations:
        operation('DELETE', '/notes', write('delete'), { params: ['id'] }) +
        operation('PATCH', '/notes', write('update'), { params: ['id'] }),
      notes,
    });
    for (const method of ['DELETE', 'PATCH']) {
      const answer = await api.ask(method, '/notes', { body: { title: 'x' } });
      expect([answer.status, answer.json]).toEqual([400, invalid]);
    }
    expect((await api.ask('DELETE', '/notes?id=1')).status).toBe(204);
    expect(api.rows('notes', {})).toHaveLength(2);
  });

  it('set the fields of a created row, whatever the body says', async () => {
    const lines = 'action = "create"\nfilter = { login = "owner.login" }';
    await serve({ operations: operation('POST', '/users/{login}/notes', lines) });
    const body = { id: 1, title: 'x', owner: { login: 'eve', age: 3 } };
    expect((await api.ask('POST', '/users/ann/notes', { body })).json).toEqual({
      ...body,
      owner: { login: 'ann', age: 3 },
    });
  });
});

describe('paths', () => {
  const one = 'filter = { id = "id" }\nsingle = true';
  const byTitle = 'filter = { title = "title" }\nsingle = true';
  const operations = [
    operation('GET', '/notes/{id}', one),
    operation('GET', '/notes/latest', 'defaults = {}\nsingle = true'),
    operation('GET', '/titles/{title}', byTitle),
    operation('GET', '/titles/{title}/notes', 'filter = { title = "title" }'),
  ].join('');
  const notes = [
    { id: 1, title: 'a/b' },
    { id: 2, title: 'é +%' },
  ];

  it('keep encoded slashes, signs and letters inside an argument', async () => {
    await serve({ operations, notes });
    expect((await api.get('/titles/a%2Fb')).json).toMatchObject({ id: 1 });
    expect(ids(await api.get('/titles/a%2fb/notes'))).toEqual([1]);
    expect((await api.get('/titles/%C3%A9%20+%25')).json).toMatchObject({ id: 2 });
    expect((await api.get('/titles/a/b')).status).toBe(404);
  });

  it('match a literal before an argument, and may end with a slash', async () => {
    await serve({ operations, notes });
    expect((await api.get('/notes/latest')).json).toMatchObject({ id: 1 });
    expect((await api.get('/notes/2/')).json).toMatchObject({ id: 2 });
    expect((await api.get('/notes/2//')).status).toBe(404);
    expect((await api.get('/Notes/2')).status).toBe(404);
  });

  it('are refused if an escape is broken or not UTF-8', async () => {
    await serve({ operations, notes });
    for (const path of ['/titles/%', '/titles/%zz', '/titles/%E0%A4%A']) {
      const answer = await api.get(path);
      expect([answer.status, answer.json]).toEqual([400, invalid]);
    }
  });
});

describe('status', () => {
  it('is answered as declared, without a body if HTTP allows none', async () => {
    await serve({
      operations: [
        operation('GET', '/notes', 'status = 203'),
        operation('POST', '/notes', 'action = "create"\nstatus = 204'),
        operation('PUT', '/notes', 'action = "create"\nstatus = 202'),
        operation(
          'DELETE',
          '/notes/{id}',
          'action = "delete"\nstatus = 200\nfilter = { id = "id" }',
        ),
      ].join(''),
    });
    expect((await api.get('/notes')).status).toBe(203);
    const silent = await api.ask('POST', '/notes', { body: { id: 1, title: 'x' } });
    expect([silent.status, silent.text]).toEqual([204, '']);
    expect(silent.headers.get('content-length')).toBeNull();
    expect((await api.ask('PUT', '/notes', { body: { id: 2, title: 'y' } })).status).toBe(202);
    const removed = await api.ask('DELETE', '/notes/2');
    expect([removed.status, removed.json]).toEqual([200, [{ id: 2, title: 'y' }]]);
  });
});

describe('envelope and single', () => {
  it('wrap lists and objects in the inherited envelope, an own one, or none', async () => {
    await serve({
      api: 'envelope = "data"',
      operations: [
        operation('GET', '/inherited'),
        operation('GET', '/own', 'envelope = "notes"'),
        operation('GET', '/bare', 'envelope = ""'),
        operation('GET', '/one', 'single = true'),
        operation('GET', '/bare-one', 'single = true\nenvelope = ""'),
        operation('POST', '/notes', 'action = "create"'),
        operation('PUT', '/notes', 'action = "create"\nsingle = false'),
      ].join(''),
      notes: notesUpTo(1),
    });
    const note = '{"id":1,"title":"Note 1"}';
    expect((await api.get('/inherited')).text).toBe(`{"data":[${note}],"hits":1}`);
    expect((await api.get('/own')).text).toBe(`{"notes":[${note}],"hits":1}`);
    expect((await api.get('/bare')).text).toBe(`[${note}]`);
    expect((await api.get('/one')).text).toBe(`{"data":${note}}`);
    expect((await api.get('/bare-one')).text).toBe(note);
    const body = { id: 2, title: 'x' };
    expect((await api.ask('POST', '/notes', { body })).json).toEqual({ data: body });
    const listed = await api.ask('PUT', '/notes', { body: { ...body, id: 3 } });
    expect(listed.json).toEqual({ data: [{ ...body, id: 3 }], hits: 1 });
  });

  it('change every selected row of an update if "single" is false', async () => {
    const lines = 'action = "update"\nsingle = false\nfilter = { state = "state" }';
    const notes = notesUpTo(3, (id) => ({ state: id === 3 ? 'open' : 'done' }));
    await serve({ operations: operation('PATCH', '/notes/of/{state}', lines), notes });
    const updated = await api.ask('PATCH', '/notes/of/done', { body: { rank: 1 } });
    expect(ids(updated)).toEqual([1, 2]);
    expect(api.rows('notes', { rank: 1 })).toHaveLength(2);
  });

  it('remove only the first selected row of a delete if "single" is true', async () => {
    const lines = 'action = "delete"\nsingle = true\nstatus = 200\nfilter = { state = "state" }';
    const notes = notesUpTo(2, () => ({ state: 'done' }));
    await serve({ operations: operation('DELETE', '/notes/of/{state}', lines), notes });
    expect((await api.ask('DELETE', '/notes/of/done')).json).toMatchObject({ id: 1 });
    expect(api.rows('notes', {})).toMatchObject([{ id: 2 }]);
  });

  it('answer the route’s not_found for a single object that does not exist', async () => {
    await serve({
      api: 'not_found = \'{"message":"gone"}\'\nnot_found_status = 410',
      operations: [
        operation('GET', '/inherited', 'single = true'),
        operation('GET', '/own', 'single = true\nnot_found = \'"no"\'\nnot_found_status = 422'),
        operation('GET', '/silent', 'single = true\nnot_found = ""'),
      ].join(''),
    });
    const inherited = await api.get('/inherited');
    expect([inherited.status, inherited.text]).toEqual([410, '{"message":"gone"}']);
    const own = await api.get('/own');
    expect([own.status, own.text]).toEqual([422, '"no"']);
    const silent = await api.get('/silent');
    expect([silent.status, silent.text]).toEqual([410, '']);
    expect(silent.headers.get('content-type')).toBeNull();
    expect(silent.headers.get('content-length')).toBe('0');
  });
});

describe('body, defaults and generate', () => {
  const create = (lines: string) => operation('POST', '/notes', `action = "create"\n${lines}`);

  it('take only the named fields from the body, each from its declared place', async () => {
    const lines = 'body = { id = "number", title = "note.title", "owner.login" = "/by/0" }';
    await serve({ operations: create(lines) });
    const body = { number: 1, note: { title: 'x' }, by: ['ann'], state: 'done', id: 99 };
    expect((await api.ask('POST', '/notes', { body })).json).toEqual({
      id: 1,
      title: 'x',
      owner: { login: 'ann' },
    });
    const lacking = await api.ask('POST', '/notes', { body: { number: 2 } });
    expect([lacking.status, lacking.json]).toEqual([400, invalid]);
  });

  it('take null in the body as a value', async () => {
    await serve({ operations: create('body = { id = "id", title = "title", rank = "rank" }') });
    const body = { id: 1, title: 'x', rank: null };
    expect((await api.ask('POST', '/notes', { body })).json).toEqual(body);
  });

  it('apply "defaults" to fields missing in the body, when creating and updating', async () => {
    const update =
      'action = "update"\nfilter = { id = "id" }\ndefaults = { state = "done", tags = ["u"] }';
    const operations =
      create('defaults = { state = "open", tags = ["a"] }') +
      operation('PATCH', '/notes/{id}', update);
    await serve({ operations });
    const created = await api.ask('POST', '/notes', { body: { id: 1, title: 'x', state: 'done' } });
    expect(created.json).toEqual({ id: 1, title: 'x', state: 'done', tags: ['a'] });
    const plain = await api.ask('POST', '/notes', { body: { id: 2, title: 'y' } });
    expect(plain.json).toMatchObject({ state: 'open', tags: ['a'] });
    const updated = await api.ask('PATCH', '/notes/2', { body: { tags: [] } });
    expect(updated.json).toEqual({ id: 2, title: 'y', state: 'done', tags: [] });
  });

  it('set values by "generate" that no client can choose', async () => {
    const lines = 'generate = { id = "int", key = "uuid", made_at = "now", stamp = "now" }';
    await serve({ operations: create(lines), notes: [{ id: 41, title: 'x' }] });
    const before = Math.floor(Date.now() / 1000);
    const { json } = await api.ask('POST', '/notes', { body: { id: 7, key: 'mine', title: 'x' } });
    expect(json).toMatchObject({ id: 42, title: 'x' });
    const { key, made_at: madeAt, stamp } = json as Row;
    expect(key).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(madeAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Number(stamp)).toBeGreaterThanOrEqual(before);
    const next = await api.ask('POST', '/notes', { body: { title: 'y' } });
    expect(next.json).toMatchObject({ id: 43 });
  });

  it('derive values of "generate" from the session’s clock and seed', async () => {
    const lines = 'generate = { id = "int", key = "uuid", made_at = "now", stamp = "now" }';
    const world = { operations: create(lines) };
    const made = async () => {
      const clock = { at: '2030-01-02T03:04:05Z', mode: 'frozen', rate: 1 } as const;
      await serve(world, { clock, seed: 5 });
      return (await api.ask('POST', '/notes', { body: { title: 'x' } })).json as Row;
    };
    const first = await made();
    expect(first).toMatchObject({ id: 1, made_at: '2030-01-02T03:04:05Z', stamp: 1893553445 });
    expect(await made()).toEqual(first);
  });

  it('overwrite fields of an existing row by the "generate" of an update', async () => {
    const lines = 'action = "update"\nfilter = { id = "id" }\ngenerate = { stamp = "now" }';
    await serve({ operations: operation('PATCH', '/notes/{id}', lines), notes: notesUpTo(1) });
    const { json } = await api.ask('PATCH', '/notes/1', { body: { stamp: 5 } });
    expect(Number((json as Row).stamp)).toBeGreaterThan(1_000_000_000);
  });

  it.each([['[]'], ['5'], ['"text"'], ['null']])('refuse the body %s', async (body) => {
    await serve({ operations: create('defaults = { state = "open" }') });
    const headers = { 'content-type': 'application/json' };
    const answer = await api.ask('POST', '/notes', { body, headers });
    expect([answer.status, answer.json]).toEqual([400, invalid]);
  });

  it('treat a missing body as an empty one', async () => {
    const lines = 'defaults = { title = "untitled" }\ngenerate = { id = "int" }';
    await serve({ operations: create(lines) });
    expect((await api.ask('POST', '/notes')).json).toEqual({ title: 'untitled', id: 1 });
  });

  it('treat names such as "__proto__" as fields, which the contract refuses', async () => {
    await serve({ operations: create('') });
    for (const body of [
      '{"title":"x","__proto__":{"id":5}}',
      '{"constructor":1,"id":1,"title":"x"}',
    ]) {
      expect((await api.ask('POST', '/notes', { body })).status).toBe(400);
    }
    expect(api.rows('notes', {})).toEqual([]);
  });
});
