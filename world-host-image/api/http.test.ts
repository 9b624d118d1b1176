/** HTTP independent of routes: methods, bodies of every kind, conditional requests, and malformed requests. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ApiClient,
  type Asked,
  notesUpTo,
  operation,
  serveApi,
} from '#test/support/worlds/api-world.ts';

const one = 'single = true\nfilter = { id = "id" }';
const nested =
  'body = { id = "id", title = "note.title", tags = "note.tags", owner = "note.owner" }';

const api: ApiClient = await serveApi({
  operations: [
    operation('GET', '/notes', 'filter = { state = "state" }', { params: ['state'] }),
    operation('GET', '/notes/{id}', one),
    operation('GET', '/titles/{title}', 'single = true\nfilter = { title = "title" }'),
    operation('GET', '/accepted', 'status = 202'),
    operation('GET', '/dated/{id}', `${one}\nlast_modified = "made_at"`),
    operation('GET', '/stamped/{id}', `${one}\nenvelope = "note"\nlast_modified = "stamp"`),
    operation('POST', '/notes', 'action = "create"'),
    operation('PUT', '/nested', `action = "create"\n${nested}`),
    operation('PATCH', '/notes/{id}', 'action = "update"\nfilter = { id = "id" }'),
    operation('DELETE', '/notes/{id}', 'action = "delete"\nfilter = { id = "id" }'),
  ].join(''),
  notes: notesUpTo(2),
});

beforeEach(() => api.reset());
afterAll(() => api.stop());

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Writes raw text to a connection and returns the answer. */
const write = async (...texts: string[]): Promise<string> => {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  let answered = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answered += text;
  });
  for (const text of texts) socket.write(text);
  await once(socket, 'close');
  return answered;
};

const head = (line: string, ...headers: string[]): string =>
  [line, 'Host: notes.test', `Authorization: Bearer ${api.token}`, ...headers, '', ''].join('\r\n');

describe('a connection', () => {
  it('stays open for 75 s when idle, longer than clients keep connections, and announces that time', async () => {
    expect((await api.get('/notes')).headers.get('keep-alive')).toBe('timeout=75');
  });
});

describe('Last-Modified', () => {
  const made = { id: 7, title: 'a', made_at: '2026-03-01T09:00:00.5Z', stamp: 1_772_355_600 };
  const http = 'Sun, 01 Mar 2026 09:00:00 GMT';
  beforeEach(() => api.ask('POST', '/notes', { body: made }));

  it('is sent if the route declares a field for it, with a date text or seconds', async () => {
    for (const path of ['/dated/7', '/stamped/7']) {
      expect((await api.get(path)).headers.get('last-modified')).toBe(http);
    }
    for (const path of ['/notes/7', '/dated/1', '/dated/9']) {
      expect((await api.get(path)).headers.get('last-modified')).toBeNull();
    }
  });

  it('is compared with If-Modified-Since only if the request has no If-None-Match', async () => {
    const ask = async (headers: Record<string, string>) =>
      (await api.get('/dated/7', headers)).status;
    expect(await ask({ 'if-modified-since': http })).toBe(304);
    expect(await ask({ 'if-modified-since': 'Sun, 01 Mar 2026 08:59:59 GMT' })).toBe(200);
    expect(await ask({ 'if-modified-since': 'yesterday' })).toBe(200);
    expect(await ask({ 'if-modified-since': http, 'if-none-match': '"other"' })).toBe(200);
  });
});

describe('methods', () => {
  it('include HEAD, which is answered like GET without a body', async () => {
    for (const path of ['/notes', '/notes/2', '/notes/9', '/nowhere']) {
      const [got, head] = await Promise.all([api.get(path), api.ask('HEAD', path)]);
      expect([head.status, head.text]).toEqual([got.status, '']);
      for (const name of ['content-type', 'content-length', 'etag']) {
        expect(head.headers.get(name)).toBe(got.headers.get(name));
      }
      expect(Number(head.headers.get('content-length'))).toBe(Buffer.byteLength(got.text));
    }
  });

  it('include OPTIONS, which is answered with the methods of a path', async () => {
    const options = await api.ask('OPTIONS', '/notes/2');
    expect([options.status, options.text, options.headers.get('allow')]).toEqual([
      204,
      '',
      'DELETE, GET, HEAD, OPTIONS, PATCH',
    ]);
    expect(options.headers.get('access-control-allow-origin')).toBeNull();
    expect((await api.ask('OPTIONS', '/nowhere')).status).toBe(404);
    const stranger = { headers: { authorization: 'no' } };
    expect((await api.ask('OPTIONS', '/notes', stranger)).status).toBe(401);
  });

  it('that a path lacks are answered 405, with the methods that the path has', async () => {
    for (const method of ['PUT', 'DELETE', 'PROPFIND']) {
      const answer = await api.ask(method, '/notes');
      expect([answer.status, answer.headers.get('allow'), answer.json]).toEqual([
        405,
        'GET, HEAD, OPTIONS, POST',
        { error: 'invalid' },
      ]);
    }
    expect((await api.ask('PUT', '/nowhere')).status).toBe(404);
  });
});

describe('request bodies', () => {
  const post = async (asked: Asked, path = '/notes', method = 'POST') => {
    const { status, json } = await api.ask(method, path, asked);
    return [status, json];
  };
  const note = { id: 7, title: 'é' };
  const text = JSON.stringify(note);

  it.each<[string, Record<string, string>]>([
    ['of its type', { 'content-type': 'application/json' }],
    ['of its type with a charset', { 'content-type': 'Application/JSON; charset=UTF-8' }],
    ['of a type made of it', { 'content-type': 'application/vnd.notes.v3+json' }],
    ['called a text', { 'content-type': 'text/plain;charset=UTF-8' }],
    ['called bytes', { 'content-type': 'application/octet-stream' }],
    ['called a form, as curl does', form],
    ['called nothing', { 'content-type': '' }],
  ])('are accepted as JSON %s', async (_, headers) => {
    expect(await post({ body: text, headers })).toEqual([201, note]);
  });

  it('are read as JSON even without a content type, after a byte order mark, or in chunks', async () => {
    const bytes = Buffer.from(`\uFEFF  ${text}\n`);
    const plain = head(
      'POST /notes HTTP/1.1',
      `Content-Length: ${bytes.length}`,
      'Connection: close',
    );
    expect(await write(plain, bytes.toString())).toContain('HTTP/1.1 201');
    await api.reset();
    const chunked = head('POST /notes HTTP/1.1', 'Transfer-Encoding: chunked', 'Connection: close');
    const chunks = [...text].map((letter) => {
      const size = Buffer.byteLength(letter).toString(16);
      return `${size}\r\n${letter}\r\n`;
    });
    expect(await write(chunked, ...chunks, '0\r\n\r\n')).toContain('HTTP/1.1 201');
  });

  it('are read as forms, whose values get the types of their fields', async () => {
    const body =
      'id=7&title=5&rank=1.5&pinned=true&tags[]=1&tags[]=b&owner[login]=9&owner[age]=9&key=&stamp=';
    expect(await post({ body, headers: form })).toEqual([
      201,
      {
        id: 7,
        title: '5',
        rank: 1.5,
        pinned: true,
        tags: ['1', 'b'],
        owner: { login: '9', age: 9 },
        key: '',
        stamp: null,
      },
    ]);
    expect(await post({ body: 'title=two+words%21', headers: form }, '/notes/1', 'PATCH')).toEqual([
      200,
      { id: 1, title: 'two words!' },
    ]);
    const mapped = 'id=8&note[title]=x&note[tags][0]=a&note[owner][age]=4';
    expect(await post({ body: mapped, headers: form }, '/nested', 'PUT')).toEqual([
      201,
      { id: 8, title: 'x', tags: ['a'], owner: { age: 4 } },
    ]);
  });

  it.each<[string, number, Asked]>([
    ['broken JSON', 400, { body: '{"id":7' }],
    ['no JSON at all', 400, { body: 'id=7' }],
    ['bytes that are no UTF-8', 400, { body: Buffer.from('{"title":"\xff"}', 'latin1') }],
    ['UTF-16', 400, { body: Buffer.from(text, 'utf16le') }],
    ['a form that contradicts itself', 400, { body: 'owner=1&owner[age]=2', headers: form }],
    ['a number where a text belongs', 400, { body: { id: 7, title: 5 } }],
    ['an unknown field', 400, { body: { ...note, colour: 'red' } }],
    ['a number beyond 2^53', 400, { body: '{"id":9007199254740993,"title":"x"}' }],
    ['a number beyond all doubles', 400, { body: '{"id":7,"title":"x","rank":1e400}' }],
    ['half of a surrogate pair', 400, { body: '{"id":7,"title":"a\\ud83d"}' }],
    ['half of a surrogate pair in a name', 400, { body: '{"id":7,"title":"a","\\udc00":1}' }],
    ['a word that is called a form', 400, { body: 'nonsense', headers: form }],
    ['a number that is called a form', 400, { body: '5', headers: form }],
    ['more levels than rows have', 400, { body: `${'['.repeat(9_999)}${']'.repeat(9_999)}` }],
    ['files', 415, { body: new FormData() }],
    ['compressed bytes', 415, { body: gzipSync(text), headers: { 'content-encoding': 'gzip' } }],
    ['too much', 413, { body: { ...note, title: 'x'.repeat(2 * 1024 * 1024) } }],
  ])('are refused in the shape of `invalid`: %s gets status %i', async (_, status, asked) => {
    expect(await post(asked)).toEqual([status, { error: 'invalid' }]);
    expect(api.rows('notes', {})).toHaveLength(2);
  });

  it('are refused above the size limit, also if they are sent in chunks', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const chunked = ['Transfer-Encoding: chunked', 'Connection: close'];
    const begin = head('POST /notes HTTP/1.1', ...chunked);
    expect(await write(begin, ...Array.from({ length: 20 }, () => chunk), '0\r\n\r\n')).toContain(
      'HTTP/1.1 413',
    );
  });

  it('are ignored if the route takes none', async () => {
    const gone = await api.ask('DELETE', '/notes/1', { body: '{broken', headers: form });
    expect(gone.status).toBe(204);
    const body = 'what is this';
    const read = head('GET /notes HTTP/1.1', `Content-Length: ${body.length}`, 'Connection: close');
    expect(await write(read, body)).toContain('HTTP/1.1 200');
  });

  it('are accepted up to the size limit', async () => {
    const title = 'x'.repeat(1024 * 1024 - 30);
    expect((await post({ body: { id: 7, title } }))[0]).toBe(201);
  });
});

describe('conditional requests', () => {
  it('are answered 304 until the answer that the client has changes', async () => {
    const first = await api.get('/notes/1');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/);
    const known = await api.get('/notes/1', { 'if-none-match': etag });
    expect([known.status, known.text, known.headers.get('etag')]).toEqual([304, '', etag]);
    expect(known.headers.get('content-type')).toBeNull();
    await api.ask('PATCH', '/notes/2', { body: { title: 'other' } });
    expect((await api.get('/notes/1', { 'if-none-match': etag })).status).toBe(304);
    await api.ask('PATCH', '/notes/1', { body: { title: 'changed' } });
    const changed = await api.get('/notes/1', { 'if-none-match': etag });
    expect([changed.status, changed.json]).toEqual([200, { id: 1, title: 'changed' }]);
    await api.ask('PATCH', '/notes/1', { body: { title: 'Note 1' } });
    expect((await api.get('/notes/1')).headers.get('etag')).toBe(etag);
  });

  it('compare validators weakly, with each of a list, and accept any for `*`', async () => {
    const etag = (await api.get('/notes')).headers.get('etag') ?? '';
    const status = async (value: string) =>
      (await api.get('/notes', { 'if-none-match': value })).status;
    expect(await status(etag.replace('W/', ''))).toBe(304);
    expect(await status(`"a, b", W/"c" ,${etag}`)).toBe(304);
    expect(await status('*')).toBe(304);
    expect(await status('"a"')).toBe(200);
    expect(await status('nonsense')).toBe(200);
    const asked = { headers: { 'if-none-match': etag } };
    expect((await api.ask('HEAD', '/notes', asked)).status).toBe(304);
  });

  it('apply only to successful answers to GET', async () => {
    expect((await api.get('/notes/9')).headers.get('etag')).toBeNull();
    expect((await api.get('/notes/9', { 'if-none-match': '*' })).status).toBe(404);
    expect((await api.get('/accepted', { 'if-none-match': '*' })).status).toBe(202);
    const headers = { 'if-none-match': '*' };
    const created = await api.ask('POST', '/notes', { body: { id: 7, title: 'x' }, headers });
    expect([created.status, created.headers.get('etag')]).toEqual([201, null]);
  });
});

describe('unusual requests', () => {
  it('may name a whole URL, as if sent to a proxy', async () => {
    const answer = await write(
      head('GET http://elsewhere.test/notes/1?x HTTP/1.1', 'Connection: close'),
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 [\s\S]*{"id":1,"title":"Note 1"}$/);
  });

  it('may be pipelined, and are answered in their order', async () => {
    const answers = await write(
      head('GET /notes/1 HTTP/1.1'),
      head('GET /notes/9 HTTP/1.1'),
      head('GET /notes/2 HTTP/1.1', 'Connection: close'),
    );
    expect([...answers.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '404',
      '200',
    ]);
  });

  it('are refused when their headers exceed the limit', async () => {
    const headers = { 'x-long': 'x'.repeat(20_000) };
    expect((await api.get('/notes', headers)).status).toBe(431);
    expect((await api.get('/notes', { 'x-long': 'x'.repeat(10_000) })).status).toBe(200);
  });

  it('may repeat headers, or have headers named like members of prototypes', async () => {
    const odd = ['X-A: 1', 'X-A: 2', 'Set-Cookie: a=1', '__proto__: x', 'constructor: y'];
    const answer = await write(head('GET /notes/1 HTTP/1.1', ...odd, 'Connection: close'));
    expect(answer).toContain('HTTP/1.1 200');
    const [noted] = await api.requests();
    expect(noted?.request).toMatchObject({ headers: { 'x-a': '1, 2' } });
  });

  it('are answered 404 if their path or arguments can match no row', async () => {
    expect((await api.get('/titles/%00')).status).toBe(404);
    expect((await api.get('/titles/%EF%BF%BD%F0%9F%90%84')).status).toBe(404);
    expect((await api.get(`/titles/${'x'.repeat(10_000)}`)).status).toBe(404);
    expect((await api.get('/notes?state=%E0%A4%A&state=%00&=&&a=b=c')).json).toEqual([]);
    expect((await api.get(`/notes/${'9'.repeat(400)}`)).status).toBe(404);
    expect((await api.get('/notes/1e0')).status).toBe(404);
    expect((await api.get('/notes/..%2F1')).status).toBe(404);
  });

  it('are all recorded in the ledger, the oldest first', async () => {
    await api.get('/notes?state=open&state=done');
    await api.ask('POST', '/notes', { body: 'title=x&owner[age]=3', headers: form });
    await api.ask('PROPFIND', '/notes');
    const noted = await api.requests();
    expect(noted.map(({ method, status, operation: name }) => [method, status, name])).toEqual([
      ['GET', 200, 'get_notes'],
      ['POST', 400, 'post_notes'],
      ['PROPFIND', 405, null],
    ]);
    expect(noted[0]?.request).toMatchObject({ query: { state: ['open', 'done'] } });
    expect(noted[1]?.request).toMatchObject({ body: { title: 'x', owner: { age: '3' } } });
  });
});
