import { expect, it } from 'vitest';
import { Secret } from '#runtime/secret.ts';
import { sampleApi } from '#test/support/sample-world.ts';
import { isAuthorized } from './auth.ts';

const token = new Secret('st-abc');
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const accepts = (authorization: string): boolean =>
  isAuthorized(sampleApi, token, { authorization });

it('takes the token in every way that the Authorization header carries one', () => {
  for (const header of [
    'Bearer st-abc',
    'bearer st-abc',
    'token st-abc',
    'TOKEN  st-abc',
    'st-abc',
    basic('st-abc:'),
    basic('anyone:st-abc'),
    basic('st-abc:x-oauth-basic'),
    basic('st-abc'),
  ]) {
    expect([header, accepts(header)]).toEqual([header, true]);
  }
});

it('refuses everything else', () => {
  for (const header of ['', 'Bearer', 'Bearer st-ab', 'Bearer st-abc d', basic('a:b'), 'Basic ?']) {
    expect([header, accepts(header)]).toEqual([header, false]);
  }
  expect(isAuthorized(sampleApi, token, {})).toBe(false);
});

it('takes the header that the vendor’s scheme names, and no other', () => {
  const api = {
    ...sampleApi,
    auth: { ...sampleApi.auth, scheme: 'header' as const, name: 'X-Api-Key' },
  };
  expect(isAuthorized(api, token, { 'x-api-key': 'st-abc' })).toBe(true);
  expect(isAuthorized(sampleApi, token, { 'x-api-key': 'st-abc' })).toBe(false);
});
