/** What every route of the public API shares: who may call it, and how it says no. */
import { createHash } from 'node:crypto';
import { METHODS, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as hostOperations from '#wire/host-api/operations.ts';
import type { OperationShape } from '#wire/operation.ts';
import * as poolOperations from '#wire/pool-api/operations.ts';
import * as publicOperations from '#wire/public-api/operations.ts';
import { startTestControl, type TestControl } from '../support/control.ts';
import { warmHost } from '../support/host.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let control: TestControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
});

afterAll(async () => {
  await control.stop();
  await database.drop();
});

/** The operations of a module, which may export schemas beside them. */
const operationsOf = (module: object): OperationShape[] =>
  Object.values(module).filter((value) => 'access' in value && 'answers' in value);

const operations = operationsOf(publicOperations);
const reads = operations.filter(({ access }) => access === 'read');
const writes = operations.filter(({ access }) => access === 'write');

const basic = (publicKey: string, secretKey: string) =>
  `Basic ${btoa(`${publicKey}:${secretKey}`)}`;

/** Sends an operation with parameters that lead nowhere. */
const send = (operation: OperationShape, authorization: string | undefined) =>
  control.raw({
    method: operation.method,
    path: `/api/public${operation.path.replace(/\{\w+\}/g, 'none')}`,
    headers: authorization === undefined ? {} : { authorization },
  });

describe.each(operations.map((operation) => [operation.id, operation] as const))(
  '%s without a valid key',
  (_, operation) => {
    const wrong: [string, () => string | undefined][] = [
      ['nothing', () => undefined],
      ['a wrong secret', () => basic(control.publicKey, 'sk-wrong')],
      ['no secret', () => basic(control.publicKey, '')],
      ['an unknown public key', () => basic('pk-none', control.secretKey)],
      ['an unknown bearer', () => 'Bearer pk-none'],
      ['the secret key as bearer', () => `Bearer ${control.secretKey}`],
      ['another scheme', () => `Digest ${control.publicKey}`],
      ['rubbish', () => 'Basic %%%'],
    ];

    it.each(wrong)('answers 401 to %s', async (_what, authorization) => {
      const answer = await send(operation, authorization());
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
      expect(answer.body).toEqual({ message: expect.any(String), error: 'unauthenticated' });
    });
  },
);

describe('the public key alone', () => {
  it.each(reads.map((operation) => [operation.id, operation] as const))(
    'may %s',
    async (_, operation) => {
      const { status } = await send(operation, `Bearer ${control.publicKey}`);
      expect([200, 404]).toContain(status);
    },
  );

  it.each(writes.map((operation) => [operation.id, operation] as const))(
    'may not %s',
    async (_, operation) => {
      const { status, body } = await send(operation, `Bearer ${control.publicKey}`);
      expect(status).toBe(403);
      expect(body).toEqual({ message: expect.any(String), error: 'forbidden' });
    },
  );
});

describe('other keys', () => {
  const addKey = async (publicKey: string, projectId: string | null): Promise<void> => {
    await control.sql(
      `insert into keys (id, organization_id, project_id, public_key, secret_hash)
       select $1, id, $2, $1, $3 from organizations`,
      [publicKey, projectId, createHash('sha256').update('sk-secret').digest()],
    );
  };

  it("answers 401 to an organization's key, in either form", async () => {
    await addKey('pk-organization', null);
    for (const authorization of [basic('pk-organization', 'sk-secret'), 'Bearer pk-organization']) {
      const answer = await send(publicOperations.listWorlds, authorization);
      expect(answer.status).toBe(401);
    }
  });

  it('answers 401 to a key that was revoked before it was used', async () => {
    const [project] = await control.sql<{ id: string }>('select id from projects');
    await addKey('pk-revoked', project?.id ?? null);
    await control.sql(`update keys set revoked_at = now() where public_key = 'pk-revoked'`);
    const answer = await send(publicOperations.listWorlds, basic('pk-revoked', 'sk-secret'));
    expect(answer.status).toBe(401);
  });

  it('keeps one project from what is of another', async () => {
    await control.sql(
      `insert into projects (id, organization_id, slug, name)
       select 'prj-other', id, 'other', 'other' from organizations`,
    );
    await addKey('pk-other', 'prj-other');
    const body = { slug: 'code-hosting', from: 'code-hosting' };
    await control.send(publicOperations.createWorld, { body });
    const opened = await control.send(publicOperations.openSession, {
      body: { slug: 'code-hosting' },
    });
    const authorization = basic('pk-other', 'sk-secret');
    const path = `/api/public/world-sessions/${opened.body.id}`;
    const get = (at: string) =>
      control.raw({ method: 'GET', path: at, headers: { authorization } });
    expect((await get(path)).status).toBe(404);
    expect((await get(`${path}/calls`)).status).toBe(404);
    expect((await get('/api/public/worlds/code-hosting')).status).toBe(404);
    expect((await get('/api/public/environments')).body).toMatchObject({ data: [] });
    const foreign = await control.raw({
      method: 'POST',
      path: '/api/public/world-sessions',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ versionId: opened.body.versionId }),
    });
    expect(foreign.status).toBe(404);
    const ended = await control.raw({ method: 'DELETE', path, headers: { authorization } });
    expect(ended.status).toBe(404);
  });

  it('never stores a secret key', async () => {
    const rows = await control.sql<{ text: string }>('select k::text as text from keys k');
    expect(rows.some(({ text }) => text.includes(control.secretKey))).toBe(false);
  });
});

describe('the APIs of hosts and orchestrators', () => {
  const inner = [
    ...operationsOf(hostOperations).map((operation) => ['/api/host', operation] as const),
    ...operationsOf(poolOperations).map((operation) => ['/api/pool', operation] as const),
  ];

  it.each(inner.map(([base, operation]) => [operation.id, base, operation] as const))(
    '%s takes no key of a project',
    async (_, base, operation) => {
      const path = `${base}${operation.path.replace(/\{\w+\}/g, 'none')}`;
      for (const authorization of [
        basic(control.publicKey, control.secretKey),
        `Bearer ${control.publicKey}`,
        'Bearer hst-none.none',
      ]) {
        const answer = await control.raw({
          method: operation.method,
          path,
          headers: { authorization },
        });
        expect(answer.status).toBe(401);
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm=/);
      }
    },
  );

  it('lets a host speak for itself alone', async () => {
    const [host, other] = [await warmHost(control), await warmHost(control)];
    await expect(
      host.send(hostOperations.heartbeat, {
        params: { hostId: other.id },
        body: { generation: 0, rssBytes: 1 },
      }),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('a request that cannot be served', () => {
  const authorization = () => basic(control.publicKey, control.secretKey);
  const post = (body: string, headers: Record<string, string> = {}) =>
    control.raw({
      method: 'POST',
      path: '/api/public/world-sessions',
      headers: {
        authorization: authorization(),
        'content-type': 'application/json',
        ...headers,
      },
      body,
    });

  it('is 404 with a body where there is no such path', async () => {
    for (const method of ['GET', 'POST']) {
      const answer = await control.raw({ method, path: '/api/public/nothing?x=1' });
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({
        message: 'there is nothing at /api/public/nothing',
        error: 'not_found',
      });
    }
  });

  it('is 405 with Allow for another method of a path, whatever its body', async () => {
    const answer = await control.raw({
      method: 'PUT',
      path: '/api/public/world-sessions/ses-1',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
    });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('DELETE, GET, PATCH');
    expect(answer.body).toEqual({ message: expect.any(String), error: 'method_not_allowed' });
    const traced = await control.raw({ method: 'TRACE', path: '/api/public/worlds' });
    expect([traced.status, traced.headers.allow]).toEqual([405, 'POST']);
  });

  it('is 405 at each address for whatever Node takes as a method', async () => {
    const paths = {
      public: '/api/public/worlds/some',
      host: '/api/host/hosts/some/warm',
      internal: '/ready',
    };
    const ask = (address: string, method: string) =>
      new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
        request(address, { method }, (response) => {
          response.resume();
          resolve([response.statusCode, response.headers.allow]);
        })
          .on('error', reject)
          .end();
      });
    for (const [listener, path] of Object.entries(paths)) {
      const allow = listener === 'host' ? 'POST' : 'GET';
      const [address = ''] = control.running.addresses[listener as keyof typeof paths];
      for (const method of METHODS.filter((one) => one !== 'CONNECT' && one !== allow)) {
        expect([method, ...(await ask(`${address}${path}`, method))]).toEqual([method, 405, allow]);
      }
      expect(await ask(`${address}/nothing`, 'QUERY')).toEqual([404, undefined]);
    }
  });

  const bodies: [string, string][] = [
    ['broken JSON', '{"slug":'],
    ['no object', '[]'],
    ['nothing', ''],
    ['too many levels', `{"slug":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['a prototype', '{"__proto__":{"slug":"x"}}'],
  ];

  it.each(bodies)('is 400 for a body of %s', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ message: expect.any(String), error: expect.anything() });
  });

  it('lists the fields at fault, one by one', async () => {
    const answer = await post(JSON.stringify({ slug: 1, extra: true, surfaces: ['door'] }));
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      message: expect.stringMatching(/^invalid request: /),
      error: expect.arrayContaining([
        { path: ['slug'], message: 'must be string' },
        { path: ['extra'], message: 'is not a known field' },
        { path: ['surfaces', '0'], message: 'must be one of api, ui, browser' },
      ]),
    });
  });

  it('lists query parameters and headers the same way', async () => {
    const long = 'k'.repeat(300);
    const answer = await control.raw({
      method: 'POST',
      path: '/api/public/world-sessions?wait=soon&later=1',
      headers: {
        authorization: authorization(),
        'content-type': 'application/json',
        'idempotency-key': long,
      },
      body: '{"slug":"x"}',
    });
    expect(answer.status).toBe(400);
    const { error } = answer.body as { error: { path: string[] }[] };
    expect(error.map(({ path }) => path[0]).sort()).toEqual(['idempotency-key', 'later', 'wait']);
  });

  it('is 413 for a body that is too large, and 415 for one that is not JSON', async () => {
    const large = await post(JSON.stringify({ slug: 'x'.repeat(2_000_000) }));
    expect(large.status).toBe(413);
    expect(large.body).toMatchObject({ error: 'invalid' });
    const text = await post('slug=x', { 'content-type': 'text/plain' });
    expect(text.status).toBe(415);
    expect(text.body).toMatchObject({ error: 'invalid' });
  });

  it('is 400 for a text that the database cannot keep', async () => {
    const answer = await post(JSON.stringify({ slug: 'a\u0000b' }));
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: 'invalid' });
  });
});

describe('an address that leads nowhere', () => {
  const get = (path: string) =>
    control.raw({
      method: 'GET',
      path: `/api/public${path}`,
      headers: { authorization: basic(control.publicKey, control.secretKey) },
    });

  it.each([
    ['a slug of 65 letters', `/worlds/${'a'.repeat(65)}`],
    ['one of 300', `/worlds/${'a'.repeat(300)}`],
    ['one of 10,000', `/worlds/${'a'.repeat(10_000)}`],
    ['a NUL', '/worlds/a%00b'],
    ['a session with a long id', `/world-sessions/${'s'.repeat(65)}/calls`],
  ])('is 404 in the one form of an error: %s', async (_, path) => {
    const { status, body } = await get(path);
    expect(status).toBe(404);
    expect(body).toEqual({ message: expect.stringMatching(/^there is/), error: 'not_found' });
    expect(JSON.stringify(body).length).toBeLessThan(700);
  });

  it.each(['/worlds/%zz', '/worlds/%ff', '/%'])(
    'is 400 when it is no address: %s',
    async (path) => {
      const { status, headers, body } = await get(path);
      expect(status).toBe(400);
      expect(body).toEqual({ message: expect.stringContaining('no path'), error: 'invalid' });
      expect(headers['x-request-id']).toMatch(/^req-/);
    },
  );

  it('is told that a parameter is not known also where there are none', async () => {
    const { status, body } = await get('/worlds/none?wait=1&color=red');
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: [
        { path: ['wait'], message: 'is not a known field' },
        { path: ['color'], message: 'is not a known field' },
      ],
    });
  });
});

describe('the health of the program', () => {
  it('is told without a key', async () => {
    expect(await control.raw({ method: 'GET', path: '/health' })).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
    expect(await control.raw({ method: 'GET', path: '/ready' })).toMatchObject({
      status: 200,
      body: { status: 'ready', checks: { database: 'ok', blobs: 'ok', room: 'ok' } },
    });
  });

  it('can be asked for without minding disks and blobs, and nothing else', async () => {
    const path = '/ready?exclude=room&exclude=running';
    expect(await control.raw({ method: 'GET', path })).toMatchObject({
      status: 400,
      body: {
        error: 'invalid',
        message: '"running" is no check of /ready that can be excluded: room, blobs are',
      },
    });
  });
});

describe('the OpenAPI document', () => {
  it('describes every operation, from the same schemas', async () => {
    const { body } = await control.raw({ method: 'GET', path: '/api/public/openapi.json' });
    const { openapi, servers, paths } = body as {
      openapi: string;
      servers: unknown;
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    expect(openapi).toBe('3.1.0');
    expect(servers).toEqual([{ url: 'https://svc.test/api/public' }]);
    const described = Object.values(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(described.sort()).toEqual(operations.map(({ id }) => id).sort());
    expect(paths['/world-sessions']?.post).toMatchObject({
      security: [{ keyPair: [] }],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { properties: { slug: { type: 'string' } } } },
        },
      },
    });
  });

  it('knows a request by the id that its caller gave it, or by one of its own', async () => {
    const ask = (headers: Record<string, string>) =>
      control.raw({ method: 'GET', path: '/health', headers });
    expect((await ask({ 'x-request-id': 'mine-1' })).headers['x-request-id']).toBe('mine-1');
    const own = /^req-/;
    expect((await ask({})).headers['x-request-id']).toMatch(own);
    expect((await ask({ 'x-request-id': 'two words' })).headers['x-request-id']).toMatch(own);
  });
});
