/**
 * One exchange of the client: a request with its body whole, and the answer read to its end. Redirects
 * are not followed, as none of the project's APIs sends any. Connections are kept for a few seconds.
 *
 * Every message between the programs goes through here, so it uses plain listeners and one timer: signals made
 * of signals, and streams read by iteration, cost as much as all the rest of an exchange.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { http, https } from './http.ts';

export type Exchange = {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal | undefined;
  /** How long the whole answer may take, in milliseconds; absent: as long as it likes. */
  answerMs?: number | undefined;
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

/** What a request that was not answered in time fails with. */
const lateAnswer = (ms: number): Error =>
  Object.assign(new Error(`no whole answer in ${ms} ms`), { code: 'ETIMEDOUT' });

/** Ends the request by its signal or when its time is over; what it returns gives both up. */
const bound = (request: ClientRequest, { signal, answerMs }: Exchange): (() => void) => {
  const abort = (): void => {
    request.destroy(new Error('given up by its sender', { cause: signal?.reason }));
  };
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  const timer =
    answerMs === undefined
      ? undefined
      : setTimeout(() => request.destroy(lateAnswer(answerMs)), answerMs);
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  };
};

/** Reads an answer to its end. */
const read = (
  response: IncomingMessage,
  done: (answer: Exchanged) => void,
  failed: (error: Error) => void,
): void => {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('error', failed);
  response.on('end', () =>
    done({
      status: response.statusCode ?? 0,
      contentType: response.headers['content-type'] ?? '',
      bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks),
    }),
  );
};

/** Throws when no whole answer came: Node's own error, or that it was given up or took too long. */
export const exchange = (url: string, sent: Exchange): Promise<Exchanged> =>
  new Promise((resolve, reject) => {
    const { method, body } = sent;
    const { request: begin } = url.startsWith('https:') ? https() : http;
    const request = begin(url, { method, headers: { ...sent.headers, ...lengthOf(body) } });
    watchConnect(request);
    const release = bound(request, sent);
    const failed = (error: Error): void => {
      release();
      reject(error);
    };
    const done = (answer: Exchanged): void => {
      release();
      resolve(answer);
    };
    request.on('error', failed);
    request.on('response', (response) => read(response, done, failed));
    request.end(body);
  });
