/**
 * Cross-site request forgery: the browser of a person who entered a key pair adds these credentials
 * to a form, or to a request without a body, sent by any page. Every route that writes is tried.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { operationsOf } from '#wire/operation.ts';
import * as publicApi from '#wire/public-api/operations.ts';
import { isForPages } from '../../../src/control/http/server/methods.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl({ publicUrl: 'https://svc.example' });
});
afterAll(() => control.stop());

const writes = operationsOf(publicApi).filter(({ method }) => method !== 'GET');
const addressOf = (path: string): string => `/api/public${path.replace(/\{\w+\}/g, 'x')}`;

const host = 'svc.example';
/** Headers that browsers send for a page of another origin. */
const strangers: Record<string, Record<string, string>> = {
  'another site': { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' },
  'another name of the same site': {
    origin: 'https://x.svc.example',
    'sec-fetch-site': 'same-site',
  },
  'another site, without its name': { 'sec-fetch-site': 'cross-site' },
  'another site, in a browser without Sec-Fetch-Site': { origin: 'https://evil.test' },
  'another port, in a browser without Sec-Fetch-Site': { origin: 'https://svc.example:8443' },
  'no origin': { origin: 'null' },
};

/** Callers that are allowed: pages of the service itself, and programs. */
const own: Record<string, Record<string, string>> = {
  'a page of the service': { origin: 'https://svc.example', 'sec-fetch-site': 'same-origin' },
  'a page of the service, behind a proxy that names another host': {
    ...{ host: '10.0.0.7:8080', origin: 'https://svc.example' },
  },
  'a person, without a page': { 'sec-fetch-site': 'none' },
  'a program': {},
  "a program by Node's fetch": { 'sec-fetch-mode': 'cors' },
};

const ask = (method: string, path: string, headers: Record<string, string>, body?: string) =>
  control.raw({
    method,
    path,
    headers: {
      host,
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });

const refusal = { error: 'forbidden', message: expect.stringContaining('SVC_ALLOWED_ORIGINS') };

describe.each(Object.entries(strangers))('a request of %s', (_, headers) => {
  it.each(
    writes
      .filter(({ access }) => !isForPages(access))
      .map((operation) => [operation.id, operation]),
  )('cannot call %s', async (_id, { method, path }) => {
    const { status, body } = await ask(method, addressOf(path), headers);
    expect([status, body]).toEqual([403, refusal]);
  });

  it.each(
    writes.filter(({ access }) => access === 'send').map((operation) => [operation.id, operation]),
  )(
    'can call %s only with a JSON body, which a browser sends only after a preflight',
    async (_id, { method, path }) => {
      const address = addressOf(path);
      const plain = { ...headers, 'content-type': 'text/plain' };
      const sent = [await ask(method, address, headers), await ask(method, address, plain, '{}')];
      expect(sent.map(({ status }) => status)).toEqual([400, 415]);
      const bearer = { ...headers, authorization: `Bearer ${control.publicKey}` };
      const json = { ...bearer, 'content-type': 'application/json' };
      expect((await ask(method, address, json, '[]')).status).toBe(400);
    },
  );
});

it.each(Object.entries(own))('a request of %s is accepted', async (_, headers) => {
  const { status } = await ask('DELETE', '/api/public/worlds/none', headers);
  expect(status).toBe(404);
});
