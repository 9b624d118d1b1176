/** Tests behaviour that all routes share, except access: errors, limits, health and the OpenAPI document. */

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { basicAuthorization } from '#wire/client.ts';
import { operationsOf } from '#wire/operation.ts';
import * as publicOperations from '#wire/public-api/operations.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});

afterAll(() => control.stop());

const operations = operationsOf(publicOperations);

describe('a request that cannot be served', () => {
  const authorization = () => basicAuthorization(control.publicKey, control.secretKey);
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

  it('gets 404 with a body for an unknown path', async () => {
    for (const method of ['GET', 'POST']) {
      const answer = await control.raw({ method, path: '/api/public/nothing?x=1' });
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({
        message: 'there is nothing at /api/public/nothing',
        error: 'not_found',
      });
    }
  });

  const bodies: [string, string][] = [
    ['broken JSON', '{"slug":'],
    ['no object', '[]'],
    ['nothing', ''],
    ['too many levels', `{"slug":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['a prototype', '{"__proto__":{"slug":"x"}}'],
  ];

  it.each(bodies)('gets 400 for a body of %s', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ message: expect.any(String), error: expect.anything() });
  });

  it('lists each field at fault', async () => {
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

  it('lists query parameters and headers at fault in the same form', async () => {
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

  it('gets 413 for a body that is too large, and 415 for a body that is not JSON', async () => {
    const large = await post(JSON.stringify({ slug: 'x'.repeat(2_000_000) }));
    expect(large.status).toBe(413);
    expect(large.body).toMatchObject({ error: 'invalid' });
    const text = await post('slug=x', { 'content-type': 'text/plain' });
    expect(text.status).toBe(415);
    expect(text.body).toMatchObject({ error: 'invalid' });
  });

  it('gets 400 for a text that PostgreSQL cannot store', async () => {
    const answer = await post(JSON.stringify({ slug: 'a\u0000b' }));
    expect(answer.status).toBe(400);
    const message = 'holds a zero byte (U+0000), which cannot be stored';
    expect(answer.body).toMatchObject({
      message: `invalid request: slug ${message}`,
      error: [{ path: ['slug'], message }],
    });
  });
});

describe('a wrong address', () => {
  const get = (path: string) =>
    control.raw({
      method: 'GET',
      path: `/api/public${path}`,
      headers: { authorization: basicAuthorization(control.publicKey, control.secretKey) },
    });

  it.each([
    ['a slug of 65 letters', `/worlds/${'a'.repeat(65)}`],
    ['one of 300', `/worlds/${'a'.repeat(300)}`],
    ['one of 10,000', `/worlds/${'a'.repeat(10_000)}`],
    ['a NUL', '/worlds/a%00b'],
    ['a session with a long id', `/world-sessions/${'s'.repeat(65)}/calls`],
  ])('gets 404 with the usual body of an error: %s', async (_, path) => {
    const { status, body } = await get(path);
    expect(status).toBe(404);
    expect(body).toEqual({ message: expect.stringMatching(/^there is/), error: 'not_found' });
    expect(JSON.stringify(body).length).toBeLessThan(700);
  });

  it.each(['/worlds/%zz', '/worlds/%ff', '/%'])('gets 400 if it is malformed: %s', async (path) => {
    const { status, headers, body } = await get(path);
    expect(status).toBe(400);
    expect(body).toEqual({
      message: expect.stringContaining('not a valid path'),
      error: 'invalid',
    });
    expect(headers['x-request-id']).toMatch(/^req-/);
  });

  it('is served if only a query parameter is unknown and the route is compatible with another service', async () => {
    const { status } = await get('/projects?page=1&color=red');
    expect(status).toBe(200);
  });

  it('gets 400 for an unknown query parameter, also on a route that has no query parameters', async () => {
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

describe('every path', () => {
  const keyPair = () => basicAuthorization(control.publicKey, control.secretKey);
  const at = (path: string) => `/api/public${path}`;

  it('accepts an id of 800 characters', async () => {
    const long = 'ü'.repeat(800);
    const headers = { authorization: keyPair() };
    const path = at(`/world-sessions/${encodeURIComponent(long)}`);
    const { status, body } = await control.raw({ method: 'GET', path, headers });
    expect(status).toBe(404);
    expect((body as { message: string }).message).toMatch(/^there is nothing by the name "ü/);
  });
});

describe('a compressed body', () => {
  const post = (bytes: Buffer, encoding: string, path = '/api/public/worlds/runtime') =>
    control.running.app.inject({
      method: 'POST',
      url: path,
      headers: {
        authorization: basicAuthorization(control.publicKey, control.secretKey),
        'content-type': 'application/json',
        'content-encoding': encoding,
      },
      payload: bytes,
    });
  const body = JSON.stringify({ command: 'templates', files: [] });

  it('is decompressed if it is gzip', async () => {
    const answer = await post(gzipSync(body), 'gzip');
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ status: 'ok' });
  });

  it('gets 413 if it would be too large, before it is inflated in full', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, ' '));
    const path = '/api/public/world-sessions';
    expect(bomb.byteLength).toBeLessThan(1024 * 1024);
    const before = process.memoryUsage().rss;
    const answer = await post(bomb, 'gzip', path);
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ error: 'invalid' });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it('gets 400 if it is not gzip, and 415 for other encodings', async () => {
    expect((await post(Buffer.from(body), 'gzip')).statusCode).toBe(400);
    expect((await post(gzipSync(body), 'br')).statusCode).toBe(415);
    expect((await post(gzipSync(body), 'gzip, gzip')).statusCode).toBe(415);
  });
});

describe('every create operation', () => {
  /**
   * Create operations that take no `Idempotency-Key`. A surface link can be used once, and its secret is not stored.
   * Connectors, builds, folders, files and media are identified by their content or path, so a repeat has no effect.
   * Task sets and file connectors have unique names. Prompts follow the Langfuse SDKs. `baseVersion` guards context
   * pushes.
   */
  const others = [
    'createFileConnector',
    'createFileConnectorOfEnvironment',
    'createFolder',
    'createFolderOfEnvironment',
    'createPrompt',
    'createSurfaceLink',
    'createTaskSet',
    'publishConnector',
    'pushContext',
    'registerBuild',
    'requestFileUpload',
    'requestFileUploadOfEnvironment',
    'requestMediaUpload',
  ];

  it('accepts an Idempotency-Key', () => {
    const creates = operations.filter(({ method, answers }) => method === 'POST' && 201 in answers);
    const without = creates.filter(
      ({ headers }) =>
        !('idempotency-key' in ((headers as { properties?: object })?.properties ?? {})),
    );
    expect(creates.length).toBeGreaterThan(12);
    expect(without.map(({ id }) => id).sort()).toEqual(others);
  });
});

describe('a query that runs too long', () => {
  it('gets 524 with the usual body of an error', async () => {
    const text = 'lock table audit_entries in access exclusive mode; select pg_sleep(120)';
    const held = control.sql(text).then(
      () => 'over',
      () => 'ended',
    );
    const holders = () =>
      control.sql<{ pid: number }>(
        `select pid from pg_locks where relation = 'audit_entries'::regclass
            and mode = 'AccessExclusiveLock' and granted`,
      );
    const [holder] = await until(
      async () => {
        const found = await holders();
        return found.length > 0 && found;
      },
      { timeoutMs: 30_000, what: 'the lock to be held' },
    );
    const answer = await control.raw({
      method: 'GET',
      path: '/api/public/organizations/audit-log',
      headers: { authorization: control.accountAuthorization },
    });
    expect(answer).toMatchObject({
      status: 524,
      body: { error: 'timeout', message: 'the database took too long to answer' },
    });
    await control.sql('select pg_terminate_backend($1)', [holder?.pid]);
    expect(await held).toBe('ended');
  }, 90_000);
});

describe('the health of the control plane', () => {
  it('is shown without a key', async () => {
    expect(await control.raw({ method: 'GET', path: '/health' })).toMatchObject({
      status: 200,
      body: { status: 'ok', version: expect.stringMatching(/^\d+\./) },
    });
    expect(await control.raw({ method: 'GET', path: '/api/public/health' })).toMatchObject({
      status: 200,
      headers: { 'access-control-allow-origin': '*' },
      body: { status: 'OK', version: expect.stringMatching(/^\d+\./) },
    });
    expect(await control.raw({ method: 'GET', path: '/ready' })).toMatchObject({
      status: 200,
      body: { status: 'ready', checks: { database: 'ok', blobs: 'ok', room: 'ok' } },
    });
  });

  it('may be requested without the checks of disks and blobs; every other check is always included', async () => {
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
  it('describes every operation with the schema of its route', async () => {
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

  it('is served to HEAD, OPTIONS and pages of other origins without a key', async () => {
    const path = '/api/public/openapi.json';
    expect((await control.raw({ method: 'HEAD', path })).status).toBe(200);
    const headers = { origin: 'https://app.example' };
    const asked = await control.raw({ method: 'OPTIONS', path, headers });
    expect(asked).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } });
    expect((await control.raw({ method: 'GET', path, headers })).headers).toMatchObject({
      'access-control-allow-origin': '*',
    });
  });

  it('has a request id like every answer: the id that the caller sent, or a new one', async () => {
    const ask = (headers: Record<string, string>) =>
      control.raw({ method: 'GET', path: '/health', headers });
    expect((await ask({ 'x-request-id': 'mine-1' })).headers['x-request-id']).toBe('mine-1');
    const own = /^req-/;
    expect((await ask({})).headers['x-request-id']).toMatch(own);
    expect((await ask({ 'x-request-id': 'two words' })).headers['x-request-id']).toMatch(own);
  });
});
