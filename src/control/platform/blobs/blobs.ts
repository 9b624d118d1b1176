/**
 * Bytes that are named by what they hold. Writing the same bytes twice is writing them once. Every store
 * keeps them under the same names, so that what is in one can be copied into another file by file.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, type Readable, Transform } from 'node:stream';
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
  /** Stores what a file holds, without having it in memory; when it resolves it is kept under its digest. */
  putFile(path: string): Promise<Digest>;
  /**
   * The bytes of a digest as they are read; `not_found` when the store has none. A stream of others than were put
   * fails with `internal` at its end, so what was read counts only when it has ended well.
   */
  read(digest: Digest): Promise<Readable>;
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
  /** Addresses at the store itself; absent where clients cannot reach it, see `signed.ts`. */
  presigned?: PresignedBlobs;
};

/** Where bytes are sent to, with the headers that go with them. */
export type UploadAddress = { url: string; headers: Record<string, string>; expiresAt: Date };

/** Bytes that are to come: what they must be. */
export type AwaitedBlob = { digest: Digest; bytes: number };

/** What bytes are said to be where they are sent or read, and what nobody says of them. */
export const unsaidType = 'application/octet-stream';

/** As what a blob is read: a file of this name and, unless it is just bytes, type. */
export type ReadAs = { name: string; contentType?: string };

/** A header by which what is read is stored as a file, by a name of any characters. */
export const attachmentOf = (name: string): string => {
  const plain = name.replace(/[^\w .-]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const rest = plain === name ? '' : `; filename*=UTF-8''${encoded}`;
  return `attachment; filename="${plain}"${rest}`;
};

/** What a service of blobs does for clients that send to it and fetch from it themselves. */
export type PresignedBlobs = {
  /** The address at which bytes of a type are left under a name of their own, until they are taken. */
  upload(name: string, awaited: AwaitedBlob, contentType?: string): Promise<UploadAddress>;
  /**
   * Stores what was left under a name, if it is what was awaited. `conflict` when nothing was, `invalid` when it has
   * another size or digest; what is wrong is not kept.
   */
  take(name: string, awaited: AwaitedBlob): Promise<void>;
  /** Forgets what was left under a name, if anything was. */
  drop(name: string): Promise<void>;
  /** The address of a blob, for whoever is given it. */
  download(digest: Digest, as: ReadAs): Promise<string>;
};

/** How long an address is good that is given away. */
export const addressLifeMs = 60 * 60_000;

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

const damaged = (location: string, digest: Digest): AppError =>
  new AppError(
    'internal',
    `blob ${digest} in ${location} is damaged: bring ${pathOf(digest)} back from a copy`,
  );

/** The bytes that a store has under a digest, if they are those that were put there. */
export const checkBytes = (location: string, digest: Digest, bytes: Uint8Array): Uint8Array => {
  if (digestOf(bytes) === digest) return bytes;
  throw damaged(location, digest);
};

/** Passes on what a store has under a digest, and fails at its end when it is not what was put there. */
export const checkStream = (location: string, digest: Digest, source: Readable): Readable => {
  const hash = createHash('sha256');
  const check = new Transform({
    transform(piece: Buffer, _, done) {
      hash.update(piece);
      done(null, piece);
    },
    flush(done) {
      const isSame = `sha256:${hash.digest('hex')}` === digest;
      done(isSame ? null : damaged(location, digest));
    },
  });
  // Whoever reads it is told of every end.
  return pipeline(source, check, () => undefined);
};

/** What a file holds, by name and size; it is read piece by piece. */
export const measureFile = async (path: string): Promise<AwaitedBlob> => {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.byteLength;
  }
  return { digest: `sha256:${hash.digest('hex')}`, bytes };
};

/** What is said where bytes should have been left and were not. */
export const nothingLeft = (): AppError =>
  new AppError('conflict', 'nothing was sent to the address yet: send the bytes there first');

/** Throws `invalid` unless these are the size and the digest that were awaited. */
export const checkAwaited = (found: AwaitedBlob, awaited: AwaitedBlob): void => {
  if (found.bytes !== awaited.bytes) {
    const sent = found.bytes > awaited.bytes ? 'more' : `${found.bytes}`;
    throw new AppError('invalid', `${sent} bytes were sent, and ${awaited.bytes} are awaited`);
  }
  if (found.digest !== awaited.digest) {
    const message = `what was sent has the digest ${found.digest}, and ${awaited.digest} is awaited`;
    throw new AppError('invalid', message);
  }
};
