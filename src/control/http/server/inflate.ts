/**
 * Inflates compressed bodies, which only public routes take, and only as gzip. Small ones are inflated here. Larger
 * ones are inflated in the process that parses them, off the event loop that all requests share.
 */
import { limits } from '#domain/limits.ts';
import { inflateSmall, inflatesTooLarge } from '../../base/bodies/inflate.ts';

/** Compression of a body; `undefined` for none. */
export type BodyEncoding = 'gzip' | undefined;

const refused = (statusCode: number, message: string): Error =>
  Object.assign(new Error(message), { statusCode });

/** Reads `Content-Encoding`. Throws an error with status 415 if the route does not take the encoding. */
export const readEncoding = (header: string | undefined, isTaken: boolean): BodyEncoding => {
  const encoding = header?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return undefined;
  if (encoding === 'gzip' && isTaken) return 'gzip';
  const taken = isTaken ? 'as it is or by gzip' : 'as it is';
  throw refused(415, `a body is taken ${taken}, not with Content-Encoding "${header}"`);
};

/** Body as it was received; `inflatesTo`, set while it is still compressed, bounds the inflated bytes. */
export type ReceivedBody = { bytes: Uint8Array | undefined; inflatesTo?: number };

/** Inflates a compressed body if the result is small. Throws an error with status 413 if it exceeds `most`. */
export const receive = async (bytes: Uint8Array, most: number): Promise<ReceivedBody> => {
  const mostHere = Math.min(most, limits.directBodyBytes);
  const inflated = await inflateSmall(bytes, mostHere);
  if (inflated !== undefined) return { bytes: inflated };
  if (mostHere === most) throw inflatesTooLarge(most);
  return { bytes, inflatesTo: most };
};
