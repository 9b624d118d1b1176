/**
 * Bodies that are sent compressed, by gzip alone and on public routes: what comes out is bounded like a body that is
 * sent as it is, so nothing is inflated further than that.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AppError } from '#domain/error.ts';

const inflateGzip = promisify(gunzip);

/** How a body is sent: `undefined` as it is. */
export type BodyEncoding = 'gzip' | undefined;

const refused = (statusCode: number, message: string): Error =>
  Object.assign(new Error(message), { statusCode });

/** Reads `Content-Encoding`. Throws what is answered 415 for one that is not taken. */
export const readEncoding = (header: string | undefined, isTaken: boolean): BodyEncoding => {
  const encoding = header?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return undefined;
  if (encoding === 'gzip' && isTaken) return 'gzip';
  const taken = isTaken ? 'as it is or by gzip' : 'as it is';
  throw refused(415, `a body is taken ${taken}, not with Content-Encoding "${header}"`);
};

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

/** The bytes that were compressed. Throws what is answered 413 when they are more than `most`. */
export const inflate = async (bytes: Uint8Array, most: number): Promise<Uint8Array> => {
  try {
    return await inflateGzip(bytes, { maxOutputLength: most });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') {
      throw refused(413, `the body is larger than ${most} bytes once it is inflated`);
    }
    throw new AppError('invalid', 'the body is not what gzip makes', { cause: error });
  }
};
