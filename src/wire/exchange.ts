/**
 * One exchange of the client: a request with its body whole, and the answer read to its end. Redirects
 * are not followed, as none of the project's APIs sends any. Connections are kept for a few seconds.
 */
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { http, https } from './http.ts';

export type Exchange = {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal | undefined;
};

export type Exchanged = { status: number; contentType: string; bytes: Buffer };

/** A machine that does not take a connection within this time is not there. */
const connectMs = 10_000;

/** Fails a request whose connection does not come about, as the system does when it gives up. */
const watchConnect = (request: ClientRequest): void => {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => {
      const late = new Error(`no connection in ${connectMs / 1000} s`);
      request.destroy(Object.assign(late, { code: 'ETIMEDOUT', syscall: 'connect' }));
    }, connectMs);
    const settled = (): void => clearTimeout(timer);
    socket.once('connect', settled).once('close', settled);
  });
};

/** Node gives the body of a DELETE no length by itself, and the server would read it as a request. */
const lengthOf = (body: string | undefined): Record<string, string> =>
  body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };

/** Throws when no whole answer came: Node's own error, or `AbortError` when the signal ended it. */
export const exchange = async (url: string, sent: Exchange): Promise<Exchanged> => {
  const { method, signal } = sent;
  const headers = { ...sent.headers, ...lengthOf(sent.body) };
  const { request: begin } = url.startsWith('https:') ? https() : http;
  const request = begin(url, { method, headers, ...(signal === undefined ? {} : { signal }) });
  watchConnect(request);
  // An error that comes after the beginning of the answer is met where the rest is read.
  request.on('error', () => undefined);
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  request.end(sent.body);
  const [response] = await answered;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'] ?? '',
    bytes: Buffer.concat(chunks),
  };
};
