/** Digests of file contents, in the form that lists of files have. */
import { createHash } from 'node:crypto';

/** Returns the SHA-256 of bytes as 64 hex digits. */
export const sha256Of = (content: Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');
