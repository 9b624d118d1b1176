/**
 * Proxy on this machine between a client and its vendor. It forwards the client's requests unchanged, including
 * credentials. It reports each exchange without credentials.
 */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { withoutByteOrderMark } from '#domain/json.ts';
import { keepAliveTimeouts } from '#runtime/listen.ts';
import type { SeenExchange } from '../draft/exchange.ts';
import { authOf } from '../draft/har.ts';
import { learnSecrets, type Secrets } from '../redact/secrets.ts';

export type ProxyOptions = {
  port: number;
  /** Base address of the vendor's API, without a slash at the end. */
  base: string;
  secrets: Secrets;
  timeoutMs: number;
  /** Called with each exchange when it ends. */
  seen(exchange: SeenExchange): void;
  failed(method: string, path: string, reason: string): void;
};

export type Proxy = { url: string; stop(): Promise<void> };

/** Headers that concern a single connection, and headers that `fetch` sets itself. */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...[
    'transfer-encoding',
    'upgrade',
    'host',
    'content-length',
    'content-encoding',
    'accept-encoding',
  ],
  'expect',
]);

const flat = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ofConnection.has(name) ? [] : [[name, [value].flat().join(', ')]],
    ),
  );

const parse = (bytes: Buffer): unknown => {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(withoutByteOrderMark(bytes.toString())) as unknown;
  } catch {
    return undefined;
  }
};

const relay = async (
  { base, secrets, timeoutMs, seen, failed }: ProxyOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { method = 'GET', url: path = '/' } = request;
  const headers = flat(request.headers);
  learnSecrets(headers, secrets);
  try {
    const sent = await buffer(request);
    const url = base + path;
    const hasBody = sent.length > 0 && method !== 'GET' && method !== 'HEAD';
    const answer = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(hasBody ? { body: sent } : {}),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const given = Object.fromEntries(
      [...answer.headers].filter(([name]) => !ofConnection.has(name)),
    );
    const cookies = answer.headers.getSetCookie();
    response.writeHead(
      answer.status,
      cookies.length === 0 ? given : { ...given, 'set-cookie': cookies },
    );
    response.end(bytes);
    seen({
      ...{ method, url, status: answer.status, headers: given },
      ...{ request: parse(sent), body: parse(bytes) ?? (bytes.length === 0 ? null : undefined) },
      ...{ auth: authOf(headers), at: new Date().toISOString() },
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no answer';
    if (!response.headersSent) response.writeHead(502, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: `the vendor could not be reached: ${code}` }));
    failed(method, path.split('?', 1)[0] ?? '', code);
  }
};

/** Starts the proxy on 127.0.0.1. */
export const startProxy = async (options: ProxyOptions): Promise<Proxy> => {
  const server = createServer(keepAliveTimeouts, (request, response) => {
    void relay(options, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        // Requests in progress still get their answer within this time; no new connection is accepted.
        setTimeout(() => server.closeAllConnections(), 2_000).unref();
      }),
  };
};
