/** Digests of contents, as lists of files have them. */
import { createHash } from 'node:crypto';

/** Returns the SHA-256 of bytes as 64 hex digits. */
export const sha256Of = (content: Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');
