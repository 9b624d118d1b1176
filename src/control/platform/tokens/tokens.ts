/**
 * Tokens and what is kept of keys: each is derived from a secret, and no token is stored. Who shows one is
 * found out in `http/server/auth.ts`.
 */
import { hash } from 'node:crypto';
import type { Secret } from '#runtime/secret.ts';

/** What a caller of a project has shown: its key pair, or its public key alone. */
export type KeyLevel = 'secret' | 'public';

/** What is kept of a secret key. It is 256 random bits, so a plain hash cannot be reversed. */
export const hashSecretKey = (secretKey: string): Buffer => hash('sha256', secretKey, 'buffer');

/** The token that a host is launched with; a file of its pod may hold it. */
export const hostToken = (secret: Secret, hostId: string): string =>
  `${hostId}.${secret.derive(`host:${hostId}`)}`;

/** The token that a host asks for with its first report, and has in its memory alone. */
export const workingToken = (secret: Secret, hostId: string): string =>
  `${hostId}.${secret.derive(`host at work:${hostId}`)}`;

/** The token that DevTools of a session's browser ask for, made of the session's own. */
export const browserToken = (session: Secret): string => `bt-${session.derive('browser')}`;

/** The token that a session's API surface asks for. */
export const sessionToken = (secret: Secret, sessionId: string): string =>
  `st-${secret.derive(`session:${sessionId}`)}`;
