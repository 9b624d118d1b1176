/**
 * Attacks on one API through the listener of another. A client of one listener must not reach a path of another API,
 * even with a valid token and in any spelling of the path.
 */
import { request as openRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSurfaceTemplate } from '#domain/surface-address.ts';
import { Secret } from '#runtime/secret.ts';
import * as adminApi from '#wire/admin-api/operations.ts';
import { basicAuthorization } from '#wire/client.ts';
import * as gatewayApi from '#wire/gateway-api/operations.ts';
import * as hostApi from '#wire/host-api/operations.ts';
import { operationsOf } from '#wire/operation.ts';
import * as poolApi from '#wire/pool-api/operations.ts';
import * as publicApi from '#wire/public-api/operations.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let tokens: Record<string, string>;

beforeAll(async () => {
  const template = parseSurfaceTemplate('http://{session}--{surface}.worlds.test');
  if (template === undefined) throw new Error('no template');
  control = await startNotesControl({ gateway: { template, token: new Secret('gt') } });
  const host = await warmHost(control);
  tokens = {
    public: basicAuthorization(control.publicKey, control.secretKey),
    host: `Bearer ${host.token}`,
    pool: `Bearer ${control.config.poolToken.reveal()}`,
    gateway: 'Bearer gt',
    admin: `Bearer ${control.config.poolToken.reveal()}`,
  };
});
afterAll(() => control.stop());

const apis = {
  public: publicApi,
  host: hostApi,
  pool: poolApi,
  gateway: gatewayApi,
  admin: adminApi,
};
type ApiName = keyof typeof apis;

const listeners = ['public', 'host', 'internal'] as const;
type Listener = (typeof listeners)[number];

const homeOf = (api: ApiName): Listener => (api === 'public' || api === 'host' ? api : 'internal');

/** Sends a request with its path exactly as given; ordinary clients normalise it. */
const ask = (listener: Listener, method: string, path: string, authorization: string) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(control.running.addresses[listener][0] ?? '');
    const headers = { authorization, 'content-type': 'application/json' };
    openRequest({ hostname, port, method, path, headers }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode ?? 0, text });
    })
      .on('error', reject)
      .end();
  });

const addressesOf = (api: ApiName): [string, string][] =>
  operationsOf(apis[api]).map(({ method, path }) => [
    method,
    `/api/${api}${path.replace(/\{\w+\}/g, 'x')}`,
  ]);

const names = Object.keys(apis) as ApiName[];
const strange = listeners.flatMap((listener) =>
  names.filter((api) => homeOf(api) !== listener).map((api) => [api, listener] as const),
);

describe('the listeners of the control plane', () => {
  it.each(strange)('do not serve the %s API at the %s address', async (api, listener) => {
    for (const [method, path] of addressesOf(api)) {
      const answer = await ask(listener, method, path, tokens[api] ?? '');
      expect(answer.status, `${method} ${path}`).toBe(404);
      if (method !== 'HEAD') expect(answer.text).toContain('the API is served at another one');
      const other = await ask(listener, 'OPTIONS', path, tokens[api] ?? '');
      expect(other.status, `OPTIONS ${path}`).toBe(404);
    }
  });

  it.each(names)('serve the %s API at its own address', async (api) => {
    const [, path] = addressesOf(api).find(([method]) => method === 'GET') ?? ['', ''];
    const { status } = await ask(homeOf(api), 'GET', path, tokens[api] ?? '');
    expect(status).not.toBe(401);
    const stranger = await ask(homeOf(api), 'GET', path, 'Bearer unknown');
    expect(stranger.status).toBe(401);
  });

  const ways = [
    '//api/admin/hosts',
    '/./api/admin/hosts',
    '/api/host/../admin/hosts',
    '/api/public/../admin/hosts',
    '/api%2Fadmin%2Fhosts',
    '/%61pi/admin/hosts',
    '/api/%61dmin/hosts',
    '/API/ADMIN/HOSTS',
    '/api/admin/hosts/',
    '/api/admin/hosts;x=/api/host/',
    '/api/admin/hosts?x=/api/public/',
    '/api/admin\\hosts',
    '/api/public/%2e%2e/admin/hosts',
    '/api/host/hosts/%2e%2e%2f%2e%2e%2fadmin%2fhosts/warm',
    'http://127.0.0.1/api/admin/hosts',
    'http://127.0.0.1:4502/api/admin/hosts',
  ];

  it.each(ways)('do not serve another API by the path %s', async (path) => {
    for (const listener of ['public', 'host'] as const) {
      for (const method of ['GET', 'POST']) {
        const { status, text } = await ask(listener, method, path, tokens.admin ?? '');
        expect([400, 401, 404, 405], `${method} at ${listener}`).toContain(status);
        expect(text).not.toContain('"hosts":');
      }
    }
  });

  it('show hosts neither health, metrics nor status of the control plane', async () => {
    for (const path of [
      '/health',
      '/ready',
      '/metrics',
      '/status',
      '/',
      '/api/public/openapi.json',
    ]) {
      expect((await ask('host', 'GET', path, tokens.host ?? '')).status, path).toBe(404);
    }
    expect((await ask('public', 'GET', '/ready', '')).status).toBe(200);
    expect((await ask('internal', 'GET', '/ready', '')).status).toBe(200);
  });
});
