import { describe, expect, it } from 'vitest';
import type { ApiContract } from '#language/contract.ts';
import { Secret } from '#runtime/secret.ts';
import { sampleApi } from '#test/support/worlds/sample-world.ts';
import { createIds } from '../session/ids.ts';
import { createTokens, tokenLifetimeSeconds } from '../session/oauth-tokens.ts';
import { refusalOf } from './auth.ts';

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

const under = (auth: Partial<ApiContract['auth']>): ApiContract => ({
  ...sampleApi,
  auth: { scheme: 'bearer', name: null, tokenPath: null, scope: null, ...auth },
});

const openDoor = () => {
  const secret = new Secret('st-abc');
  let nowMs = 0;
  const clock = { now: () => new Date(nowMs) };
  return {
    token: secret,
    tokens: createTokens({ secret, clock, ids: createIds(null) }),
    pass(seconds: number) {
      nowMs += seconds * 1_000;
    },
  };
};

const accepts = (api: ApiContract, headers: Record<string, string>, query = ''): boolean =>
  refusalOf(openDoor(), api, { headers, query: new URLSearchParams(query) }) === undefined;

describe("the session's token", () => {
  const schemes: Partial<ApiContract['auth']>[] = [
    { scheme: 'bearer' },
    { scheme: 'basic' },
    { scheme: 'header', name: 'X-Api-Key' },
    { scheme: 'query', name: 'api_key' },
    { scheme: 'oauth2', tokenPath: '/oauth/token' },
    { scheme: 'none' },
  ];

  it('is accepted in every form of the Authorization header', () => {
    const headers = [
      'Bearer st-abc',
      'bearer st-abc',
      'token st-abc',
      'TOKEN  st-abc',
      'Token token=st-abc',
      'Token token="st-abc"',
      'Vendor-Key st-abc',
      'st-abc',
      basic('st-abc:'),
      basic('anyone:st-abc'),
      basic('st-abc:x-oauth-basic'),
      basic('st-abc'),
    ];
    for (const auth of schemes) {
      for (const authorization of headers) {
        expect([auth, authorization, accepts(under(auth), { authorization })]).toEqual([
          auth,
          authorization,
          true,
        ]);
      }
    }
  });

  it('is required under every scheme, even if the vendor requires nothing', () => {
    const wrong = ['', 'Bearer', 'Bearer st-ab', 'Bearer st-abc d', basic('a:b'), 'Basic ?'];
    for (const auth of schemes) {
      expect([auth, accepts(under(auth), {})]).toEqual([auth, false]);
      for (const authorization of wrong) {
        expect([auth, accepts(under(auth), { authorization })]).toEqual([auth, false]);
      }
    }
  });

  it('is accepted in the header that the scheme names, and in no other header', () => {
    const api = under({ scheme: 'header', name: 'X-Api-Key' });
    expect(accepts(api, { 'x-api-key': 'st-abc' })).toBe(true);
    expect(accepts(api, { 'x-api-key': 'st-abd' })).toBe(false);
    expect(accepts(under({ scheme: 'bearer' }), { 'x-api-key': 'st-abc' })).toBe(false);
    const own = under({ scheme: 'header', name: 'Authorization' });
    expect(accepts(own, { authorization: 'st-abc' })).toBe(true);
  });

  it('is accepted in the query parameter that the scheme names, and in no other parameter', () => {
    const api = under({ scheme: 'query', name: 'api_key' });
    expect(accepts(api, {}, 'api_key=st-abc')).toBe(true);
    expect(accepts(api, {}, 'api_key=other&api_key=st-abc')).toBe(true);
    expect(accepts(api, {}, 'api_key=other')).toBe(false);
    expect(accepts(api, {}, 'token=st-abc&access_token=st-abc')).toBe(false);
    for (const auth of schemes.filter(({ scheme }) => scheme !== 'query')) {
      expect([auth, accepts(under(auth), {}, 'api_key=st-abc&token=st-abc')]).toEqual([
        auth,
        false,
      ]);
    }
  });
});

describe('a minted bearer token', () => {
  const api = under({ scheme: 'oauth2', tokenPath: '/oauth/token', scope: 'read,write' });
  const query = new URLSearchParams();
  const refusalFor = (door: ReturnType<typeof openDoor>, token: string, at = api) =>
    refusalOf(door, at, { headers: { authorization: `Bearer ${token}` }, query });

  it('is accepted until it expires, and then refused as expired', () => {
    const door = openDoor();
    const token = door.tokens.mintAccess(['write', 'read']);
    expect(refusalFor(door, token)).toBeUndefined();
    door.pass(tokenLifetimeSeconds);
    expect(refusalFor(door, token)).toMatchObject({
      status: 401,
      body: sampleApi.unauthorized.body,
      headers: { 'www-authenticate': expect.stringMatching(/^Bearer error="invalid_token"/) },
      reason: 'the token has expired',
    });
  });

  it('is refused unless it has every scope that the connector requires', () => {
    const door = openDoor();
    expect(refusalFor(door, door.tokens.mintAccess(['read']))).toMatchObject({
      status: 403,
      body: sampleApi.unauthorized.body,
      headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="read write"' },
    });
  });

  it('is refused if it is unknown, a refresh token, or sent to a world with another scheme', () => {
    const door = openDoor();
    const invalid = {
      status: 401,
      headers: { 'www-authenticate': expect.stringMatching(/^Bearer error="invalid_token"/) },
    };
    expect(refusalFor(door, 'unknown')).toMatchObject(invalid);
    expect(refusalFor(door, door.tokens.mintRefresh(['read', 'write']))).toMatchObject(invalid);
    const minted = door.tokens.mintAccess([]);
    expect(refusalFor(door, minted, under({}))).toMatchObject({ status: 401, headers: {} });
  });

  it('is requested by a challenge without an error code if the request has no credential', () => {
    expect(refusalOf(openDoor(), api, { headers: {}, query })).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="api"' },
      reason: 'no token',
    });
  });

  it('is requested by a challenge that contains only characters allowed in a header', () => {
    const door = openDoor();
    const odd = under({ scheme: 'oauth2', tokenPath: '/t', scope: 'a"b\u00e9 c' });
    expect(refusalFor(door, door.tokens.mintAccess([]), odd)?.headers).toEqual({
      'www-authenticate': 'Bearer error="insufficient_scope", scope="ab c"',
    });
  });
});
