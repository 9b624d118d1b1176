/**
 * Bodies that were compressed by gzip. What comes out is bounded like a body that is sent as it is, and looked at while
 * it comes: nothing is inflated further than it is taken.
 */
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { AppError } from '#domain/error.ts';

const inflateGzip = promisify(gunzip);

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

const notGzip = (cause: unknown): AppError =>
  new AppError('invalid', 'the body is not what gzip makes', { cause });

/** Says that a body inflates to more than it may; the server answers 413 by its status. */
export const inflatesTooFar = (most: number): Error =>
  Object.assign(new Error(`the body is larger than ${most} bytes once it is inflated`), {
    statusCode: 413,
  });

/** Returns the bytes that were compressed; undefined when they are more than `most`. */
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
/** Size from which unpacked bytes are checked, and the factor of growth after which they are checked again. */
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

/** Inflates up to `most` bytes. `look` is given what has come so far, and may throw to end it. */
export const inflateLooking = async (
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
    if (size > most) throw inflatesTooFar(most);
    if (size >= nextLook) {
      look(Buffer.concat(chunks));
      nextLook = size * nextLooks;
    }
  }
  return Buffer.concat(chunks);
};
