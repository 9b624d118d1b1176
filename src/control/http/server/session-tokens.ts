/**
 * Checks session tokens. A token is derived from its session and stored nowhere. The check therefore reads the
 * session's facts, which never change, and caches them. It does not check whether the session is still open.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '#domain/error.ts';
import type { Queryable } from '../../db/core/database.ts';
import { findTokenOrigin, type TokenHolder } from '../../db/sessions/sessions.ts';
import type { SecretsInUse } from '../../platform/tokens/secrets-in-use.ts';
import { sessionToken } from '../../platform/tokens/tokens.ts';
import type { SessionCaller } from './endpoint.ts';

export type CheckSessionToken = (token: string, sessionId: string) => Promise<SessionCaller>;

const mostKept = 50_000;

/** Returns true for a text with the prefix of session tokens; keys of projects have another prefix. */
export const isSessionToken = (token: string): boolean => token.startsWith('st-');

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Creates the check. A missing session and the token of another session get the same error. */
export const createSessionTokenCheck = (
  db: Queryable,
  secrets: SecretsInUse,
): CheckSessionToken => {
  const known = new LRUCache<string, TokenHolder>({ max: mostKept });

  const find = async (sessionId: string): Promise<TokenHolder | undefined> => {
    const kept = known.get(sessionId);
    if (kept !== undefined) return kept;
    const found = await findTokenOrigin(db, sessionId);
    if (found !== undefined) known.set(sessionId, found);
    return found;
  };

  return async (token, sessionId) => {
    const holder = await find(sessionId);
    const secret = holder === undefined ? undefined : secrets.of(holder);
    const is =
      secret !== undefined && timingSafeEqual(hash(token), hash(sessionToken(secret, sessionId)));
    if (holder === undefined || !is) {
      throw new AppError(
        'unauthenticated',
        `the token does not belong to the session ${sessionId}`,
      );
    }
    return { projectId: holder.projectId, sessionId };
  };
};
