/** Tests the answers of a path to every HTTP method: to the methods that the path has, and to all others. */
import { METHODS, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessRules, type PublicAccess } from '#wire/access.ts';
import { basicAuthorization } from '#wire/client.ts';
import { operationsOf } from '#wire/operation.ts';
import * as publicOperations from '#wire/public-api/operations.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});

afterAll(() => control.stop());

describe('every path', () => {
  const operations = operationsOf(publicOperations);
  const keyPair = () => basicAuthorization(control.publicKey, control.secretKey);
  const at = (path: string) => `/api/public${path}`;

  it('answers HEAD like GET, without the body', async () => {
    const headers = { authorization: keyPair() };
    const get = await control.raw({ method: 'GET', path: at('/environments'), headers });
    const head = await control.raw({ method: 'HEAD', path: at('/environments'), headers });
    expect([head.status, head.headers['content-type']]).toEqual([200, get.headers['content-type']]);
    const anonymous = await control.raw({ method: 'HEAD', path: at('/environments') });
    expect(anonymous.status).toBe(401);
    const [address = ''] = control.running.addresses.public;
    const sent = await fetch(`${address}${at('/environments')}`, { method: 'HEAD', headers });
    expect([sent.status, await sent.text()]).toEqual([200, '']);
    expect(Number(sent.headers.get('content-length'))).toBe(JSON.stringify(get.body).length);
  });

  it('answers OPTIONS with its methods, and with CORS headers where a public key is accepted', async () => {
    const origin = 'https://app.example';
    for (const operation of operations) {
      const path = at(operation.path.replace(/\{\w+\}/g, 'none'));
      const { status, headers } = await control.raw({
        method: 'OPTIONS',
        path,
        headers: { origin },
      });
      expect([operation.id, status]).toEqual([operation.id, 204]);
      expect(String(headers.allow).split(', ')).toEqual(
        expect.arrayContaining([operation.method, 'OPTIONS']),
      );
      const forPages = String(headers['access-control-allow-methods'] ?? '').split(', ');
      const takesPublicKey = accessRules[operation.access as PublicAccess].publicKey === 'taken';
      expect([operation.id, forPages.includes(operation.method)]).toEqual([
        operation.id,
        takesPublicKey,
      ]);
    }
  });

  it('allows SDKs in browsers to send their own headers', async () => {
    const { status, headers } = await control.raw({
      method: 'OPTIONS',
      path: at('/ingestion'),
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-langfuse-sdk-name',
      },
    });
    expect(status).toBe(204);
    // In a browser, the wildcard allows any header except `Authorization`.
    const allowed = String(headers['access-control-allow-headers']).toLowerCase().split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['authorization', '*']));
  });

  it('lets pages of other origins read answers and errors only where a public key is accepted', async () => {
    const ask = async (method: string, path: string, authorization?: string) => {
      const headers = {
        origin: 'https://app.example',
        ...(authorization ? { authorization } : {}),
      };
      return (await control.raw({ method, path: at(path), headers })).headers[
        'access-control-allow-origin'
      ];
    };
    expect(await ask('GET', '/environments', `Bearer ${control.publicKey}`)).toBe('*');
    expect(await ask('GET', '/environments')).toBe('*');
    expect(await ask('GET', '/project/settings', keyPair())).toBeUndefined();
    expect(await ask('POST', '/worlds', keyPair())).toBeUndefined();
  });
});

describe('a method that a path does not have', () => {
  it('gets 405 with Allow, whatever the body', async () => {
    const answer = await control.raw({
      method: 'PUT',
      path: '/api/public/world-sessions/ses-1',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
    });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('DELETE, GET, HEAD, OPTIONS, PATCH');
    expect(answer.body).toEqual({ message: expect.any(String), error: 'method_not_allowed' });
    const traced = await control.raw({ method: 'TRACE', path: '/api/public/worlds' });
    expect([traced.status, traced.headers.allow]).toEqual([405, 'OPTIONS, POST']);
  });

  it('gets 405 on a fixed path, although another path with an argument has the method', async () => {
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      const { status, headers } = await control.raw({ method, path: '/api/public/worlds/runtime' });
      expect([method, status, headers.allow]).toEqual([method, 405, 'OPTIONS, POST']);
    }
  });

  it('gets 405 on each listener, for every other method that Node accepts', async () => {
    const paths = {
      public: '/api/public/environments',
      host: '/api/host/hosts/some/warm',
      internal: '/ready',
    };
    const allowed = { public: 'GET, HEAD, OPTIONS', host: 'POST', internal: 'GET' };
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
      const allow = allowed[listener as keyof typeof paths];
      const [address = ''] = control.running.addresses[listener as keyof typeof paths];
      for (const method of METHODS.filter(
        (one) => one !== 'CONNECT' && !allow.split(', ').includes(one),
      )) {
        expect([method, ...(await ask(`${address}${path}`, method))]).toEqual([method, 405, allow]);
      }
      expect(await ask(`${address}/nothing`, 'QUERY')).toEqual([404, undefined]);
    }
  });
});
