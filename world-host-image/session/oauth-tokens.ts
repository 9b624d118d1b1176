/**
 * Access and refresh tokens that a session has minted for clients of a world with scheme `oauth2`. Access tokens expire
 * by the session's clock. All tokens end with the session or at its reset.
 *
 * A token is derived from the session's own token and an identifier that the session draws. A seeded session therefore
 * mints the same tokens for the same requests, even after a reset. Knowing the seed is not enough to forge a token.
 * Tokens are looked up by hash, so the time of a lookup reveals nothing about them. All tokens of a session have the
 * same prefix, by which the ledger recognizes even tokens that the session has forgotten.
 */
import { hash } from 'node:crypto';
import type { Secret } from '#runtime/secret.ts';
import type { WorldClock } from './clock.ts';
import type { WorldIds } from './ids.ts';

/** Lifetime of an access token, in seconds of the session's clock. */
export const tokenLifetimeSeconds = 3_600;

/** Maximum number of tokens that are stored, of each kind. Beyond it, the oldest tokens are dropped. */
const mostTokens = 10_000;

/** Length of the prefix in characters; long enough that no other text contains the prefix by chance. */
const openingChars = 12;

/**
 * Returns the prefix of all tokens that a session with this secret mints. The prefix reveals nothing about the secret.
 */
export const openingOfTokens = (secret: Secret): string =>
  secret.derive('oauth opening').slice(0, openingChars);

export type Tokens = {
  /** Mints an access token. */
  mintAccess(scopes: readonly string[]): string;
  /** Mints a refresh token, which does not expire. */
  mintRefresh(scopes: readonly string[]): string;
  /**
   * Returns an access token's scopes and whether it has expired; undefined for a token that is unknown or was dropped.
   */
  findAccess(token: string): { scopes: readonly string[]; isExpired: boolean } | undefined;
  /** Revokes an access token. Does nothing if the token is unknown. */
  revokeAccess(token: string): void;
  /** Returns the scopes with which a refresh token was minted; undefined for an unknown token. */
  findRefresh(token: string): readonly string[] | undefined;
  /** Revokes all tokens. */
  clear(): void;
};

export type TokenSource = {
  /** Token of the session. */
  secret: Secret;
  clock: Pick<WorldClock, 'now'>;
  ids: Pick<WorldIds, 'uuid'>;
};

const hashOf = (token: string): string => hash('sha256', token);

const keep = <Value>(tokens: Map<string, Value>, token: string, value: Value): void => {
  tokens.set(hashOf(token), value);
  const [oldest] = tokens.keys();
  if (tokens.size > mostTokens && oldest !== undefined) tokens.delete(oldest);
};

/** Creates the token store of one session, empty. */
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
