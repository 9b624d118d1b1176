/**
 * Answers of the served API as values: a status with a body that is already text. Rows go into a body
 * as the store has them, unparsed.
 */
import type { ApiContract, RouteContract, VendorError } from '#language/contract.ts';
import type { Addresses } from '../../routes/addresses.ts';
import type { RoutePlan } from '../../routes/route-plan.ts';

export type ApiAnswer = {
  status: number;
  /** null: no body. */
  body: string | null;
  contentType: string;
  headers: Record<string, string>;
  /** For the ledger, never for the client: why it is an error. */
  reason: string | null;
  /** Whether the body is JSON for certain: rows as the store has them. */
  isRows?: boolean;
  /** Whether the body is JSON as `JSON.stringify` writes it. */
  isWritten?: boolean;
  /** Whether the body is a file's content, which is sent as it is stored. */
  isFile?: boolean;
  /** There for an answer that is given again: what was made of its body, to be made once. */
  once?: MadeOnce;
  /** The body in bytes, where they are at hand. */
  bytes?: Buffer;
};

/** What is made of a body that is the same each time. */
export type MadeOnce = {
  validator?: string;
  /** Null where it does not say when it was changed. */
  modified?: string | null;
  /** Whether its bytes are not kept as they are served, to leave room for other answers. */
  isTextAlone?: boolean;
  /** As it is served below one address. */
  served?: { at: string; bytes: Buffer };
};

/** Undoes the transaction and answers this. */
export class FailedAction extends Error {
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer) {
    super(`the request is answered ${answer.status}`);
    this.answer = answer;
  }
}

/** What an answer says about pages: keys with JSON texts as their values, and headers. */
export type PageWords = { keys: [key: string, json: string][]; headers: Record<string, string> };

export const jsonType = 'application/json; charset=utf-8';

/** Statuses whose answers have no body by HTTP's own rule. */
export const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

const withCharset = (contentType: string): string =>
  /;\s*charset=/i.test(contentType) ? contentType : `${contentType}; charset=utf-8`;

/** An answer whose body is JSON text. */
export const jsonAnswer = (status: number, body: string | null): ApiAnswer => ({
  status,
  body: bodiless.has(status) ? null : body,
  contentType: jsonType,
  headers: {},
  reason: null,
});

/** An error in the vendor's words; `reason` is kept for the ledger. */
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
 * Rows (JSON texts) as a route answers them: the first alone or all, bare or under the envelope, where
 * a list has its count beside it, and a page what there is to say of it. `total` counts the rows of
 * all pages.
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

/** The body as a value: parsed where it is JSON, which a vendor's error bodies need not be. */
export const bodyValue = ({ body }: ApiAnswer): unknown => {
  if (body === null) return null;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
};

/** Bodies of other types, such as patches, are bytes that nobody may change. */
const isNotation = (contentType: string): boolean =>
  /\b(?:json|xml|html|ndjson|jsonl|(?:x-)?jsonlines|event-stream)\b/i.test(contentType);

/** A file's body is somebody's bytes, too, of whatever type it is. */
const isServed = (answer: ApiAnswer): boolean =>
  answer.isFile !== true && isNotation(contentTypeOf(answer));

const contentTypeOf = ({ contentType, headers }: ApiAnswer): string =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ??
  contentType;

const serveBody = (addresses: Addresses, answer: ApiAnswer): string | null =>
  answer.body !== null && isServed(answer) ? addresses.serve(answer.body) : answer.body;

/** The body of an answer that is given again. */
const serveOnce = (addresses: Addresses, answer: ApiAnswer, once: MadeOnce): Buffer => {
  if (once.served?.at !== addresses.at) {
    once.served = { at: addresses.at, bytes: Buffer.from(serveBody(addresses, answer) ?? '') };
  }
  return once.served.bytes;
};

/** The answer as its client is sent it. */
export const serveAnswer = (addresses: Addresses, answer: ApiAnswer): ApiAnswer => {
  const { body, headers, once } = answer;
  const served = Object.entries(headers).map(([name, text]) => [name, addresses.serve(text)]);
  const sent = { ...answer, headers: Object.fromEntries(served) };
  if (once !== undefined && body !== null && once.isTextAlone !== true) {
    return { ...sent, bytes: serveOnce(addresses, answer, once) };
  }
  return { ...sent, body: serveBody(addresses, answer) };
};

/** An answer as code that asks the world is told: names of headers in lower case, and the body as text. */
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
