/**
 * Worlds with each credential scheme, over HTTP: what clients send and receive. A client library from the registry,
 * `oauth4webapi`, checks the token path of `oauth2`.
 */
import * as oauth from 'oauth4webapi';
import { afterEach, describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, type ServeOptions, serveWorld } from '#test/support/host/serve-world.ts';
import { textFile } from '#test/support/worlds/small-world.ts';
import { notesWorld } from '#test/support/worlds/worlds.ts';

const handlersPy = `def echo(ctx):
    return {"headers": dict(ctx.headers), "args": dict(ctx.args)}
`;

/** Returns the notes world with the given `[auth]`; `api_key` is also a parameter of a route. */
const tree = (auth: string): TreeFile[] => [
  ...notesWorld(),
  textFile('api/handlers.py', handlersPy),
  textFile(
    'connector.toml',
    `
[connector]
slug = "notes"
base_url = "https://api.notes.example"

[auth]
${auth}

[api]
unauthorized = '{"problem":"who are you?"}'

[[operations]]
name = "list_notes"
path = "/notes"
entity = "notes"

[[operations]]
name = "add_note"
method = "POST"
path = "/notes"
entity = "notes"
[operations.api]
action = "create"

[[operations]]
name = "echo"
path = "/echo"
params = ["api_key", "about"]
[operations.api]
action = "handler"
handler = "echo"
`,
  ),
];

const oauthScheme = `
scheme = "oauth2"
secret_env = "NOTES_SECRET"
client_id_env = "NOTES_ID"
token_url = "https://login.notes.example/oauth/access-token"
scope = "read, write"
`;

let world: ServedWorld;

const open = async (auth: string, options?: ServeOptions): Promise<void> => {
  world = await serveWorld(tree(auth), options);
};

afterEach(() => world?.stop());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const basic = (text: string) => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
const jsonOf = (answer: Response): Promise<any> => answer.json();

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${world.url}${path}`, { headers });

const ledger = async (): Promise<Row[]> => {
  const { output } = await world.call('state', undefined, { entity: 'svc_requests' });
  return (output as { rows: Row[] }).rows;
};

const post = async (
  parameters: Record<string, string> | string,
  headers: Record<string, string> = {},
) => {
  const body = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters);
  const answer = await fetch(`${world.url}/oauth/access-token`, { method: 'POST', headers, body });
  return { status: answer.status, headers: answer.headers, body: await jsonOf(answer) };
};

const own = (more: Record<string, string> = {}) => ({
  grant_type: 'client_credentials',
  client_id: 'any',
  client_secret: world.token,
  ...more,
});

describe('the client library oauth4webapi', () => {
  const client: oauth.Client = { client_id: 'an agent: 1' };
  const plain = { [oauth.allowInsecureRequests]: true };
  const server = (): oauth.AuthorizationServer => ({
    issuer: world.url,
    token_endpoint: `${world.url}/oauth/access-token`,
  });

  const ask = async (how: oauth.ClientAuth, parameters: Record<string, string> = {}) => {
    const answer = await oauth.clientCredentialsGrantRequest(
      server(),
      client,
      how,
      parameters,
      plain,
    );
    return oauth.processClientCredentialsResponse(server(), client, answer);
  };

  const request = (token: string, method = 'GET', body?: object) =>
    oauth.protectedResourceRequest(
      token,
      method,
      new URL(`${world.url}/notes`),
      new Headers({ 'content-type': 'application/json' }),
      body === undefined ? null : JSON.stringify(body),
      plain,
    );

  it('gets a token with credentials in the header or the body, uses the token and refreshes it', async () => {
    await open(oauthScheme);
    for (const how of [oauth.ClientSecretBasic, oauth.ClientSecretPost]) {
      const granted = await ask(how(world.token), { scope: 'write read' });
      expect(granted).toMatchObject({
        token_type: 'bearer',
        expires_in: 3_600,
        scope: 'write read',
      });
      expect(await (await request(granted.access_token)).json()).toHaveLength(1);
      const answer = await oauth.refreshTokenGrantRequest(
        server(),
        client,
        how(world.token),
        granted.refresh_token ?? '',
        plain,
      );
      const renewed = await oauth.processRefreshTokenResponse(server(), client, answer);
      expect(renewed.access_token).not.toBe(granted.access_token);
      expect(renewed.refresh_token).toBe(granted.refresh_token);
      expect((await request(renewed.access_token)).status).toBe(200);
    }
    const { access_token } = await ask(oauth.ClientSecretPost(world.token));
    const note = { id: 2, folder_id: 1, title: 'second', done: false };
    expect((await request(access_token, 'POST', note)).status).toBe(201);
    expect(world.rows('notes', { id: 2 })).toEqual([note]);
  });

  it('gets an error that it understands', async () => {
    await open(oauthScheme);
    await expect(ask(oauth.ClientSecretBasic('wrong'))).rejects.toMatchObject({
      cause: [{ scheme: 'basic', parameters: { realm: 'token' } }],
    });
    await expect(ask(oauth.ClientSecretPost(world.token), { scope: 'admin' })).rejects.toThrow(
      expect.objectContaining({ error: 'invalid_scope', status: 400 }),
    );
    await expect(request('unknown')).rejects.toMatchObject({
      status: 401,
      cause: [{ scheme: 'bearer', parameters: { error: 'invalid_token' } }],
    });
    const { access_token, scope } = await ask(oauth.ClientSecretPost(world.token), {
      scope: 'read',
    });
    expect(scope).toBe('read');
    await expect(request(access_token)).rejects.toMatchObject({
      status: 403,
      cause: [{ scheme: 'bearer', parameters: { error: 'insufficient_scope' } }],
    });
  });
});

describe('the token path', () => {
  it('answers forms and JSON as RFC 6749 requires, and forbids caching the answer', async () => {
    await open(oauthScheme);
    const asForm = await post(own());
    expect(asForm.body).toEqual({
      access_token: expect.stringMatching(/^[\w-]{40,}$/),
      token_type: 'Bearer',
      expires_in: 3_600,
      refresh_token: expect.stringMatching(/^[\w-]{40,}$/),
      scope: 'read write',
    });
    expect(asForm.headers.get('cache-control')).toBe('no-store');
    const asJson = await post(JSON.stringify(own({ scope: 'write,read' })), {
      'content-type': 'application/json',
      ...bearer('what a client always sends'),
    });
    expect(asJson).toMatchObject({ status: 200, body: { scope: 'write read' } });
    expect((await get('/notes', bearer(world.token))).status).toBe(200);
  });

  it('refuses grants that it does not support', async () => {
    await open(oauthScheme);
    const { refresh_token: token } = (await post(own({ scope: 'read' }))).body;
    const refresh = { grant_type: 'refresh_token', refresh_token: token };
    const cases: [number, string, Record<string, string>, Record<string, string>?][] = [
      [401, 'invalid_client', own({ client_secret: 'wrong' })],
      [401, 'invalid_client', { grant_type: 'client_credentials', client_id: 'any' }],
      [401, 'invalid_client', { grant_type: 'client_credentials' }, basic(`${world.token}:x`)],
      [401, 'invalid_client', { grant_type: 'client_credentials' }, bearer(world.token)],
      [401, 'invalid_client', own({ client_secret: '', code: 'x' })],
      [400, 'invalid_request', own(), basic(`any:${world.token}`)],
      [400, 'invalid_request', own({ grant_type: '' })],
      [400, 'invalid_request', own({ grant_type: 'refresh_token' })],
      [400, 'invalid_grant', own({ grant_type: 'refresh_token', refresh_token: 'unknown' })],
      [400, 'invalid_scope', own({ scope: 'read admin' })],
      [400, 'invalid_scope', own({ ...refresh, scope: 'read write' })],
      [400, 'unsupported_grant_type', own({ grant_type: 'authorization_code', code: 'x' })],
      [400, 'unsupported_grant_type', own({ grant_type: 'password' })],
    ];
    for (const [status, error, parameters, headers] of cases) {
      const answer = await post(parameters, headers);
      expect([parameters, answer.status, answer.body.error]).toEqual([parameters, status, error]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('www-authenticate')).toBe(
        status === 401 ? 'Basic realm="token"' : null,
      );
    }
    const long = await post(own({ scope: 'x'.repeat(1024 * 1024) }));
    expect(long).toMatchObject({ status: 413, body: { error: 'invalid_request' } });
    const got = await get('/oauth/access-token', bearer(world.token));
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'OPTIONS, POST']);
  });

  it.each([
    ['/token', '/token/', 200, 'oauth2.token'],
    ['/token/', '/token', 200, 'oauth2.token'],
    ['/token/', '/token/', 200, 'oauth2.token'],
    ['/token', '/token//', 401, null],
  ])('answers %s at %s with %i', async (tokenPath, path, status, operation) => {
    await open(oauthScheme.replace('/oauth/access-token', tokenPath));
    const body = new URLSearchParams(own());
    expect((await fetch(world.url + path, { method: 'POST', body })).status).toBe(status);
    expect(await ledger()).toMatchObject([{ status, operation, path }]);
  });

  it('is recorded in the ledger without secrets', async () => {
    await open(oauthScheme);
    const { body } = await post(own({ client_id: `own ${world.token}`, assertion: 'private' }));
    await post({ ...own(), grant_type: 'refresh_token', refresh_token: body.refresh_token });
    await post({ grant_type: 'client_credentials' }, basic(`any:${world.token}`));
    await post('{"client_secret": "st-te', { 'content-type': 'application/json' });
    await get('/notes', bearer(body.access_token));
    const entries = await ledger();
    expect(entries.map(({ path, status }) => [path, status])).toEqual([
      ['/oauth/access-token', 200],
      ['/oauth/access-token', 200],
      ['/oauth/access-token', 200],
      ['/oauth/access-token', 400],
      ['/notes', 200],
    ]);
    expect(new Set(entries.map(({ operation }) => operation))).toEqual(
      new Set(['oauth2.token', 'list_notes']),
    );
    expect(entries[0]?.request).toMatchObject({
      body: {
        grant_type: 'client_credentials',
        client_id: '***',
        client_secret: '***',
        assertion: '***',
      },
    });
    expect(entries[0]?.response).toMatchObject({
      body: { access_token: '***', expires_in: 3_600 },
    });
    const text = JSON.stringify(entries);
    for (const secret of [world.token, 'private', 'st-te', body.access_token, body.refresh_token]) {
      expect(text).not.toContain(secret);
    }
  });

  it('mints tokens that expire by the session’s clock', async () => {
    await open(oauthScheme, {
      clock: { at: '2026-03-01T00:00:00Z', mode: 'stepped', rate: 1_800 },
    });
    const { access_token: token, refresh_token } = (await post(own())).body;
    expect((await get('/notes', bearer(token))).status).toBe(200);
    expect((await get('/notes', bearer(token))).status).toBe(200);
    const expired = await get('/notes', bearer(token));
    expect(expired.status).toBe(401);
    expect(await expired.json()).toEqual({ problem: 'who are you?' });
    expect(expired.headers.get('www-authenticate')).toContain('error="invalid_token"');
    const renewed = (await post(own({ grant_type: 'refresh_token', refresh_token }))).body;
    expect((await get('/notes', bearer(renewed.access_token))).status).toBe(200);
  });

  it('forgets its tokens on a reset, and with a seed mints the same tokens again', async () => {
    await open(oauthScheme, { seed: 7 });
    const mint = async () => {
      const first = (await post(own())).body;
      const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
      return [first, (await post(own(refresh))).body];
    };
    const before = await mint();
    await world.reset();
    expect((await get('/notes', bearer(before[0].access_token))).status).toBe(401);
    expect((await post(own({ ...before[0], grant_type: 'refresh_token' }))).body.error).toBe(
      'invalid_grant',
    );
    expect(await mint()).toEqual(before);
  });

  it('answers without scopes if the connector has none', async () => {
    await open(oauthScheme.replace('scope = "read, write"', ''));
    const { body } = await post(own());
    expect(body).not.toHaveProperty('scope');
    expect((await get('/notes', bearer(body.access_token))).status).toBe(200);
    expect((await post(own({ scope: 'read' }))).body.error).toBe('invalid_scope');
  });
});

describe('a credential of the vendor', () => {
  it('is accepted in the query, and is hidden from user code and the ledger', async () => {
    await open('scheme = "query"\nname = "api_key"\nsecret_env = "NOTES_KEY"');
    const answer = await get(`/echo?about=x&api_key=${world.token}`);
    expect(answer.status).toBe(200);
    expect((await jsonOf(answer)).args).toEqual({ about: 'x' });
    expect((await get('/notes?api_key=wrong')).status).toBe(401);
    expect((await get(`/notes?token=${world.token}`)).status).toBe(401);
    expect((await get(`/${world.token}?x=${world.token}`, bearer(world.token))).status).toBe(404);
    const entries = await ledger();
    expect(entries.map(({ path, request }) => [path, (request as Row).query])).toEqual([
      ['/echo', { about: 'x', api_key: '***' }],
      ['/notes', { api_key: '***' }],
      ['/notes', { token: '***' }],
      ['/***', { x: '***' }],
    ]);
    expect(JSON.stringify(entries)).not.toContain(world.token);
  });

  it('is also accepted in the header that the scheme names', async () => {
    await open('scheme = "header"\nname = "X-Notes"\nsecret_env = "NOTES_KEY"');
    const answer = await get('/echo', { 'x-notes': world.token, 'x-other': 'kept', cookie: 'a=b' });
    const { headers } = await jsonOf(answer);
    expect(headers).toMatchObject({ 'x-other': 'kept' });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-notes', 'cookie']));
    expect((await get('/notes', { 'x-notes': 'wrong one' })).status).toBe(401);
    const text = JSON.stringify(await ledger());
    expect(text).not.toContain('wrong one');
    expect(text).not.toContain(world.token);
  });

  it('must be the session’s token if the connector has the scheme “none”', async () => {
    await open('scheme = "none"');
    expect((await get('/notes')).status).toBe(401);
    expect((await get('/notes', bearer(world.token))).status).toBe(200);
    expect((await get('/notes', basic(`session:${world.token}`))).status).toBe(200);
  });
});
