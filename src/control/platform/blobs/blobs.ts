/**
 * Content-addressed blob storage. Writing the same bytes twice stores them once. All stores use the same names, so one
 * store can be copied into another file by file.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, type Readable, Transform } from 'node:stream';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';

export type Blobs = {
  /** Location for messages: a folder, or a bucket and its service. */
  readonly location: string;
  /**
   * True if the store is a service that all replicas use. Its outage affects all replicas alike, so it does not make a
   * single replica unready.
   */
  readonly isShared: boolean;
  /** Stores the bytes; once it resolves they are durable under their digest. */
  put(bytes: Uint8Array): Promise<Digest>;
  /**
   * Returns the bytes of a digest. Throws `not_found` if the store has none, `internal` if they do not match the
   * digest.
   */
  get(digest: Digest): Promise<Uint8Array>;
  /**
   * Stores the contents of a file without loading it into memory; once it resolves they are durable under their
   * digest.
   */
  putFile(path: string): Promise<Digest>;
  /**
   * Returns the bytes of a digest as a stream; throws `not_found` if the store has none. If the bytes do not match the
   * digest, the stream fails with `internal` at its end. So readers must not trust the data before a successful end.
   */
  read(digest: Digest): Promise<Readable>;
  /** Returns the size in bytes; throws `not_found` if the store has no such blob. */
  size(digest: Digest): Promise<number>;
  /** Removes a blob; does nothing if it is absent. */
  remove(digest: Digest): Promise<void>;
  /** Throws `unavailable` if the store cannot be used. Does not check for free disk space. */
  check(): Promise<void>;
  /**
   * Throws `unavailable` if nothing can be written any more, for example on a full disk; absent in stores that are
   * monitored elsewhere.
   */
  checkDiskSpace?(): Promise<void>;
  /** Returns the free and total disk space; absent in a store without a fixed size. */
  space?(): Promise<{ freeBytes: number; totalBytes: number }>;
  /** Presigned addresses of the store itself; absent if clients cannot reach it, see `signed.ts`. */
  presigned?: PresignedBlobs;
};

/** Address to which a client uploads bytes, with the headers it must send. */
export type UploadAddress = { url: string; headers: Record<string, string>; expiresAt: Date };

/** Announced bytes: the digest and size that the upload must have. */
export type AwaitedBlob = { digest: Digest; bytes: number };

/** Content type of blobs whose type is not given. */
export const defaultContentType = 'application/octet-stream';

/** File name, and optional content type, with which a blob is downloaded. */
export type ReadAs = { name: string; contentType?: string };

/** Returns the `Content-Disposition` header that makes a download a file of this name, whatever its characters. */
export const attachmentOf = (name: string): string => {
  const plain = name.replace(/[^\w .-]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const rest = plain === name ? '' : `; filename*=UTF-8''${encoded}`;
  return `attachment; filename="${plain}"${rest}`;
};

/** Presigned uploads and downloads, with which clients access the blob service directly. */
export type PresignedBlobs = {
  /** Returns the address of a temporary object `name`, to which a client uploads bytes of this content type. */
  upload(name: string, awaited: AwaitedBlob, contentType?: string): Promise<UploadAddress>;
  /**
   * Stores the temporary object as a blob if it matches the announcement. Throws `conflict` if there is none,
   * `invalid` if its size or digest differs; such bytes are not kept.
   */
  take(name: string, awaited: AwaitedBlob): Promise<void>;
  /** Removes a temporary object, if there is one. */
  drop(name: string): Promise<void>;
  /** Returns an address at which its holder can download the blob. */
  download(digest: Digest, as: ReadAs): Promise<string>;
};

/** Lifetime of a presigned address. */
export const addressLifeMs = 60 * 60_000;

/** Kind and location of the blob store. */
export type BlobStoreConfig =
  | { kind: 'folder'; folder: string }
  | { kind: 'database' }
  | ({ kind: 's3' } & S3Config);

/** A bucket, or the part of it under a prefix. Amazon's client finds the credentials itself. */
export type S3Config = {
  bucket: string;
  /** Empty, or path segments joined by `/`, without a slash at either end. */
  prefix: string;
  region: string;
  /** Null means Amazon's endpoint of the region. */
  endpoint: string | null;
  /** True if addresses have the bucket in the path (`https://host/bucket/…`) instead of the host name. */
  pathStyle: boolean;
};

/** Returns the digest that names these bytes. */
export const digestOf = (bytes: Uint8Array | string): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Returns the path of a blob in a store: `<first two hex digits>/<the hex digest>`. */
export const pathOf = (digest: Digest): string => {
  const hex = digest.slice('sha256:'.length);
  return `${hex.slice(0, 2)}/${hex}`;
};

/** Builds the error that `get` and `size` throw for an absent blob. */
export const missing = (digest: Digest, cause?: unknown): AppError =>
  new AppError('not_found', `there is no blob ${digest}`, { cause });

/** Returns true if an error of `get` or `size` means that the bytes are lost: absent or damaged. */
export const isLost = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'not_found' || error.code === 'internal');

const damaged = (location: string, digest: Digest): AppError =>
  new AppError(
    'internal',
    `blob ${digest} in ${location} is damaged: bring ${pathOf(digest)} back from a copy`,
  );

/** Returns the bytes read from a store; throws `internal` if they do not match the digest. */
export const checkBytes = (location: string, digest: Digest, bytes: Uint8Array): Uint8Array => {
  if (digestOf(bytes) === digest) return bytes;
  throw damaged(location, digest);
};

/** Passes on the bytes read from a store; the stream fails at its end if they do not match the digest. */
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

/** Returns the digest and size of a file, which is read in pieces. */
export const measureFile = async (path: string): Promise<AwaitedBlob> => {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.byteLength;
  }
  return { digest: `sha256:${hash.digest('hex')}`, bytes };
};

/** Builds the error for an upload of which no bytes have arrived. */
export const nothingUploaded = (): AppError =>
  new AppError('conflict', 'nothing was sent to the address yet: send the bytes there first');

/** Throws `invalid` unless size and digest are the announced ones. */
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
