/**
 * A compressed snapshot to a file, without either being in memory at once: what is read must have the digest
 * that it was asked for by, and what it unpacks to has a bound.
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

/** What is read at a time from bytes in memory, and given on by the unpacking. */
const chunkBytes = 256 * 1024;

export type UnpackOptions = {
  digest: Digest;
  /** Compressed, as the blob of that digest is. */
  source: Readable | Uint8Array;
  path: string;
  mostBytes: number;
  /** Called before each portion is written, with all that there will be then; may refuse by throwing. */
  grow(bytes: number): Promise<void> | void;
  /** Whether the file must be on the disk, and not only with the system, when this is done. */
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

/** The failure as whoever waits for the snapshot is told of it. */
const translate = (error: unknown, { digest, path }: UnpackOptions): unknown => {
  if (error instanceof AppError) return error;
  if (isDiskFull(error)) {
    const message = `the disk of ${path} is full, snapshot ${digest} does not fit; make room there`;
    return new AppError('exhausted', message, { cause: error });
  }
  if (isUnpacking(error)) {
    const message = `snapshot ${digest} cannot be unpacked: ${describeError(error)}`;
    return new AppError('internal', message, { cause: error });
  }
  return error;
};

/** Has the system write the file to the disk. */
export const syncFile = async (path: string): Promise<void> => {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Writes the file whole, or leaves none. Throws `AppError` where the snapshot is not what it should be. */
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
