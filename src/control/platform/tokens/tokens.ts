/** Derives tokens from a secret and hashes keys; no token is stored. `http/server/auth.ts` authenticates callers. */
import { hash } from 'node:crypto';
import type { Secret } from '#runtime/secret.ts';

/** Credentials that a caller of a project showed: its key pair, or its public key alone. */
export type KeyLevel = 'secret' | 'public';

/** Returns the hash to store of a secret key. The key has 256 random bits, so a plain hash cannot be reversed. */
export const hashSecretKey = (secretKey: string): Buffer => hash('sha256', secretKey, 'buffer');

/** Returns the token that a host is launched with; a file of its pod may hold it. */
export const hostToken = (secret: Secret, hostId: string): string =>
  `${hostId}.${secret.derive(`host:${hostId}`)}`;

/** Returns the token that a host requests with its first report and keeps only in memory. */
export const workingToken = (secret: Secret, hostId: string): string =>
  `${hostId}.${secret.derive(`host at work:${hostId}`)}`;

/** Returns the token that DevTools of a session's browser require, derived from the session's own. */
export const browserToken = (session: Secret): string => `bt-${session.derive('browser')}`;

/** Returns the token that a session's API surface requires. */
export const sessionToken = (secret: Secret, sessionId: string): string =>
  `st-${secret.derive(`session:${sessionId}`)}`;
