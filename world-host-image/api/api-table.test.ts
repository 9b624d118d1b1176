/** Effect of each `[api]` key, over HTTP: its default, its values, and the values that are rejected. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { ServeOptions } from '#test/support/host/serve-world.ts';
import {
  type Answer,
  type ApiClient,
  type ApiWorld,
  notesUpTo,
  operation,
  serveApi,
} from '#test/support/worlds/api-world.ts';

let api: ApiClient;

const serve = async (world: ApiWorld, options: ServeOptions = {}): Promise<void> => {
  api = await serveApi(world, options);
  onTestFinished(api.stop);
};

const ids = (rows: unknown): unknown => (rows as Row[]).map(({ id }) => id);

/** Returns the members of an answer other than its rows. */
const beside = ({ json }: Answer, envelope = 'data'): Row => {
  const { [envelope]: _, ...others } = json as Row;
  return others;
};

const list = operation('GET', '/notes', 'filter = { state = "state" }', { params: ['state'] });

describe('paging keys', () => {
  it('leave a list without pages and without an envelope by default', async () => {
    await serve({ operations: list, notes: notesUpTo(150) });
    const answer = await api.get('/notes?limit=5&offset=5&cursor=x');
    expect(answer.json).toHaveLength(150);
    expect(answer.headers.get('link')).toBeNull();
  });

  it('default to "limit", "offset", "cursor", "hits" and "cursor", with 100 rows a page', async () => {
    const paged = operation('GET', '/by-offset', 'page = "offset"') + list;
    await serve({
      api: 'page = "cursor"\nenvelope = "data"',
      operations: paged,
      notes: notesUpTo(250),
    });
    const first = await api.get('/notes');
    expect((first.json as Row).data).toHaveLength(100);
    expect(beside(first)).toEqual({ hits: 250, cursor: expect.any(String) });
    expect([...first.headers.keys()]).not.toContain('link');
    const { cursor } = first.json as Row;
    const last = await api.get(`/notes?limit=200&cursor=${cursor}`);
    expect((last.json as Row).data).toHaveLength(150);
    expect(beside(last)).toEqual({ hits: 250, cursor: null });
    const offset = await api.get('/by-offset?offset=240');
    expect(ids((offset.json as Row).data)).toEqual([
      241, 242, 243, 244, 245, 246, 247, 248, 249, 250,
    ]);
    expect(beside(offset)).toEqual({ hits: 250 });
  });

  it('set the kind of pages, their size and the names of parameters', async () => {
    const names =
      'limit_param = "per_page"\noffset_param = "skip"\ncursor_param = "starting_after"';
    await serve({
      api: `page = "offset"\npage_size = 2\nenvelope = "data"\n${names}`,
      operations: [
        list,
        operation('GET', '/by-cursor', 'page = "cursor"'),
        operation('GET', '/unpaged', 'page = "none"'),
      ].join(''),
      notes: notesUpTo(5),
    });
    const data = async (path: string) => ids(((await api.get(path)).json as Row).data);
    expect(await data('/notes')).toEqual([1, 2]);
    expect(await data('/notes?limit=5&offset=1')).toEqual([1, 2]);
    expect(await data('/notes?per_page=3&skip=1')).toEqual([2, 3, 4]);
    expect(await data('/notes?skip=5')).toEqual([]);
    expect(await data('/unpaged')).toEqual([1, 2, 3, 4, 5]);
    const { cursor } = (await api.get('/by-cursor?per_page=3')).json as Row;
    expect(await data(`/by-cursor?starting_after=${cursor}`)).toEqual([4, 5]);
  });

  it('set the members of count and cursors by hits_key, cursor_key and previous_key', async () => {
    const keys = 'hits_key = "total"\ncursor_key = "next"\nprevious_key = "prev"';
    await serve({
      api: `page = "cursor"\npage_size = 2\nenvelope = "data"\n${keys}`,
      operations: list + operation('GET', '/by-offset', 'page = "offset"'),
      notes: notesUpTo(5, (id) => ({ state: id < 5 ? 'open' : 'done' })),
    });
    const first = await api.get('/notes?state=open');
    expect(beside(first)).toEqual({ total: 4, next: expect.any(String), prev: null });
    const second = await api.get(`/notes?state=open&cursor=${(first.json as Row).next}`);
    expect(beside(second)).toEqual({ total: 4, next: null, prev: expect.any(String) });
    const back = await api.get(`/notes?state=open&cursor=${(second.json as Row).prev}`);
    expect(back.json).toEqual(first.json);
    expect(beside(await api.get('/by-offset?offset=2'))).toEqual({ total: 5 });
  });

  it('leave the count out if hits_key is ""', async () => {
    const operations = list + operation('GET', '/unpaged', 'page = "none"');
    await serve({ api: 'page = "cursor"\nenvelope = "data"\nhits_key = ""', operations });
    expect(beside(await api.get('/notes'))).toEqual({ cursor: null });
    expect((await api.get('/unpaged')).json).toEqual({ data: [] });
  });

  it('leave the cursor out of the last page if cursor_absent_when_done is set for the API or the route', async () => {
    const own = operation('GET', '/own', 'cursor_absent_when_done = false');
    const keys = 'cursor_absent_when_done = true\nprevious_key = "prev"';
    await serve({
      api: `page = "cursor"\npage_size = 2\nenvelope = "data"\n${keys}`,
      operations: list + own,
      notes: notesUpTo(3),
    });
    const first = await api.get('/notes');
    expect(beside(first)).toEqual({ hits: 3, cursor: expect.any(String), prev: null });
    const last = await api.get(`/notes?cursor=${(first.json as Row).cursor}`);
    expect(beside(last)).toEqual({ hits: 3, prev: expect.any(String) });
    expect(beside(await api.get('/own?limit=3'))).toEqual({ hits: 3, cursor: null, prev: null });
  });

  it('set headers by page_headers, also for lists without an envelope', async () => {
    const headers = '{ cursor = "X-Next", total = "X-Total", previous = "X-Previous" }';
    await serve({
      api: `page = "cursor"\npage_size = 2\npage_headers = ${headers}`,
      operations: list + operation('GET', '/by-offset', 'page = "offset"'),
      notes: notesUpTo(3),
    });
    const pageHeaders = ({ headers: sent }: Answer) =>
      ['x-next', 'x-total', 'x-previous'].map((name) => sent.get(name));
    const first = await api.get('/notes');
    expect(ids(first.json)).toEqual([1, 2]);
    expect(pageHeaders(first)).toEqual([expect.any(String), '3', null]);
    const last = await api.get(`/notes?cursor=${first.headers.get('x-next')}`);
    expect(pageHeaders(last)).toEqual([null, '3', expect.any(String)]);
    const back = await api.get(`/notes?cursor=${last.headers.get('x-previous')}`);
    expect(ids(back.json)).toEqual([1, 2]);
    expect(pageHeaders(await api.get('/by-offset?offset=1&limit=1'))).toEqual([null, '3', null]);
    const head = await api.ask('HEAD', '/notes');
    expect([pageHeaders(head)[1], head.text]).toEqual(['3', '']);
  });
});

describe('page_links', () => {
  const links = ({ headers }: Answer): Record<string, string> =>
    Object.fromEntries(
      [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(
        ([, url = '', rel = '']) => [rel, url],
      ),
    );

  it('are absolute URLs with an offset and the other query parameters of the request', async () => {
    const keys = 'page_links = true\ncursor_key = "next"\nprevious_key = "previous"';
    await serve({
      api: `page = "offset"\npage_size = 2\nenvelope = "data"\n${keys}`,
      operations: list,
      notes: notesUpTo(7, () => ({ state: 'open' })),
    });
    const at = (query: string) => `${api.url}/notes?${query}`;
    const first = await api.get('/notes?state=open');
    expect(beside(first)).toEqual({ hits: 7, next: at('state=open&offset=2'), previous: null });
    expect(links(first)).toEqual({
      next: at('state=open&offset=2'),
      last: at('state=open&offset=6'),
    });
    const middle = await api.get('/notes?limit=3&offset=3&state=open&mark=a%26b');
    expect(links(middle)).toEqual({
      first: at('limit=3&state=open&mark=a%26b'),
      prev: at('limit=3&offset=0&state=open&mark=a%26b'),
      next: at('limit=3&offset=6&state=open&mark=a%26b'),
      last: at('limit=3&offset=6&state=open&mark=a%26b'),
    });
    expect(links(await api.get('/notes?offset=6'))).toEqual({
      first: `${api.url}/notes`,
      prev: at('offset=4'),
    });
    expect((await api.get('/notes?limit=7')).headers.get('link')).toBeNull();
    expect(links(await api.get('/notes?offset=99'))).toMatchObject({ prev: at('offset=97') });
  });

  it('lead by cursor forwards, backwards from the last page, and to the first page', async () => {
    const header = 'page_headers = { cursor = "X-Next" }';
    await serve({
      api: `page = "cursor"\npage_size = 2\npage_links = true\n${header}`,
      operations: list,
      notes: notesUpTo(5),
    });
    const follow = (url = '') => api.get(url.slice(api.url.length));
    const first = await api.get('/notes');
    expect(Object.keys(links(first))).toEqual(['next', 'last']);
    expect(first.headers.get('x-next')).toBe(links(first).next);
    const second = await follow(links(first).next);
    expect([ids(second.json), Object.keys(links(second))]).toEqual([
      [3, 4],
      ['first', 'prev', 'next', 'last'],
    ]);
    expect(ids((await follow(links(second).prev)).json)).toEqual([1, 2]);
    expect(ids((await follow(links(second).first)).json)).toEqual([1, 2]);
    const last = await follow(links(first).last);
    expect([ids(last.json), Object.keys(links(last))]).toEqual([
      [4, 5],
      ['first', 'prev'],
    ]);
    expect(ids((await follow(links(last).prev)).json)).toEqual([2, 3]);
  });

  it('lead to the host that the client called, and never contain a credential', async () => {
    await serve({
      api: 'page = "offset"\npage_size = 1\npage_links = true',
      auth: 'scheme = "query"\nname = "key"\nsecret_env = "KEY"',
      operations: list,
      notes: notesUpTo(2),
    });
    const secure = await api.get(`/notes?key=${api.token}`, { 'x-forwarded-proto': 'https' });
    expect(links(secure).next).toBe(`${api.url.replace('http:', 'https:')}/notes?offset=1`);
  });
});

describe('a request for a page', () => {
  const cursorOf = (operationName: string, path: string) => async (): Promise<string> => {
    const { json } = await api.get(`/${operationName}?limit=1`);
    return `${path}?cursor=${(json as Row).cursor}`;
  };

  it.each<[string, string | (() => Promise<string>)]>([
    ['limit of 0', '/notes?limit=0'],
    ['limit below 0', '/notes?limit=-1'],
    ['limit beyond 10,000', '/notes?limit=10001'],
    ['limit that is no whole number', '/notes?limit=1.5'],
    ['limit that is no number', '/notes?limit=many'],
    ['empty limit', '/notes?limit='],
    ['huge limit', `/notes?limit=${'9'.repeat(400)}`],
    ['offset below 0', '/by-offset?offset=-1'],
    ['offset that is no number', '/by-offset?offset=0x1'],
    ['huge offset', `/by-offset?offset=${'9'.repeat(16)}`],
    ['empty cursor', '/notes?cursor='],
    ['cursor that was never issued', '/notes?cursor=abc'],
    ['cursor with another letter', async () => `${await cursorOf('notes', '/notes')()}A`],
    ['cursor of another route', cursorOf('other', '/notes')],
  ])('is answered with the error "invalid" if it has a %s', async (_, path) => {
    await serve({
      api: 'page = "cursor"\nenvelope = "data"\ninvalid = \'{"message":"bad page"}\'\ninvalid_status = 422',
      operations:
        list + operation('GET', '/other') + operation('GET', '/by-offset', 'page = "offset"'),
      notes: notesUpTo(3),
    });
    const answer = await api.get(typeof path === 'string' ? path : await path());
    expect([answer.status, answer.json]).toEqual([422, { message: 'bad page' }]);
  });

  it('may have a limit of 1, of 10,000, above page_size, or above the number of rows', async () => {
    await serve({ api: 'page = "offset"\npage_size = 2', operations: list, notes: notesUpTo(3) });
    expect(ids((await api.get('/notes?limit=1')).json)).toEqual([1]);
    expect((await api.get('/notes?limit=10000')).json).toHaveLength(3);
    expect((await api.get('/notes?limit=3&limit=1')).json).toHaveLength(1);
    expect((await api.get(`/notes?offset=${Number.MAX_SAFE_INTEGER}`)).json).toEqual([]);
  });
});

describe('a list without pages', () => {
  it('that is longer than an answer may be is cut, with the total in a header and a note in the ledger', async () => {
    const read = (path: string, name: string, lines: string) =>
      operation('GET', path, lines, { name });
    await serve({
      api: 'envelope = "data"',
      operations:
        read('/notes', 'all_notes', '') +
        read('/bare', 'bare', 'envelope = ""') +
        operation('DELETE', '/notes', 'action = "delete"\nfilter = { id = "id" }', {
          name: 'drop',
          params: ['id[]'],
        }),
      tools: { all_notes: { input: { type: 'object' }, output: true } },
      notes: notesUpTo(10_002),
    });
    const cut = await api.get('/notes');
    expect((cut.json as Row).data).toHaveLength(10_000);
    expect(beside(cut)).toEqual({ hits: 10_002 });
    const bare = await api.get('/bare');
    expect(bare.json).toHaveLength(10_000);
    const saying = [cut, bare].map(({ headers }) => headers.get('x-svc-rows'));
    expect(saying).toEqual(['10000 of 10002', '10000 of 10002']);
    const why = '10002 rows of notes match, and a list without pages has 10000 at most';
    const noted = (await api.requests()).map(({ response }) => (response as Row).reason);
    expect(noted).toEqual([why, why]);
    const { error } = await api.call('tool', 'all_notes', {});
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining(why) });
    await api.ask('DELETE', '/notes?id=1&id=2');
    const whole = await api.get('/notes');
    expect([beside(whole), whole.headers.get('x-svc-rows')]).toEqual([{ hits: 10_000 }, null]);
  });
});

describe('a tool that is bound to a paged route', () => {
  it('accepts the route’s paging parameters and returns cursors', async () => {
    const properties = { limit: { type: 'integer' }, cursor: { type: 'string' } };
    const input = { type: 'object', additionalProperties: false, properties };
    await serve({
      api: 'page = "cursor"\nenvelope = "data"\npage_links = true',
      operations: operation('GET', '/notes', '', { name: 'page_notes' }),
      tools: { page_notes: { input, output: true } },
      notes: notesUpTo(3),
    });
    const first = await api.call('tool', 'page_notes', { limit: 2 });
    expect(first.output).toMatchObject({ data: [{ id: 1 }, { id: 2 }], hits: 3 });
    const { cursor } = first.output as Row;
    const next = await api.call('tool', 'page_notes', { cursor });
    expect(next.output).toEqual({ data: [{ id: 3, title: 'Note 3' }], hits: 3, cursor: null });
    const broken = await api.call('tool', 'page_notes', { cursor: 'x' });
    expect(broken.error).toMatchObject({ code: 'refused' });
  });
});
