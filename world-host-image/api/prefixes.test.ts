/** `[api] prefixes` and `aliases`: the same API under a second path. */
import { afterAll, describe, expect, it } from 'vitest';
import { type ApiClient, notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

const oauth = `scheme = "oauth2"
client_id_env = "ID"
secret_env = "SECRET"
token_url = "/login"`;

const api: ApiClient = await serveApi({
  api: 'prefixes = ["/api", "/api/v3"]\npage = "offset"\npage_size = 1\npage_links = true',
  auth: oauth,
  operations: [
    operation('GET', '/', 'single = true'),
    operation('GET', '/notes'),
    operation('GET', '/notes/{id}', 'single = true\nfilter = { id = "id" }'),
    operation('POST', '/notes', 'action = "create"'),
  ].join(''),
  notes: notesUpTo(2, (id) => ({ key: `https://notes.example/notes/${id}` })),
});
afterAll(() => api.stop());

describe('a prefix', () => {
  it('leads to the same routes; the longest matching prefix counts', async () => {
    for (const path of ['/notes/2', '/api/notes/2', '/api/v3/notes/2']) {
      expect((await api.get(path)).json).toMatchObject({ id: 2 });
    }
    for (const path of ['/', '/api', '/api/', '/api/v3', '/api/v3/']) {
      expect((await api.get(path)).json).toMatchObject({ id: 1 });
    }
    for (const path of ['/apis/notes/2', '/api/v4/notes/2', '/api/v3/api/v3/notes/2']) {
      expect((await api.get(path)).status).toBe(404);
    }
    expect((await api.ask('OPTIONS', '/api/v3/notes')).headers.get('allow')).toBe(
      'GET, HEAD, OPTIONS, POST',
    );
  });

  it('appears in addresses and links of answers, but not in rows', async () => {
    const { json, headers } = await api.get('/api/v3/notes');
    expect(json).toMatchObject([{ key: `${api.url}/api/v3/notes/1` }]);
    expect(headers.get('link')).toContain(`<${api.url}/api/v3/notes?offset=1>; rel="next"`);
    expect((await api.get('/notes/1')).json).toMatchObject({ key: `${api.url}/notes/1` });
    expect(api.rows('notes', { id: 1 })).toMatchObject([{ key: 'https://notes.example/notes/1' }]);
  });

  it('is not stored in rows, even if a client sends an address with the prefix in a request without it', async () => {
    const body = { id: 3, title: 'A', key: `${api.url}/api/v3/notes/3` };
    expect((await api.ask('POST', '/notes', { body })).json).toMatchObject({
      key: `${api.url}/notes/3`,
    });
    expect(api.rows('notes', { id: 3 })).toMatchObject([{ key: 'https://notes.example/notes/3' }]);
  });

  it('also applies to the token path', async () => {
    const body = { grant_type: 'client_credentials', client_secret: api.token };
    expect((await api.ask('POST', '/api/v3/login', { body })).json).toMatchObject({
      access_token: expect.any(String),
    });
  });
});

describe('an alias', () => {
  it('replaces whole segments at the beginning of paths, also below a prefix', async () => {
    const aliased = await serveApi({
      api: 'prefixes = ["/api"]\naliases = { "/v2" = "/v3", "/latest" = "/v3" }',
      operations: operation('GET', '/v3/notes/{id}', 'single = true\nfilter = { id = "id" }'),
      notes: notesUpTo(1),
    });
    try {
      for (const path of ['/v3', '/v2', '/latest', '/api/v2']) {
        expect((await aliased.get(`${path}/notes/1`)).json).toMatchObject({ id: 1 });
      }
      for (const path of ['/v22/notes/1', '/notes/1', '/v2/v3/notes/1']) {
        expect((await aliased.get(path)).status).toBe(404);
      }
    } finally {
      await aliased.stop();
    }
  });

  it('is refused if a route already begins with it, if no route begins with its target, or if it is not a path', async () => {
    const operations = operation('GET', '/v3/notes') + operation('GET', '/v1/notes');
    for (const [aliases, message] of [
      [
        '"/v1" = "/v3"',
        'the path /v1/notes begins with the alias /v1, so no request would reach that route',
      ],
      ['"/v2" = "/v4"', 'no path of a route begins with /v4'],
      ['"v2" = "/v3"', 'a prefix of paths must begin with'],
    ]) {
      const served = serveApi({ api: `aliases = { ${aliases} }`, operations, notes: [] });
      await expect(served).rejects.toThrow(message);
    }
  });
});
