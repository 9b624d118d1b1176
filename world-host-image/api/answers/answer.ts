/**
 * Answers of the served API as values: a status and a body that is already text. Rows go into a body as the store's
 * JSON text, unparsed.
 */
import type { ApiContract, RouteContract, VendorError } from '#language/contract.ts';
import type { Addresses } from '../../routes/addresses.ts';
import type { RoutePlan } from '../../routes/route-plan.ts';

export type ApiAnswer = {
  status: number;
  /** Body text; null for none. */
  body: string | null;
  contentType: string;
  headers: Record<string, string>;
  /** Reason for an error, for the ledger only; clients never see it. */
  reason: string | null;
  /** True if the body is known to be JSON, because it consists of rows in the store's own text. */
  isRows?: boolean;
  /** True if the body was written by `JSON.stringify`. */
  isWritten?: boolean;
  /** True if the body is a file's content, which is sent exactly as stored. */
  isFile?: boolean;
  /** Values derived from the body, computed once; present only for a cached answer. */
  once?: MadeOnce;
  /** Body as encoded bytes, if it was encoded before. */
  bytes?: Buffer;
};

/** Values derived from the body of a cached answer, which stays the same each time it is sent. */
export type MadeOnce = {
  validator?: string;
  /** Time of the last change; null if the body does not contain it. */
  modified?: string | null;
  /** True if the encoded bytes are not cached, only the text, to leave memory for other answers. */
  isTextOnly?: boolean;
  /** Encoded body, with the vendor's addresses replaced by those of the origin `at`. */
  served?: { at: string; bytes: Buffer };
};

/** Error that rolls the transaction back and answers the request with `answer`. */
export class FailedAction extends Error {
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer) {
    super(`the request is answered ${answer.status}`);
    this.answer = answer;
  }
}

/** Paging information of an answer: members for the envelope, each with its value as JSON text, and headers. */
export type PageWords = { keys: [key: string, json: string][]; headers: Record<string, string> };

export const jsonType = 'application/json; charset=utf-8';

/** Statuses whose answers never have a body, by HTTP's rules. */
export const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

const withCharset = (contentType: string): string =>
  /;\s*charset=/i.test(contentType) ? contentType : `${contentType}; charset=utf-8`;

/** Returns an answer whose body is JSON text. */
export const jsonAnswer = (status: number, body: string | null): ApiAnswer => ({
  status,
  body: bodiless.has(status) ? null : body,
  contentType: jsonType,
  headers: {},
  reason: null,
});

/** Returns an error answer with the vendor's status and body; `reason` goes to the ledger. */
export const vendorAnswer = (
  api: Pick<ApiContract, 'errorContentType'>,
  error: VendorError,
  reason: string | null,
  status = error.status,
): ApiAnswer => ({
  status,
  body: error.body === '' ? null : error.body,
  contentType: withCharset(api.errorContentType),
  headers: {},
  reason,
});

const member = ([key, json]: readonly [key: string, json: string]): string =>
  `,${JSON.stringify(key)}:${json}`;

/**
 * Returns the answer with a route's rows, which are JSON texts: only the first row or all rows, bare or in the
 * envelope. In an envelope, a list also has its count, and a page its paging keys. `total` counts the rows of all
 * pages.
 */
export const rowsAnswer = (
  route: RouteContract,
  { opening, hitsKey }: RoutePlan,
  rows: readonly string[],
  total = rows.length,
  { keys, headers }: PageWords = { keys: [], headers: {} },
): ApiAnswer => {
  const content = route.single ? (rows[0] ?? 'null') : `[${rows.join(',')}]`;
  if (opening === '') return { ...jsonAnswer(route.status, content), headers, isRows: true };
  const hits = hitsKey === null || route.single ? '' : member([hitsKey, String(total)]);
  const body = `${opening}${content}${hits}${keys.map(member).join('')}}`;
  return { ...jsonAnswer(route.status, body), headers, isRows: true };
};

/** Returns the body as a value. A body that is not JSON, as a vendor's error may be, stays a string. */
export const bodyValue = ({ body }: ApiAnswer): unknown => {
  if (body === null) return null;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
};

/**
 * Returns true if the content type allows addresses in a body to be rewritten. Bodies of other types, such as patches,
 * are sent byte for byte.
 */
const isNotation = (contentType: string): boolean =>
  /\b(?:json|xml|html|ndjson|jsonl|(?:x-)?jsonlines|event-stream)\b/i.test(contentType);

/** Returns true if addresses are rewritten in the body. In a file's content they never are, whatever its type. */
const isServed = (answer: ApiAnswer): boolean =>
  answer.isFile !== true && isNotation(contentTypeOf(answer));

const contentTypeOf = ({ contentType, headers }: ApiAnswer): string =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ??
  contentType;

const serveBody = (addresses: Addresses, answer: ApiAnswer): string | null =>
  answer.body !== null && isServed(answer) ? addresses.serve(answer.body) : answer.body;

/** Returns the body of a cached answer as bytes. The bytes are made once for each origin that clients use. */
const serveOnce = (addresses: Addresses, answer: ApiAnswer, once: MadeOnce): Buffer => {
  if (once.served?.at !== addresses.at) {
    once.served = { at: addresses.at, bytes: Buffer.from(serveBody(addresses, answer) ?? '') };
  }
  return once.served.bytes;
};

/** Returns the answer with the vendor's addresses replaced by addresses that the client can reach. */
export const serveAnswer = (addresses: Addresses, answer: ApiAnswer): ApiAnswer => {
  const { body, headers, once } = answer;
  const served = Object.entries(headers).map(([name, text]) => [name, addresses.serve(text)]);
  const sent = { ...answer, headers: Object.fromEntries(served) };
  if (once !== undefined && body !== null && once.isTextOnly !== true) {
    return { ...sent, bytes: serveOnce(addresses, answer, once) };
  }
  return { ...sent, body: serveBody(addresses, answer) };
};

/** Answer to a request that user code sends to its own world: header names in lower case, body as text. */
export type TextAnswer = { status: number; headers: Record<string, string>; text: string };

export const textAnswer = ({
  status,
  body,
  bytes,
  contentType,
  headers,
}: ApiAnswer): TextAnswer => ({
  status,
  headers: {
    ...(body === null ? {} : { 'content-type': contentType }),
    ...Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
    ),
  },
  text: body ?? bytes?.toString() ?? '',
});
