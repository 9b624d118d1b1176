/** Exchanges over TLS. They use Node's client, which handles certificates, server names and TLS sessions. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import {
  type Callbacks,
  connectMs,
  lateConnection,
  type Sent,
  type Underway,
} from './exchanged.ts';
import { https } from './http.ts';

/** Fails a request whose connection is not established in time, with an error in the form of the system's own. */
const watchConnect = (request: ClientRequest): void => {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => request.destroy(lateConnection()), connectMs);
    const settled = (): void => clearTimeout(timer);
    socket.once('connect', settled).once('close', settled);
  });
};

/**
 * Returns the length header of a body. Node sends none with the body of a DELETE, and the server would then read that
 * body as another request.
 */
const lengthOf = (body: string | undefined): Record<string, string> =>
  body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };

/** Reads an answer to its end. */
const read = (response: IncomingMessage, { done, failed }: Callbacks): void => {
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

/** Starts an exchange over TLS. */
export const askSecurely = (address: string, sent: Sent, callbacks: Callbacks): Underway => {
  const { method, body } = sent;
  const headers = { ...sent.headers, ...lengthOf(body) };
  const request = https().request(address, { method, headers });
  watchConnect(request);
  request.on('error', callbacks.failed);
  request.on('response', (response) => read(response, callbacks));
  request.end(body);
  return { cut: (error) => void request.destroy(error) };
};
