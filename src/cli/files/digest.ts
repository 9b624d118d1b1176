/** Names of contents, as lists of files have them. */
import { createHash } from 'node:crypto';

/** The SHA-256 of some bytes in 64 hex digits. */
export const sha256Of = (content: Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');
