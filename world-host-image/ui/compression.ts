/**
 * Compresses text that the UI's origin serves, if the client accepts a coding and the size makes compression
 * worthwhile.
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import type { UiAnswer } from './service.ts';

/** Content codings, the preferred one first. */
const codings = ['br', 'gzip'] as const;
export type Coding = (typeof codings)[number];

/** Minimum size that is worth compressing, in bytes. The next constant is the maximum size that is compressed. */
const least = 1_024;
const most = 16 * 2 ** 20;
/** Brotli quality; the maximum is 11. The next level takes twice as long and saves a few percent. */
const brotliQuality = 5;

const byBrotli = promisify(brotliCompress);
const byGzip = promisify(gzip);

const textual =
  /^(?:text\/(?!event-stream)|application\/(?:javascript|json|xml|wasm|manifest\+json|[\w.-]+\+(?:json|xml))|image\/(?:svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)|font\/(?:ttf|otf))/i;

/** Returns true if compression makes content of this type and size smaller. */
export const isWorthwhile = (type: string, sizeBytes: number): boolean =>
  sizeBytes >= least && sizeBytes <= most && textual.test(type);

/** Returns the preferred coding among those that a client accepts; undefined if it accepts none. */
export const codingFor = (headers: Readonly<Record<string, string>>): Coding | undefined => {
  if (headers['accept-encoding'] === undefined) return undefined;
  const accepted = new Negotiator({ headers }).encodings([...codings]);
  return codings.find((coding) => accepted.includes(coding));
};

/** Compresses bytes outside of the main thread. */
export const compress = (bytes: Uint8Array, coding: Coding): Promise<Uint8Array> =>
  coding === 'br'
    ? byBrotli(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      })
    : byGzip(bytes);

const hasVary = (vary: string | string[] | undefined): string => {
  const others = [vary ?? []].flat().join(', ');
  return others === '' ? 'accept-encoding' : `${others}, accept-encoding`;
};

/** Compresses an answer that is made for one request, if that is worthwhile and the answer is not compressed yet. */
export const compressAnswer = async (
  requestHeaders: Readonly<Record<string, string>>,
  answer: UiAnswer,
): Promise<UiAnswer> => {
  const { body, headers } = answer;
  const type = String(headers['content-type'] ?? '');
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes === null || headers['content-encoding'] !== undefined || headers.etag !== undefined) {
    return answer;
  }
  if (!isWorthwhile(type, bytes.length)) return answer;
  const varying = { ...headers, vary: hasVary(headers.vary) };
  const coding = codingFor(requestHeaders);
  if (coding === undefined) return { ...answer, headers: varying };
  return {
    ...answer,
    headers: { ...varying, 'content-encoding': coding },
    body: await compress(bytes, coding),
  };
};
