/**
 * Bytes that are named by what they hold. Writing the same bytes twice is writing them once. Every store
 * keeps them under the same names, so that what is in one can be copied into another file by file.
 */
import { createHash } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';

export type Blobs = {
  /** Where they are kept, for people: a folder, or a bucket and who serves it. */
  readonly location: string;
  /**
   * Whether it is a service that all replicas use: while it is away, none can do more than another, and
   * so it does not make a replica unready.
   */
  readonly isShared: boolean;
  /** Stores the bytes; when it resolves they are kept under their digest. */
  put(bytes: Uint8Array): Promise<Digest>;
  /** The bytes of a digest; `not_found` when the store has none, `internal` when it has others. */
  get(digest: Digest): Promise<Uint8Array>;
  /** How many bytes they are; `not_found` when the store has none. */
  size(digest: Digest): Promise<number>;
  /** Forgets a blob; one that is not there is as good as removed. */
  remove(digest: Digest): Promise<void>;
  /** Throws `unavailable` when the store cannot be used; whether it has room is not looked at. */
  check(): Promise<void>;
  /** Throws `unavailable` when nothing can be written any more; absent where others look at that. */
  checkRoom?(): Promise<void>;
  /** What is free where they are kept; absent in a store that does not end. */
  space?(): Promise<{ freeBytes: number; totalBytes: number }>;
};

/** Which store there is, and where. */
export type BlobStoreConfig =
  | { kind: 'folder'; folder: string }
  | { kind: 'database' }
  | ({ kind: 's3' } & S3Config);

/** A bucket, or the part of it under a prefix. Credentials are found by Amazon's client itself. */
export type S3Config = {
  bucket: string;
  /** Empty, or names with `/` between them, without one at either end. */
  prefix: string;
  region: string;
  /** Null: that of Amazon for the region. */
  endpoint: string | null;
  /** Whether the bucket is named in the path (`https://host/bucket/…`) and not in the host's name. */
  pathStyle: boolean;
};

/** The name of some bytes. */
export const digestOf = (bytes: Uint8Array | string): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** The path of a blob in a store: `<first two hex digits>/<the hex digest>`. */
export const pathOf = (digest: Digest): string => {
  const hex = digest.slice('sha256:'.length);
  return `${hex.slice(0, 2)}/${hex}`;
};

/** What `get` and `size` throw of a blob that a store does not have. */
export const missing = (digest: Digest, cause?: unknown): AppError =>
  new AppError('not_found', `there is no blob ${digest}`, { cause });

/** Whether what `get` or `size` threw says that the bytes are gone: there are none, or others. */
export const isLost = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'not_found' || error.code === 'internal');

/** The bytes that a store has under a digest, if they are those that were put there. */
export const checkBytes = (location: string, digest: Digest, bytes: Uint8Array): Uint8Array => {
  if (digestOf(bytes) === digest) return bytes;
  throw new AppError(
    'internal',
    `blob ${digest} in ${location} is damaged: bring ${pathOf(digest)} back from a copy`,
  );
};
