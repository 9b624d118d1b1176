/** Bytes that are named by what they hold. Writing the same bytes twice is writing them once. */
import { createHash } from 'node:crypto';
import type { Digest } from '#domain/world.ts';

export type Blobs = {
  /** Stores the bytes; when it resolves they are on disk under their digest. */
  put(bytes: Uint8Array): Promise<Digest>;
  /** The bytes of a digest; `not_found` when the store has none. */
  get(digest: Digest): Promise<Uint8Array>;
  /** How many bytes they are; `not_found` when the store has none. */
  size(digest: Digest): Promise<number>;
  /** Throws `unavailable` when the store could not be written to. */
  check(): Promise<void>;
  /** What is free where they are kept; absent in a store that does not end. */
  space?(): Promise<{ freeBytes: number; totalBytes: number }>;
};

/** The name of some bytes. */
export const digestOf = (bytes: Uint8Array | string): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
