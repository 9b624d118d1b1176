/** Addresses of the vendor, in a session's answers and in the requests that the session receives. */
import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Contract } from '#language/contract.ts';
import { type ApiClient, notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';
import { createAddresses } from '../routes/addresses.ts';
import { jsonAnswer, serveAnswer } from './answers/answer.ts';

const base = 'https://notes.example';
const vendor = { baseUrl: base } as Contract['vendor'];
const api = { prefixes: ['/api', '/api/v3'] } as Contract['api'];

describe('createAddresses', () => {
  const addresses = createAddresses({ vendor, api }, 'http://ses--api.localhost:4600', {
    also: ['http://[::1]:80'],
  });
  const serve = (text: string) => addresses?.serve(text);

  it('rewrites the vendor’s address anywhere in a text, whether a path, a query or punctuation follows it', () => {
    const home = 'http://ses--api.localhost:4600';
    expect(serve(base)).toBe(home);
    expect(serve(`"${base}/a","${base}?b","${base}{/c}"`)).toBe(
      `"${home}/a","${home}?b","${home}{/c}"`,
    );
    expect(serve(`<${base}/a>; rel="next", (${base}).\\n${base}, ${base}.`)).toBe(
      `<${home}/a>; rel="next", (${home}).\\n${home}, ${home}.`,
    );
  });

  it('leaves a text unchanged if the host is longer, or has a port or user name', () => {
    for (const text of ['.uk/a', '-two.example', ':8080/', 's', '@a.example', '%2e', 'é']) {
      expect(serve(base + text)).toBe(base + text);
    }
    expect(serve('http://notes.example/a')).toBe('http://notes.example/a');
  });

  it('restores every address of the session in texts at any depth, but not in names of members', () => {
    const given = {
      'http://[::1]:80': [{ a: 'see http://[::1]:80/x' }, 1, null],
      b: 'http://[::1]:8',
    };
    const taken = { 'http://[::1]:80': [{ a: `see ${base}/x` }, 1, null], b: 'http://[::1]:8' };
    expect(addresses?.restore(given, 6)).toEqual(taken);
    const other = { __proto__: null, a: ['http://[::1]:8080/'] };
    expect(addresses?.restore(other, 0)).toBe(other);
    const named = JSON.parse('{"__proto__": "http://[::1]:80"}');
    expect(JSON.stringify(addresses?.restore(named, 6))).toBe(`{"__proto__":"${base}"}`);
  });

  it('restores addresses with any prefix of the API, the longest one first', () => {
    const at = (rest: string) => `http://ses--api.localhost:4600${rest}`;
    const given = [at('/api/v3/a'), at('/api/a'), at('/api/v4'), at('/a'), at('/apis')];
    const taken = [`${base}/a`, `${base}/a`, `${base}/v4`, `${base}/a`, `${base}/apis`];
    expect(addresses?.restore(given, 6)).toEqual(taken);
  });

  it('returns undefined for a value that restoring would enlarge beyond the limit in bytes', () => {
    const short = createAddresses({ vendor, api: null }, 'http://a');
    const [given, taken] = [
      ['http://a é', { b: 'http://a' }],
      [`${base} é`, { b: base }],
    ];
    expect(short?.restore(given, 26)).toEqual(taken);
    expect(short?.restore(given, 25)).toBeUndefined();
    expect(short?.restore('http://a '.repeat(100_000), 1_000_000)).toBeUndefined();
  });

  it('recognizes bytes that cannot contain an address, neither plain nor escaped', () => {
    const mayOccurIn = (text: string) => addresses?.mayOccurIn(Buffer.from(text));
    for (const text of [
      '"http://[::1]:80/a"',
      '"http:\\/\\/[::1]:80"',
      'a=http%3A%2F%2F[::1]:80',
    ]) {
      expect(mayOccurIn(text)).toBe(true);
    }
    expect(mayOccurIn('{"a":"http://[::1]:8"}')).toBe(false);
  });

  it('rewrites addresses in headers, JSON formats and HTML, but in no other type of body', () => {
    if (addresses === undefined) throw new Error('the world has a vendor');
    const answer = { ...jsonAnswer(201, `"${base}"`), headers: { location: `${base}/notes/1` } };
    const served = { body: '"http://ses--api.localhost:4600"' };
    expect(serveAnswer(addresses, answer)).toMatchObject({
      ...served,
      headers: { location: 'http://ses--api.localhost:4600/notes/1' },
    });
    const typed = (type: string) => ({ ...answer, headers: { 'Content-Type': type } });
    expect(serveAnswer(addresses, typed('text/html; charset=utf-8'))).toMatchObject(served);
    for (const type of ['application/x-ndjson', 'application/jsonl', 'text/event-stream']) {
      expect(serveAnswer(addresses, typed(type))).toMatchObject(served);
    }
    const file = { ...typed('image/svg+xml'), isFile: true };
    expect(serveAnswer(addresses, file).body).toBe(`"${base}"`);
    expect(serveAnswer(addresses, typed('application/octet-stream')).body).toBe(`"${base}"`);
    expect(serveAnswer(addresses, typed('text/x-patch')).body).toBe(`"${base}"`);
  });

  it('returns undefined for a world without a vendor', () => {
    expect(createAddresses({ vendor: null, api: null }, 'http://a')).toBeUndefined();
  });
});

const handlers = `html = '<a href="${base}/notes/1">'


def page(ctx):
    ctx.respond(200, html, {"content-type": "text/html"})


def file(ctx):
    typed = {} if ctx.args["id"] == "1" else {"content-type": ctx.args["id"]}
    ctx.respond(200, html.encode(), typed)
`;

describe('a session', () => {
  const world = {
    operations: [
      operation('GET', '/notes', 'filter = { title = "title" }', { params: ['title'] }),
      operation('GET', '/notes/{id}', 'single = true\nfilter = { id = "id" }'),
      operation('GET', '/titles/{title...}', 'single = true\nfilter = { title = "title" }'),
      operation('POST', '/notes', 'action = "create"'),
      operation('GET', '/pages/{id}', 'action = "handler"\nhandler = "page"', { entity: '' }),
      operation('GET', '/files/{id}', 'action = "handler"\nhandler = "file"', { entity: '' }),
    ].join(''),
    files: { 'api/handlers.py': handlers },
    notes: notesUpTo(1, () => ({ title: `${base}/notes/1` })),
  };
  let api: ApiClient;
  let other: ApiClient;
  beforeAll(async () => {
    [api, other] = await Promise.all([serveApi(world), serveApi(world)]);
  });
  beforeEach(() => Promise.all([api.reset(), other.reset()]));

  /**
   * Requests a note with the given headers, such as `Host`, which `fetch` cannot change. Returns the answer's declared
   * length and its body.
   */
  const getBehind = async (headers: Record<string, string>): Promise<[number, string]> => {
    const authorization = `Bearer ${api.token}`;
    const asked = get(`${api.url}/notes/1`, { headers: { authorization, ...headers } });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return [Number(answer.headers['content-length']), await text(answer)];
  };
  afterAll(() => Promise.all([api.stop(), other.stop()]));

  it('puts the address at which it was called into answers, also behind a gateway', async () => {
    expect((await api.get('/notes/1')).json).toMatchObject({ title: `${api.url}/notes/1` });
    const host = 'ses-1--api.worlds.example.com';
    const [length, body] = await getBehind({ host, 'x-forwarded-proto': 'https' });
    expect(JSON.parse(body)).toMatchObject({ title: `https://${host}/notes/1` });
    expect(length).toBe(Buffer.byteLength(body));
    expect((await getBehind({ host: '<script>' }))[1]).toContain(`${api.url}/notes/1`);
  });

  it('rewrites addresses in a text, and returns the bytes of a file unchanged, whatever its media type', async () => {
    expect((await api.get('/pages/1')).text).toBe(`<a href="${api.url}/notes/1">`);
    for (const type of ['text/html', 'image/svg+xml', 'application/json', '1']) {
      const { headers, text: body } = await api.get(`/files/${encodeURIComponent(type)}`);
      expect(headers.get('content-type')).toBe(type === '1' ? 'application/octet-stream' : type);
      expect(body).toBe(`<a href="${base}/notes/1">`);
    }
  });

  it('keeps the vendor’s addresses in rows and in the ledger, whichever client wrote them', async () => {
    const note = (at: ApiClient) => ({
      id: 2,
      title: 'A',
      tags: [`see ${at.url}/notes/1, please`],
    });
    for (const at of [api, other]) {
      const { json } = await at.ask('POST', '/notes', { body: note(at) });
      expect(json).toEqual(note(at));
      expect(at.rows('notes', { id: 2 })).toEqual([
        { ...note(at), tags: [`see ${base}/notes/1, please`] },
      ]);
      expect((await at.requests()).at(-1)).toMatchObject({
        request: { body: { tags: [`see ${base}/notes/1, please`] } },
        response: { body: { tags: [`see ${base}/notes/1, please`] } },
      });
    }
    const form = new URLSearchParams({ id: '3', title: `${api.url}/x`, 'tags[]': 'b' });
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    await api.ask('POST', '/notes', { body: form.toString(), headers: type });
    expect(api.rows('notes', { id: 3 })).toMatchObject([{ title: `${base}/x` }]);
  });

  it('refuses a body that the vendor’s longer addresses would enlarge beyond the limit', async () => {
    const send = async (title: string): Promise<number> => {
      const headers = { authorization: `Bearer ${api.token}`, host: 'a' };
      const asked = request(`${api.url}/notes`, { method: 'POST', headers });
      asked.end(JSON.stringify({ id: 4, title }));
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode ?? 0;
    };
    expect(await send('http://a '.repeat(100_000))).toBe(413);
    expect((await api.requests()).at(-1)).toMatchObject({
      status: 413,
      request: { body: null },
      response: { reason: expect.stringContaining('1 MiB') },
    });
    expect(await send('http://a '.repeat(40_000))).toBe(201);
    expect(api.rows('notes', { id: 4 })).toMatchObject([{ title: `${base} `.repeat(40_000) }]);
  });

  it('finds rows by the addresses that it answered', async () => {
    const title = encodeURIComponent(`${api.url}/notes/1`);
    expect((await api.get(`/notes?title=${title}`)).json).toHaveLength(1);
    expect((await api.get(`/titles/${title}`)).json).toMatchObject({ id: 1 });
  });

  it('has the same validator (ETag) for a state, whichever address was called', async () => {
    const [here, there] = await Promise.all([api.get('/notes/1'), other.get('/notes/1')]);
    expect(here.headers.get('etag')).toBe(there.headers.get('etag'));
    expect(here.text).not.toBe(there.text);
  });
});
