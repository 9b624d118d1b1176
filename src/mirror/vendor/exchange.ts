/**
 * Sends one request to a vendor by `fetch`, which also unpacks compressed answers. `fetch` must not follow redirects,
 * because this module sends a credential only within its own origin.
 */
import { AppError } from '#domain/error.ts';
import type { Admission } from './credentials.ts';

export type Outgoing = {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
};

export type Incoming = {
  status: number;
  /** Headers by name in lower case. */
  headers: Record<string, string>;
  text: string;
};

/** Thrown if there is no answer. If `again` is true, another attempt may succeed. */
export class ExchangeError extends Error {
  readonly again: boolean;
  constructor(message: string, again: boolean) {
    super(message);
    this.again = again;
  }
}

export type Limits = { timeoutMs: number; mostBytes: number; signal: AbortSignal };

const mostRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);

const readText = async (response: Response, mostBytes: number): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.byteLength;
    if (size > mostBytes) {
      throw new ExchangeError(`the answer is larger than ${mostBytes / 2 ** 20} MiB`, false);
    }
    pieces.push(piece);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
};

/** Describes a failure without the platform's message, which may quote the URL. */
const wordsOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (/CERT|SIGNED|TLS|SSL/.test(code)) return `its certificate is not trusted (${code})`;
  return code === '' ? 'the connection failed' : `the connection failed (${code})`;
};

const send = async (
  { method, url, headers, body }: Outgoing,
  { timeoutMs, mostBytes, signal }: Limits,
): Promise<Incoming> => {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.any([signal, deadline]),
      ...(body === undefined ? {} : { body }),
    });
    const text = await readText(response, mostBytes);
    return { status: response.status, headers: Object.fromEntries(response.headers), text };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ExchangeError) throw error;
    if (deadline.aborted) throw new ExchangeError(`no answer within ${timeoutMs / 1_000} s`, true);
    throw new ExchangeError(wordsOf(error), true);
  }
};

const admit = (url: URL, { query }: Admission): URL => {
  const admitted = new URL(url);
  for (const [name, value] of Object.entries(query)) admitted.searchParams.set(name, value);
  return admitted;
};

const nextUrl = (from: URL, location: string | undefined, { query }: Admission): URL => {
  const url = location === undefined ? null : URL.parse(location, from.href);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ExchangeError('it redirects to an invalid address', false);
  }
  // The vendor may repeat the credential in the address; it is removed here, and added again where it belongs.
  for (const name of Object.keys(query)) url.searchParams.delete(name);
  url.username = '';
  url.password = '';
  return url;
};

/**
 * Requests a page and follows redirects. `isSecret` returns true if a text contains a credential; if the URL of a
 * redirect to another origin does, the redirect is not followed. Throws `ExchangeError`, or the signal's reason when
 * the signal aborts.
 */
export const askPage = async (
  url: URL,
  admission: Admission,
  isSecret: (text: string) => boolean,
  limits: Limits,
): Promise<Incoming> => {
  const common = { accept: 'application/json', 'user-agent': 'svc-capture' };
  let at = url;
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    const isHome = at.origin === url.origin;
    if (!isHome && isSecret(at.href)) {
      throw new ExchangeError(
        'it redirects to another origin with the credential in the URL',
        false,
      );
    }
    const headers = isHome ? { ...common, ...admission.headers } : common;
    const outgoing = { method: 'GET' as const, url: isHome ? admit(at, admission) : at, headers };
    const answer = await send(outgoing, limits);
    if (!redirects.has(answer.status)) return answer;
    at = nextUrl(at, answer.headers.location, admission);
  }
  throw new ExchangeError(`it redirects more than ${mostRedirects} times`, false);
};

/** Posts a form to request a token. A redirect is an error. */
export const postForm = async (
  url: URL,
  form: Record<string, string>,
  headers: Record<string, string>,
  limits: Limits,
): Promise<Incoming> => {
  const answer = await send(
    {
      method: 'POST',
      url,
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      body: new URLSearchParams(form).toString(),
    },
    limits,
  );
  if (redirects.has(answer.status)) {
    throw new AppError(
      'invalid',
      'the token_url redirects; set token_url to the address that it leads to',
    );
  }
  return answer;
};
