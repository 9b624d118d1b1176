/** A HAR file, as browsers save what they asked. Credentials and cookies in it are taken out wherever they stand. */
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

/** How a client was let in, by the headers of its request. */
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

const bodyOf = (content: unknown): unknown => {
  if (!isObject(content)) return undefined;
  const { encoding, text } = content;
  if (encoding !== 'base64' || typeof text !== 'string') return parse(text);
  // Firefox says base64 of texts that are plain.
  const decoded = /^[\w+/\s]*=*\s*$/.test(text) ? Buffer.from(text, 'base64').toString() : text;
  return parse(decoded) ?? parse(text);
};

const readEntry = (entry: unknown): SeenExchange[] => {
  if (!isObject(entry) || !isObject(entry.request) || !isObject(entry.response)) return [];
  const { request, response, startedDateTime } = entry;
  const { method, url } = request;
  if (typeof method !== 'string' || !methods.test(method) || typeof url !== 'string') return [];
  if (!URL.canParse(url) || typeof response.status !== 'number' || response.status < 100) return [];
  return [
    {
      ...{ method, url, status: response.status },
      headers: headersOf(response.headers),
      request: isObject(request.postData) ? parse(request.postData.text) : undefined,
      body: bodyOf(response.content),
      auth: authOf(headersOf(request.headers)),
      at: typeof startedDateTime === 'string' ? startedDateTime : new Date(0).toISOString(),
    },
  ];
};

/** The exchanges of an API in it: those with JSON, or nothing, in the answer. Throws `invalid` for what is no HAR file. */
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
  return scrubJson(log.entries.flatMap(readEntry), secrets).filter(({ headers, body }) => {
    const type = headers['content-type'] ?? '';
    return body !== undefined || type === '' || /[/+]json\b/.test(type);
  });
};
