/**
 * Content-addressed blob storage. If the same bytes are written twice, they are stored once. All kinds of stores use
 * the same names, so the files of one store can be copied to another.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, type Readable, Transform } from 'node:stream';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';

export type Blobs = {
  /** Location of the store as messages name it: a folder, or a bucket and its service. */
  readonly location: string;
  /**
   * True if the store is a service that all replicas use. An outage of the service affects all replicas alike, so it
   * does not make a single replica unready.
   */
  readonly isShared: boolean;
  /** Stores the bytes under their digest. Once the promise resolves, they are durable. */
  put(bytes: Uint8Array): Promise<Digest>;
  /**
   * Returns the bytes with the given digest. Throws `not_found` if the store does not have them, `internal` if the
   * stored bytes do not match the digest.
   */
  get(digest: Digest): Promise<Uint8Array>;
  /**
   * Stores the contents of a file under their digest, without loading the file into memory. Once the promise resolves,
   * they are durable.
   */
  putFile(path: string): Promise<Digest>;
  /**
   * Returns the bytes with the given digest as a stream. Throws `not_found` if the store does not have them. If the
   * stored bytes do not match the digest, the stream fails with `internal` at its end. So readers must not trust the
   * data before the stream has ended successfully.
   */
  read(digest: Digest): Promise<Readable>;
  /** Returns the size of a blob in bytes. Throws `not_found` if the store has no such blob. */
  size(digest: Digest): Promise<number>;
  /** Removes a blob. Does nothing if the blob does not exist. */
  remove(digest: Digest): Promise<void>;
  /** Throws `unavailable` if the store cannot be used. Free disk space is not checked. */
  check(): Promise<void>;
  /**
   * Throws `unavailable` if nothing can be written any more, for example because the disk is full. Absent in stores
   * whose disk space is monitored elsewhere.
   */
  checkDiskSpace?(): Promise<void>;
  /** Returns the free and the total disk space in bytes; absent in a store without a fixed size. */
  space?(): Promise<{ freeBytes: number; totalBytes: number }>;
  /** Presigned addresses of the store itself; absent if clients cannot connect to the store. See `signed.ts`. */
  presigned?: PresignedBlobs;
};

/** Address to which a client uploads bytes, with the headers that the client must send. */
export type UploadAddress = { url: string; headers: Record<string, string>; expiresAt: Date };

/** Announced bytes: the digest and the size in bytes that the upload must have. */
export type AwaitedBlob = { digest: Digest; bytes: number };

/** Content type for a download if no type is given. */
export const defaultContentType = 'application/octet-stream';

/** File name, and optionally the content type, with which a blob is downloaded. */
export type ReadAs = { name: string; contentType?: string };

/**
 * Returns the `Content-Disposition` header that makes a download a file with this name. The name may have any
 * characters.
 */
export const attachmentOf = (name: string): string => {
  const plain = name.replace(/[^\w .-]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const rest = plain === name ? '' : `; filename*=UTF-8''${encoded}`;
  return `attachment; filename="${plain}"${rest}`;
};

/** Presigned uploads and downloads, with which clients connect directly to the blob service. */
export type PresignedBlobs = {
  /** Returns the address for uploading bytes of the given content type to a temporary object called `name`. */
  upload(name: string, awaited: AwaitedBlob, contentType?: string): Promise<UploadAddress>;
  /**
   * Stores the temporary object as a blob if it matches the announcement. Throws `conflict` if there is no such object,
   * and `invalid` if its size or digest differs; the bytes are then discarded.
   */
  take(name: string, awaited: AwaitedBlob): Promise<void>;
  /** Removes a temporary object, if it exists. */
  drop(name: string): Promise<void>;
  /** Returns an address from which anyone who has it can download the blob. */
  download(digest: Digest, as: ReadAs): Promise<string>;
};

/** Lifetime of a presigned address, in milliseconds. */
export const addressLifeMs = 60 * 60_000;

/** Kind and location of the blob store. */
export type BlobStoreConfig =
  | { kind: 'folder'; folder: string }
  | { kind: 'database' }
  | ({ kind: 's3' } & S3Config);

/** Bucket, or the part of a bucket under a prefix. Amazon's client finds the credentials itself. */
export type S3Config = {
  bucket: string;
  /** Prefix of all keys: empty, or path segments joined by `/`, without a slash at either end. */
  prefix: string;
  region: string;
  /** URL of the service; null for Amazon's own endpoint in the region. */
  endpoint: string | null;
  /** True if addresses have the bucket in the path (`https://host/bucket/…`) instead of the host name. */
  pathStyle: boolean;
};

/** Returns the digest under which these bytes are stored. */
export const digestOf = (bytes: Uint8Array | string): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Returns the path of a blob in a store: `<first two hex digits>/<the hex digest>`. */
export const pathOf = (digest: Digest): string => {
  const hex = digest.slice('sha256:'.length);
  return `${hex.slice(0, 2)}/${hex}`;
};

/** Builds the error that `get` and `size` throw for a missing blob. */
export const missing = (digest: Digest, cause?: unknown): AppError =>
  new AppError('not_found', `there is no blob ${digest}`, { cause });

/** Returns true if an error of `get` or `size` means that the bytes are lost: missing or damaged. */
export const isLost = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'not_found' || error.code === 'internal');

const damaged = (location: string, digest: Digest): AppError =>
  new AppError(
    'internal',
    `blob ${digest} in ${location} is damaged: restore ${pathOf(digest)} from a backup`,
  );

/** Returns the bytes that were read from a store. Throws `internal` if they do not match the digest. */
export const checkBytes = (location: string, digest: Digest, bytes: Uint8Array): Uint8Array => {
  if (digestOf(bytes) === digest) return bytes;
  throw damaged(location, digest);
};

/** Passes on the bytes that are read from a store. If they do not match the digest, the stream fails at its end. */
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
  // Errors reach the reader of the returned stream, so the callback has nothing to do.
  return pipeline(source, check, () => undefined);
};

/** Returns the digest and the size of a file. The file is read in pieces, not as a whole. */
export const measureFile = async (path: string): Promise<AwaitedBlob> => {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.byteLength;
  }
  return { digest: `sha256:${hash.digest('hex')}`, bytes };
};

/** Builds the error for an upload whose bytes have not arrived. */
export const nothingUploaded = (): AppError =>
  new AppError('conflict', 'no bytes were sent to the upload address yet: send them there first');

/** Throws `invalid` unless the size and the digest are as announced. */
export const checkAwaited = (found: AwaitedBlob, awaited: AwaitedBlob): void => {
  if (found.bytes !== awaited.bytes) {
    const sent = found.bytes > awaited.bytes ? 'more' : `${found.bytes}`;
    throw new AppError('invalid', `${sent} bytes were sent, and ${awaited.bytes} were announced`);
  }
  if (found.digest !== awaited.digest) {
    const message = `the sent bytes have the digest ${found.digest}, and ${awaited.digest} was announced`;
    throw new AppError('invalid', message);
  }
};
