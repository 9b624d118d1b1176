/**
 * Unpacks a compressed snapshot to a file without holding either in memory. The source must have the expected digest,
 * and the unpacked size is limited.
 */
import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { AppError, describeError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import { isDiskFull } from './file-errors.ts';

/** Size of the chunks into which bytes in memory are cut, and of those that the unpacking passes on. */
const chunkBytes = 256 * 1024;

export type UnpackOptions = {
  digest: Digest;
  /** Compressed bytes of the blob that has the digest. */
  source: Readable | Uint8Array;
  path: string;
  mostBytes: number;
  /** Called before each chunk is written, with the total size that the file then has. It may refuse by throwing. */
  grow(bytes: number): Promise<void> | void;
  /** True if the file must be on disk, and not only in the system's cache, before the unpacking returns. */
  sync: boolean;
};

const portions = function* (bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
};

const hashing = (hash: Hash): Transform =>
  new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });

const bounding = ({ digest, mostBytes, grow }: UnpackOptions): Transform => {
  let bytes = 0;
  const take = async (chunk: Uint8Array): Promise<Uint8Array> => {
    bytes += chunk.length;
    if (bytes > mostBytes) {
      const most = `${Math.floor(mostBytes / 2 ** 20)} MiB`;
      throw new AppError('exhausted', `snapshot ${digest} unpacks to more than ${most}`);
    }
    await grow(bytes);
    return chunk;
  };
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      take(chunk).then((taken) => done(null, taken), done);
    },
  });
};

const isUnpacking = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (String(error.code).startsWith('ZSTD_') || error.code === 'Z_BUF_ERROR');

/** Translates a failure into the error for the callers that wait for the snapshot. */
const translate = (error: unknown, { digest, path }: UnpackOptions): unknown => {
  if (error instanceof AppError) return error;
  if (isDiskFull(error)) {
    const message = `the disk of ${path} is full, snapshot ${digest} does not fit; free some space there`;
    return new AppError('exhausted', message, { cause: error });
  }
  if (isUnpacking(error)) {
    const message = `snapshot ${digest} cannot be unpacked: ${describeError(error)}`;
    return new AppError('internal', message, { cause: error });
  }
  return error;
};

/** Flushes the file to disk. */
export const syncFile = async (path: string): Promise<void> => {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/**
 * Writes the whole file, or leaves none. Throws `AppError` if the snapshot does not have its digest or cannot be
 * unpacked.
 */
export const unpackToFile = async (options: UnpackOptions): Promise<void> => {
  const { digest, source, path } = options;
  const hash = createHash('sha256');
  try {
    await pipeline(
      source instanceof Uint8Array ? Readable.from(portions(source)) : source,
      hashing(hash),
      createZstdDecompress({ chunkSize: chunkBytes }),
      bounding(options),
      createWriteStream(path, { mode: 0o600, highWaterMark: 4 * chunkBytes }),
    );
    const found = `sha256:${hash.digest('hex')}`;
    if (found !== digest) {
      throw new AppError('internal', `the snapshot that was asked for as ${digest} is ${found}`);
    }
    if (options.sync) await syncFile(path);
  } catch (error) {
    await rm(path, { force: true });
    throw translate(error, options);
  }
};
