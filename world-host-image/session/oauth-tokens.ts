/**
 * The bearers that a session has minted for clients of a world with scheme `oauth2`. They expire by
 * the session's clock and end with the session, or when it is reset.
 *
 * A token is derived from the session's own token and an identifier of the session. So a seeded session
 * mints the same ones for the same requests, also after a reset, and yet nobody who knows the seed can
 * make one. They are looked up by their hashes: how long that takes says nothing about a token. All of a
 * session begin alike, by which those that it has forgotten are still known for what they are.
 */
import { hash } from 'node:crypto';
import type { Secret } from '#runtime/secret.ts';
import type { WorldClock } from './clock.ts';
import type { WorldIds } from './ids.ts';

/** How long an access token is good for, in seconds of the session's clock. */
export const tokenLifetimeSeconds = 3_600;

/** How many are kept of each kind; the oldest make room. */
const mostTokens = 10_000;

/** Long enough that nobody writes it by chance. */
const openingChars = 12;

/** What all tokens begin with that a session with this secret mints. It gives nothing away. */
export const openingOfTokens = (secret: Secret): string =>
  secret.derive('oauth opening').slice(0, openingChars);

export type Tokens = {
  /** A new access token. */
  mintAccess(scopes: readonly string[]): string;
  /** A new refresh token, which does not expire. */
  mintRefresh(scopes: readonly string[]): string;
  /** Undefined for a token that is not, or no longer, known. */
  findAccess(token: string): { scopes: readonly string[]; isExpired: boolean } | undefined;
  /** Forgets an access token, if it is known. */
  revokeAccess(token: string): void;
  /** The scopes that a refresh token was minted with; undefined for an unknown one. */
  findRefresh(token: string): readonly string[] | undefined;
  /** Forgets all tokens. */
  clear(): void;
};

export type TokenSource = {
  /** The session's token. */
  secret: Secret;
  clock: Pick<WorldClock, 'now'>;
  ids: Pick<WorldIds, 'uuid'>;
};

const hashOf = (token: string): string => hash('sha256', token);

const keep = <Value>(kept: Map<string, Value>, token: string, value: Value): void => {
  kept.set(hashOf(token), value);
  const [oldest] = kept.keys();
  if (kept.size > mostTokens && oldest !== undefined) kept.delete(oldest);
};

/** Tokens of one session; none yet. */
export const createTokens = ({ secret, clock, ids }: TokenSource): Tokens => {
  const access = new Map<string, { scopes: readonly string[]; expiresMs: number }>();
  const refresh = new Map<string, readonly string[]>();
  const opening = openingOfTokens(secret);
  const mint = (kind: string): string =>
    `${opening}${secret.derive(`oauth ${kind} ${ids.uuid()}`)}`;
  return {
    mintAccess(scopes) {
      const token = mint('access');
      const expiresMs = clock.now().getTime() + tokenLifetimeSeconds * 1_000;
      keep(access, token, { scopes, expiresMs });
      return token;
    },
    mintRefresh(scopes) {
      const token = mint('refresh');
      keep(refresh, token, scopes);
      return token;
    },
    findAccess(token) {
      const found = access.get(hashOf(token));
      if (found === undefined) return undefined;
      return { scopes: found.scopes, isExpired: clock.now().getTime() >= found.expiresMs };
    },
    revokeAccess: (token) => void access.delete(hashOf(token)),
    findRefresh: (token) => refresh.get(hashOf(token)),
    clear() {
      access.clear();
      refresh.clear();
    },
  };
};
