/**
 * Reads the body of a request within its size limit, and parses it as vendors do. Text that looks like JSON is parsed
 * as JSON, whatever its content type is, because clients omit or confuse the content type. A body is parsed as a form
 * if it contains at least one value. If the route declares body types, only the content type decides.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { limits } from '#domain/limits.ts';
import type { RouteContract } from '#language/contract.ts';
import { languageLimits } from '#language/limits.ts';
import { isDeeperThan } from '#language/read/values.ts';
import { escapesSurrogates, hasBrokenText } from '#language/schema/lossless-values.ts';
import { fits } from '../answers/media-types.ts';
import { parseForm } from './form.ts';

const nothing = Buffer.alloc(0);

/** Reads the bytes through `data` events, because the stream's own iterator costs more time than most bodies take. */
const readChunks = (request: IncomingMessage): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limits.bodyBytes) {
        chunks.push(chunk);
        return;
      }
      request.off('data', take).resume();
      resolve(undefined);
    };
    request.on('data', take);
    request.once('end', () => {
      const [first = nothing] = chunks;
      resolve(chunks.length === 1 ? first : Buffer.concat(chunks));
    });
    request.once('error', reject);
    request.once('close', () => {
      if (!request.complete)
        reject(new Error('the client disconnected before it had sent the whole body'));
    });
  });

/** Returns the body's bytes; undefined when they exceed the limit. The remaining bytes are then read and discarded. */
export const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length === undefined && encoding === undefined) return nothing;
  if (Number(length) > limits.bodyBytes) {
    request.resume();
    return undefined;
  }
  return readChunks(request);
};

export type ParsedBody =
  /**
   * `value` is undefined if there is no body. The leaves of a form are strings. `isText` means that the value is the
   * body itself, as text or encoded as base64.
   */
  | { ok: true; value: unknown; isForm: boolean; isText?: true }
  | { ok: false; reason: string; text: string; status: 400 | 415 };

const isInfinite = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(isInfinite)
    : value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;

/** Returns why a JSON value cannot be stored and returned unchanged; undefined if it can. */
const faultOfJson = (value: unknown, text: string): string | undefined => {
  if (isDeeperThan(value, languageLimits.depth)) {
    return `the body nests deeper than ${languageLimits.depth} levels`;
  }
  if (escapesSurrogates(text) && hasBrokenText(value)) {
    return 'the body holds half of a surrogate pair';
  }
  const mayBeInfinite = /\d{309}|[eE]\+?\d{3}/.test(text);
  return mayBeInfinite && isInfinite(value)
    ? 'the body holds a number beyond all doubles'
    : undefined;
};

/** Parses JSON. Throws `SyntaxError`. */
const parseJson = (text: string): ParsedBody => {
  const value: unknown = JSON.parse(text);
  const reason = faultOfJson(value, text);
  return reason === undefined
    ? { ok: true, value, isForm: false }
    : { ok: false, reason, text, status: 400 };
};

const isJsonType = (type: string): boolean => /[/+]json$/.test(type);
const formType = 'application/x-www-form-urlencoded';

const mediaType = (header: string | undefined): string =>
  (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/**
 * Returns true if the text can be a form: it has a value, and does not start like JSON. The content type alone does not
 * decide this, since curl sends every body as a form by default.
 */
const looksLikeForm = (text: string): boolean => text.includes('=') && !/^\s*[{[]/.test(text);

const parseText = (text: string, type: string): ParsedBody => {
  const isForm = type === formType;
  if (isForm && looksLikeForm(text)) {
    const value = parseForm(text);
    if (value !== undefined) return { ok: true, value, isForm };
    const reason = 'the form gives a name both a value and parts';
    return { ok: false, reason, text, status: 400 };
  }
  try {
    return parseJson(text);
  } catch {
    const reason = isForm ? 'the body is neither a form nor JSON' : 'the body is not JSON';
    return { ok: false, reason, text, status: 400 }; // the client gets the reason
  }
};

/**
 * Returns the media type of a body from its header. Without the header, the body counts as the first type that the
 * route takes.
 */
export const bodyTypeOf = (
  headers: Readonly<Record<string, string>>,
  taken: readonly string[] = [],
): string => mediaType(headers['content-type']) || (taken[0] ?? '');

/**
 * Returns why a body with these headers cannot be read: its encoding, type or charset is not accepted. Undefined if it
 * can be read. With `isBytes`, any charset is accepted.
 */
const refusalByHeaders = (
  headers: Readonly<Record<string, string>>,
  taken: readonly string[] | undefined,
  isBytes: boolean,
): string | undefined => {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    return `a body encoded as ${encoding} is not understood`;
  const type = bodyTypeOf(headers, taken);
  if (taken === undefined) {
    return !isBytes && type.startsWith('multipart/')
      ? `a body of type ${type} is not understood`
      : undefined;
  }
  if (!taken.some((one) => fits(one, type))) {
    return `a body of type ${type} is not taken here, only ${taken.join(', ')}`;
  }
  if (isBytes) return undefined;
  const [, charset = 'utf-8'] =
    /;\s*charset="?([^";\s]+)/i.exec(headers['content-type'] ?? '') ?? [];
  return /^(?:utf-?8|us-ascii)$/i.test(charset)
    ? undefined
    : `a body in ${charset} is not understood, only one in UTF-8`;
};

/**
 * Parses a body by its headers `content-type` and `content-encoding`. If the route has `body_types`, other types are
 * rejected, and a body that is neither JSON nor a form is returned as text. With `body_encoding`, the value is the
 * encoded bytes, whatever they contain.
 */
export const parseBody = (
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
  { bodyTypes: taken, bodyEncoding }: Pick<RouteContract, 'bodyTypes' | 'bodyEncoding'> = {},
): ParsedBody => {
  if (bytes.length === 0) return { ok: true, value: undefined, isForm: false };
  const refusal = refusalByHeaders(headers, taken, bodyEncoding !== undefined);
  if (refusal !== undefined) return { ok: false, reason: refusal, text: '', status: 415 };
  if (bodyEncoding !== undefined) {
    return { ok: true, value: bytes.toString(bodyEncoding), isForm: false, isText: true };
  }
  if (!isUtf8(bytes)) {
    return { ok: false, reason: 'the body is not UTF-8', text: '', status: 400 };
  }
  const type = bodyTypeOf(headers, taken);
  if (taken !== undefined && !isJsonType(type) && type !== formType) {
    return { ok: true, value: bytes.toString('utf8'), isForm: false, isText: true };
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  if (text.trim() === '') return { ok: true, value: undefined, isForm: false };
  return parseText(text, type);
};
