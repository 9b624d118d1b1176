/** Reads HAR files, in which browsers and proxies save requests. Credentials and cookies are removed from all parts. */
import { AppError } from '#domain/error.ts';
import { isObject, withoutByteOrderMark } from '#domain/json.ts';
import { createSecrets, learnSecrets, scrubJson } from '../redact/secrets.ts';
import type { SeenExchange } from './exchange.ts';

const methods = /^(?:GET|POST|PUT|PATCH|DELETE)$/;

const parse = (text: unknown): unknown => {
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  try {
    return JSON.parse(withoutByteOrderMark(text)) as unknown;
  } catch {
    return undefined;
  }
};

const headersOf = (list: unknown): Record<string, string> =>
  Object.fromEntries(
    (Array.isArray(list) ? list : [])
      .filter(isObject)
      .map(({ name, value }) => [String(name).toLowerCase(), String(value)]),
  );

/** Returns the client's authentication scheme from the headers of its request; undefined without one. */
export const authOf = (headers: Readonly<Record<string, string>>): SeenExchange['auth'] => {
  const [way = ''] = (headers.authorization ?? '').split(' ', 1);
  if (/^bearer$/i.test(way)) return { scheme: 'bearer' };
  if (/^basic$/i.test(way)) return { scheme: 'basic' };
  if (way !== '') return { scheme: 'header', name: 'Authorization' };
  const name = Object.keys(headers).find((one) =>
    /^x-(?:.*-)?(?:api-?key|auth-?token|token)$/.test(one),
  );
  return name === undefined ? undefined : { scheme: 'header', name };
};

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Parses the JSON of an answer. Some programs label plain text as base64, so a text is decoded only if it is valid
 * base64.
 */
const bodyOf = (content: unknown): unknown => {
  if (!isObject(content)) return undefined;
  const { text, encoding } = content;
  if (encoding !== 'base64' || typeof text !== 'string') return parse(text);
  const packed = text.replace(/\s+/g, '');
  const body = base64.test(packed) ? parse(Buffer.from(packed, 'base64').toString()) : undefined;
  return body ?? parse(text);
};

/** Returns true for HTTP requests. WebSockets, and pages of the browser, of an extension or in memory, do not count. */
const isWeb = (url: string): boolean =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const readEntry = (entry: unknown): SeenExchange[] => {
  if (!isObject(entry) || !isObject(entry.request) || !isObject(entry.response)) return [];
  const { request, response, startedDateTime } = entry;
  const { method, url } = request;
  if (typeof method !== 'string' || !methods.test(method) || typeof url !== 'string') return [];
  if (!isWeb(url) || typeof response.status !== 'number' || response.status < 100) return [];
  return [
    {
      ...{ method, url: new URL(url).href, status: response.status },
      headers: headersOf(response.headers),
      request: isObject(request.postData) ? parse(request.postData.text) : undefined,
      body: bodyOf(response.content),
      auth: authOf(headersOf(request.headers)),
      at: typeof startedDateTime === 'string' ? startedDateTime : new Date(0).toISOString(),
    },
  ];
};

/**
 * Returns the file's exchanges with an API: those whose answer is JSON or empty. Throws `invalid` for a value that is
 * not a HAR file, or that contains no such exchange.
 */
export const readHar = (value: unknown, shown: string): SeenExchange[] => {
  const log = isObject(value) ? value.log : undefined;
  if (!isObject(log) || !Array.isArray(log.entries)) {
    throw new AppError('invalid', `${shown} is no HAR file: it has no "log.entries"`);
  }
  const secrets = createSecrets();
  for (const entry of log.entries) {
    const request = isObject(entry) ? entry.request : undefined;
    if (isObject(request)) learnSecrets(headersOf(request.headers), secrets);
  }
  const seen = scrubJson(log.entries.flatMap(readEntry), secrets).filter(({ headers, body }) => {
    const type = headers['content-type'] ?? '';
    return body !== undefined || type === '' || /[/+]json\b/.test(type);
  });
  if (seen.length > 0) return seen;
  throw new AppError('invalid', `${shown} contains no answered request to an API`, {
    detail: { hint: 'save requests to http or https addresses that were answered with JSON' },
  });
};
