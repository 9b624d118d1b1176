/** Converts a request of Node's HTTP server to an `ApiRequest`. */
import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from './api-request.ts';
import { readBody } from './body.ts';

/**
 * Returns the headers without `set-cookie`. It is the only header that Node returns as a list, and no request should
 * have it.
 */
const headersOf = ({ headers }: IncomingMessage): Record<string, string> => {
  if (headers['set-cookie'] === undefined) return headers as Record<string, string>;
  const { 'set-cookie': _, ...others } = headers;
  return others as Record<string, string>;
};

/**
 * Returns path and query. If a client uses the host as a proxy, it sends a whole URL, of which only path and query are
 * used.
 */
const targetOf = ({ url = '/' }: IncomingMessage): string => {
  if (url.startsWith('/')) return url;
  const target = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '');
  return target.startsWith('/') ? target : `/${target}`;
};

/** Returns the path without the query, which may hold a credential. */
export const pathOf = (request: IncomingMessage): string =>
  targetOf(request).split('?', 1)[0] ?? '/';

/** Shared empty query; never modified. */
const noQuery = new URLSearchParams();

export const describeRequest = (request: IncomingMessage): ApiRequest => {
  const target = targetOf(request);
  const mark = target.indexOf('?');
  return {
    method: request.method ?? 'GET',
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? noQuery : new URLSearchParams(target.slice(mark + 1)),
    headers: headersOf(request),
    readBody: () => readBody(request),
  };
};
