import { expect, it } from 'vitest';
import { Secret } from '#runtime/secret.ts';
import { createIds } from './ids.ts';
import { createTokens, tokenLifetimeSeconds } from './oauth-tokens.ts';

const start = Date.parse('2026-03-01T00:00:00Z');

const tokensAt = (parts: { seed?: number; secret?: string } = {}) => {
  let nowMs = start;
  const ids = createIds(parts.seed ?? null);
  const secret = new Secret(parts.secret ?? 'st-abc');
  const tokens = createTokens({ secret, clock: { now: () => new Date(nowMs) }, ids });
  return {
    tokens,
    ids,
    pass(seconds: number) {
      nowMs += seconds * 1_000;
    },
  };
};

it('an access token is valid with its scopes until it expires', () => {
  const { tokens, pass } = tokensAt();
  const token = tokens.mintAccess(['read']);
  expect(tokens.findAccess(token)).toEqual({ scopes: ['read'], isExpired: false });
  pass(tokenLifetimeSeconds - 1);
  expect(tokens.findAccess(token)?.isExpired).toBe(false);
  pass(1);
  expect(tokens.findAccess(token)?.isExpired).toBe(true);
});

it('access and refresh tokens are not interchangeable, and both can be revoked', () => {
  const { tokens } = tokensAt();
  const access = tokens.mintAccess([]);
  const refresh = tokens.mintRefresh(['read']);
  expect(tokens.findRefresh(refresh)).toEqual(['read']);
  expect(tokens.findAccess(refresh)).toBeUndefined();
  expect(tokens.findRefresh(access)).toBeUndefined();
  tokens.clear();
  expect(tokens.findAccess(access)).toBeUndefined();
  expect(tokens.findRefresh(refresh)).toBeUndefined();
});

it('minted tokens are the same for the same seed, but only for the same session token', () => {
  const mint = (secret: string): string => tokensAt({ seed: 7, secret }).tokens.mintAccess([]);
  expect(mint('st-abc')).toBe(mint('st-abc'));
  expect(mint('st-abc')).not.toBe(mint('st-other'));
  const { tokens } = tokensAt();
  expect(tokens.mintAccess([])).not.toBe(tokens.mintAccess([]));
});

it('the oldest minted token is dropped when there are too many', () => {
  const { tokens } = tokensAt();
  const [first, second] = [tokens.mintAccess([]), tokens.mintAccess([])];
  for (let minted = 2; minted <= 10_000; minted += 1) tokens.mintAccess([]);
  expect(tokens.findAccess(first)).toBeUndefined();
  expect(tokens.findAccess(second)).toBeDefined();
});
