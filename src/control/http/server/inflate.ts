/**
 * Inflates compressed bodies. Only public routes accept them, and only gzip. Small bodies are inflated here. Larger
 * ones are inflated in the process that parses them, off the event loop that all requests share.
 */
import { limits } from '#domain/limits.ts';
import { inflateSmall, inflatesTooLarge } from '../../base/bodies/inflate.ts';

/** Compression of a body; `undefined` for none. */
export type BodyEncoding = 'gzip' | undefined;

const refused = (statusCode: number, message: string): Error =>
  Object.assign(new Error(message), { statusCode });

/** Reads `Content-Encoding`. Throws an error with status 415 if the route does not accept the encoding. */
export const readEncoding = (header: string | undefined, isTaken: boolean): BodyEncoding => {
  const encoding = header?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return undefined;
  if (encoding === 'gzip' && isTaken) return 'gzip';
  const taken = isTaken ? 'uncompressed or as gzip' : 'uncompressed';
  throw refused(415, `this route accepts a body ${taken}, not with Content-Encoding "${header}"`);
};

/**
 * Body as it was received. `inflatesTo` is set while the body is still compressed: the maximum number of inflated
 * bytes.
 */
export type ReceivedBody = { bytes: Uint8Array | undefined; inflatesTo?: number };

/**
 * Inflates a compressed body if the result is small; otherwise returns the body compressed. Throws an error with status
 * 413 if the result exceeds `most` and `most` itself is small.
 */
export const receive = async (bytes: Uint8Array, most: number): Promise<ReceivedBody> => {
  const mostHere = Math.min(most, limits.directBodyBytes);
  const inflated = await inflateSmall(bytes, mostHere);
  if (inflated !== undefined) return { bytes: inflated };
  if (mostHere === most) throw inflatesTooLarge(most);
  return { bytes, inflatesTo: most };
};
