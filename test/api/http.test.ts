/** What every route shares beside who may call it: how it says no, its health, and its description. */

import { METHODS, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import type { OperationShape } from '#wire/operation.ts';
import * as publicOperations from '#wire/public-api/operations.ts';
import { type OwnControl, startOwnControl } from '../support/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});

afterAll(() => control.stop());

/** The operations of a module, which may export schemas beside them. */
const operationsOf = (module: object): OperationShape[] =>
  Object.values(module).filter((value) => 'access' in value && 'answers' in value);

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

  it('is 405 at each address for every other method that Node accepts', async () => {
    const paths = {
      public: '/api/public/environments',
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
      headers: { authorization: basicAuthorization(control.publicKey, control.secretKey) },
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

  it('is 400 for an unknown query parameter, also on a route that has none', async () => {
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
  it('is shown without a key', async () => {
    expect(await control.raw({ method: 'GET', path: '/health' })).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
    expect(await control.raw({ method: 'GET', path: '/ready' })).toMatchObject({
      status: 200,
      body: { status: 'ready', checks: { database: 'ok', blobs: 'ok', room: 'ok' } },
    });
  });

  it('can leave out disks and blobs when asked to, and no other check', async () => {
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

  it('goes with a request id on every answer: that of the caller, or a new one', async () => {
    const ask = (headers: Record<string, string>) =>
      control.raw({ method: 'GET', path: '/health', headers });
    expect((await ask({ 'x-request-id': 'mine-1' })).headers['x-request-id']).toBe('mine-1');
    const own = /^req-/;
    expect((await ask({})).headers['x-request-id']).toMatch(own);
    expect((await ask({ 'x-request-id': 'two words' })).headers['x-request-id']).toMatch(own);
  });
});
