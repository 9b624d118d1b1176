/** `[api] prefixes`: the same API under a path of its own, too. */
import { afterAll, describe, expect, it } from 'vitest';
import { type ApiClient, notesUpTo, operation, serveApi } from '#test/support/api-world.ts';

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
  it('leads to the same routes, the longest first', async () => {
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

  it('stands in the addresses and links of what it answers, and in no row', async () => {
    const { json, headers } = await api.get('/api/v3/notes');
    expect(json).toMatchObject([{ key: `${api.url}/api/v3/notes/1` }]);
    expect(headers.get('link')).toContain(`<${api.url}/api/v3/notes?offset=1>; rel="next"`);
    expect((await api.get('/notes/1')).json).toMatchObject({ key: `${api.url}/notes/1` });
    expect(api.rows('notes', { id: 1 })).toMatchObject([{ key: 'https://notes.example/notes/1' }]);
  });

  it('is kept out of rows, too, when a client sends its address to the API without the prefix', async () => {
    const body = { id: 3, title: 'A', key: `${api.url}/api/v3/notes/3` };
    expect((await api.ask('POST', '/notes', { body })).json).toMatchObject({
      key: `${api.url}/notes/3`,
    });
    expect(api.rows('notes', { id: 3 })).toMatchObject([{ key: 'https://notes.example/notes/3' }]);
  });

  it('stands before the path of tokens as well', async () => {
    const body = { grant_type: 'client_credentials', client_secret: api.token };
    expect((await api.ask('POST', '/api/v3/login', { body })).json).toMatchObject({
      access_token: expect.any(String),
    });
  });
});
