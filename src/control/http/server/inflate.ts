/**
 * Bodies that are sent compressed, by gzip alone and on public routes. Small ones are inflated here. One that comes to
 * more is inflated where it is read, apart from the loop that all requests share.
 */
import { limits } from '#domain/limits.ts';
import { inflateSmall, inflatesTooFar } from '../../base/bodies/inflate.ts';

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

/** A body as it is read: with the bytes that it may inflate to where it is still compressed. */
export type ReceivedBody = { bytes: Uint8Array | undefined; inflatesTo?: number };

/** Returns a compressed body inflated, where that is small. Throws what is answered 413 when it is more than `most`. */
export const receive = async (bytes: Uint8Array, most: number): Promise<ReceivedBody> => {
  const mostHere = Math.min(most, limits.directBodyBytes);
  const inflated = await inflateSmall(bytes, mostHere);
  if (inflated !== undefined) return { bytes: inflated };
  if (mostHere === most) throw inflatesTooFar(most);
  return { bytes, inflatesTo: most };
};
