/** A receiver of webhooks: it keeps each request byte for byte, and answers as the test decides. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '#runtime/pause.ts';

export type Received = { path: string; headers: IncomingHttpHeaders; body: Buffer };

/** Answers a delivery; `n` is its number, from 0. */
export type Respond = (
  received: Received,
  n: number,
  response: ServerResponse,
) => void | Promise<void>;

export type Receiver = {
  url: string;
  received: Received[];
  /** Resolves when this many deliveries have arrived. */
  count(most: number): Promise<Received[]>;
  /** Stops listening at its address. */
  leave(): Promise<void>;
  /** Listens at the same address again. */
  comeBack(): Promise<void>;
};

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const accept: Respond = (_received, _n, response) => {
  response.writeHead(204).end();
};

/** Starts a receiver on loopback. */
export const startReceiver = async (respond: Respond = accept): Promise<Receiver> => {
  const received: Received[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    const one = { path: request.url ?? '', headers: request.headers, body };
    received.push(one);
    await respond(one, received.length - 1, response);
  };
  let server = createServer((request, response) => void serve(request, response));
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    async count(most) {
      await until(() => received.length >= most, { timeoutMs: 30_000, what: `${most} deliveries` });
      return received;
    },
    async leave() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
    async comeBack() {
      server = createServer((request, response) => void serve(request, response));
      await listen(port);
    },
  };
};
