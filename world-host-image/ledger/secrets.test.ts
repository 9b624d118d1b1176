/**
 * Tests that no secret of a session is recorded in its ledger, whatever way the secret enters or leaves the session.
 */
import { afterEach, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { type ApiClient, notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

let world: ApiClient;
afterEach(() => world?.stop());

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const basic = (secret: string) => `Basic ${Buffer.from(`me:${secret}`).toString('base64')}`;

/** Returns the ledger as text, and checks that it contains none of the secrets. */
const expectNone = async (...secrets: (string | undefined)[]): Promise<string> => {
  const text = JSON.stringify(await world.requests());
  for (const secret of secrets) {
    expect(secret).toMatch(/./);
    expect(text.includes(secret ?? ''), secret).toBe(false);
  }
  return text;
};

const webhooks = `[webhooks]
subscriptions = "notes"
url = "title"
secret = "key"
signing = "hmac-sha256"
signature_header = "x-sign"
`;

const routes = [
  operation('GET', '/notes'),
  operation('GET', '/notes/{id}', 'filter = { id = "id" }\nsingle = true', { name: 'get_note' }),
  operation('POST', '/notes', 'action = "create"'),
  operation('PATCH', '/notes/{id}', 'action = "update"\nfilter = { id = "id" }\nsingle = true'),
  webhooks,
].join('\n');

it('the ledger never contains the session’s token, or tokens that clients got for it', async () => {
  const auth = 'scheme = "oauth2"\nsecret_env = "S"\nclient_id_env = "I"\nscope = "read write"';
  world = await serveApi({ operations: routes, auth });
  const minted = await world.ask('POST', '/oauth/token', {
    body: `grant_type=client_credentials&client_id=me&client_secret=${world.token}`,
    headers: form,
  });
  const { access_token: access, refresh_token: refresh } = minted.json as Record<string, string>;
  const headers = { authorization: basic(world.token), ...form };
  const again = `grant_type=refresh_token&refresh_token=${refresh}`;
  await world.ask('POST', '/oauth/token', { body: again, headers });
  await world.ask('POST', '/oauth/token', { body: again, headers: { 'content-type': 'text/x' } });
  const bearer = { authorization: `Bearer ${access}`, cookie: 'sid=c00kie' };
  await world.ask('POST', '/notes', { body: again, headers: { ...bearer, 'content-type': 'x/y' } });
  await world.ask('POST', '/notes', { body: `{"refresh_token": "${refresh}"`, headers: bearer });
  await world.ask('POST', '/notes', {
    body: { id: 1, title: `my ${world.token}`, owner: { login: 'x' } },
    headers: bearer,
  });
  await world.get(`/notes?access_token=${access}`, { 'x-auth-token': access ?? '' });
  const text = await expectNone(world.token, access, refresh, 'c00kie', basic(world.token));
  expect(text.includes('my ***')).toBe(true);
});

it('the ledger never contains minted bearer tokens, not even expired ones', async () => {
  const auth = 'scheme = "oauth2"\nsecret_env = "S"\nclient_id_env = "I"\nscope = "read write"';
  world = await serveApi({
    operations: routes,
    auth,
    tools: {
      list_notes: { input: { type: 'object' }, output: true },
      create_notes: { input: { type: 'object' }, output: true },
    },
  });
  const mint = async (): Promise<string[]> => {
    const body = `grant_type=client_credentials&client_secret=${world.token}`;
    const { json } = await world.ask('POST', '/oauth/token', { body, headers: form });
    const { access_token, refresh_token } = json as Record<string, string>;
    return [access_token ?? '', refresh_token ?? ''];
  };
  const forgotten = await mint();
  await world.reset();
  const secrets = [...forgotten, ...(await mint())];
  for (const [index, secret] of secrets.entries()) {
    const note = { id: index + 1, title: `keep ${secret}`, key: secret, tags: [secret] };
    await world.ask('POST', `/notes?title=${secret}`, {
      body: note,
      headers: { 'x-note': secret },
    });
    await world.ask('POST', '/notes', { body: { ...note, id: 9 } }); // refused for its key
    await world.ask('POST', '/notes', { body: `nothing that is read: ${secret}` });
    await world.get(`/notes/${secret}`);
    await world.get(`/none/x-${secret}`, { accept: `text/${secret}` });
    await world.call('tool', 'create_notes', { ...note, id: index + 5, key: `x${secret}` });
    await world.call('tool', secret, { [secret]: secret });
  }
  await world.get('/notes');
  await world.call('tool', 'list_notes', {});
  const text = await expectNone(...secrets);
  expect(text.match(/"keep \*\*\*"/g)?.length).toBeGreaterThanOrEqual(4 * secrets.length);
});

it.each([
  ['a header', 'scheme = "header"\nname = "X-Vend"\nsecret_env = "S"'],
  ['the query', 'scheme = "query"\nname = "vend"\nsecret_env = "S"'],
])('the ledger never contains a credential sent in %s, in any form', async (_, auth) => {
  world = await serveApi({ operations: routes, auth });
  await world.ask('GET', '/notes?vend=gu3ss&x=1', { headers: { 'x-vend': 'gu3ss' } });
  await world.ask('GET', `/notes?vend=${world.token}`, { headers: { 'x-vend': world.token } });
  await expectNone(world.token, auth.includes('query') ? 'vend=gu3ss' : '"x-vend":"gu3ss"');
  const [entry] = (await world.requests()) as { request: { headers: Row; query: Row } }[];
  if (auth.includes('query')) expect(entry?.request.query).toEqual({ vend: '***', x: '1' });
  else expect(entry?.request.headers['x-vend']).toBe('***');
});

it('the ledger never contains secrets of webhooks, whether the answers with them are short or long', async () => {
  const notes = notesUpTo(600, (id) => ({ key: `s1gned-${id}` }));
  world = await serveApi({
    operations: routes,
    notes,
    tools: {
      list_notes: { input: { type: 'object' }, output: true },
      get_note: { input: { type: 'object' }, output: true },
    },
  });
  await world.get('/notes');
  await world.ask('PATCH', '/notes/1', { body: { key: 's1gned-anew' } });
  await world.call('tool', 'list_notes', {});
  await world.call('tool', 'get_note', { id: 2 });
  const text = await expectNone('s1gned');
  expect(text.includes('\\"key\\":\\"***\\"')).toBe(true);
  expect(text.includes('"key":"***"')).toBe(true);
});

it('the ledger never contains a secret, not even percent-encoded', async () => {
  const auth = 'scheme = "oauth2"\nsecret_env = "S"\nclient_id_env = "I"';
  world = await serveApi({ operations: routes, auth });
  const body = `grant_type=client_credentials&client_secret=${world.token}`;
  const minted = await world.ask('POST', '/oauth/token', { body, headers: form });
  const { access_token: access = '' } = minted.json as Record<string, string>;
  const encode = (text: string): string =>
    [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
  const begin = (text: string): string => `${encode(text.slice(0, 4))}${text.slice(4)}`;
  for (const secret of [world.token, access]) {
    for (const spelled of [encode(secret), encode(secret).toUpperCase(), begin(secret)]) {
      const twice = spelled.replaceAll('%', '%25');
      await world.get(`/none/${spelled}/then?at=${twice}`, { referer: `https://a.test/${twice}` });
      await world.ask('POST', '/notes', { body: `at=${spelled}`, headers: { 'x-at': spelled } });
      await world.call('tool', `tool-${twice}`, { at: spelled });
    }
  }
  await world.get('/none/100%25');
  const decode = (text: string): string =>
    text.replaceAll(/%(?:25)*([\da-f]{2})/gi, (_, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  const text = decode(await expectNone(world.token, access));
  for (const secret of [world.token, access]) expect(text.includes(secret), secret).toBe(false);
  const paths = (await world.requests()).map(({ path }) => path);
  expect(paths).toContain('/none/***/then');
  expect(paths).toContain('/none/100%25');
});
