/**
 * Decompresses gzip bodies. The decompressed size has the same limit as an uncompressed body. It is checked during
 * decompression, which stops at the limit.
 */
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { AppError } from '#domain/error.ts';

const inflateGzip = promisify(gunzip);

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

const notGzip = (cause: unknown): AppError =>
  new AppError('invalid', 'the body is not valid gzip', { cause });

/**
 * Builds the error for a body that is too large after decompression. The server answers with the error's status, 413.
 */
export const inflatesTooLarge = (most: number): Error =>
  Object.assign(new Error(`the body is larger than ${most} bytes after decompression`), {
    statusCode: 413,
  });

/** Returns the decompressed bytes; undefined if there are more than `most`. Throws `invalid` if the body is no gzip. */
export const inflateSmall = async (
  bytes: Uint8Array,
  most: number,
): Promise<Uint8Array | undefined> => {
  try {
    return await inflateGzip(bytes, { maxOutputLength: most });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw notGzip(error);
  }
};

const chunkBytes = 64 * 1024;
/**
 * Number of decompressed bytes at which they are first checked, and the factor by which this number grows before each
 * further check.
 */
const firstLook = 256 * 1024;
const nextLooks = 4;

const chunksOf = async function* (bytes: Uint8Array): AsyncGenerator<Buffer> {
  const stream = createGunzip({ chunkSize: chunkBytes });
  stream.end(bytes);
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw notGzip(error);
  }
};

/** Decompresses up to `most` bytes. `look` gets the bytes that are decompressed so far, and may throw to stop. */
export const inflateChecked = async (
  bytes: Uint8Array,
  most: number,
  look: (beginning: Uint8Array) => void,
): Promise<Uint8Array> => {
  const chunks: Buffer[] = [];
  let size = 0;
  let nextLook = firstLook;
  for await (const chunk of chunksOf(bytes)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) throw inflatesTooLarge(most);
    if (size >= nextLook) {
      look(Buffer.concat(chunks));
      nextLook = size * nextLooks;
    }
  }
  return Buffer.concat(chunks);
};
