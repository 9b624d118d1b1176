/**
 * Derives tokens from a secret and hashes keys; no token is stored. Callers are authenticated in `http/server/auth.ts`.
 */
import { hash } from 'node:crypto';
import type { Secret } from '#runtime/secret.ts';

/** Credential that a caller of a project presented: the secret key, or the public key alone. */
export type KeyLevel = 'secret' | 'public';

/**
 * Returns the hash under which a secret key is stored. The key has 256 random bits, so a plain hash cannot be reversed.
 */
export const hashSecretKey = (secretKey: string): Buffer => hash('sha256', secretKey, 'buffer');

/** Returns the token with which a host is launched. It may be in a file of the host's pod. */
export const hostToken = (secret: Secret, hostId: string): string =>
  `${hostId}.${secret.derive(`host:${hostId}`)}`;

/** Returns the token that a host requests with its first report and keeps only in memory. */
export const workingToken = (secret: Secret, hostId: string): string =>
  `${hostId}.${secret.derive(`host at work:${hostId}`)}`;

/**
 * Returns the token that is required to use DevTools of a session's browser; it is derived from the session's token.
 */
export const browserToken = (session: Secret): string => `bt-${session.derive('browser')}`;

/** Returns the token that clients need for the API surface of a session. */
export const sessionToken = (secret: Secret, sessionId: string): string =>
  `st-${secret.derive(`session:${sessionId}`)}`;
