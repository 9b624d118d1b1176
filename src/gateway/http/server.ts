/**
 * The listening side: Node's HTTP server with its parser at its strictest, and answers in the gateway's
 * own shape where a request could not even be read. What to do with a request is the caller's.
 */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from '../config.ts';
import {
  badRequest,
  clientTooSlow,
  headersTooLarge,
  noSuchExpectation,
  noTunnelHere,
  type Refusal,
} from '../refusals.ts';
import { answerRefusal, refuseConnection } from './answer-refusal.ts';

export type Arrival = {
  request: IncomingMessage;
  response: ServerResponse;
  /** The client asks to be told before it sends its body. */
  expectsContinue: boolean;
  /** The connection, when the client wants to change its protocol, with what came after the request. */
  upgrade: { protocol: string; socket: Socket; head: Buffer } | undefined;
};

/** Clients that offer to speak a later HTTP are served in this one. */
const notTunnelled = /^(?:h2c|tls)\b/i;

const codeOf = (error: Error): string | undefined => (error as NodeJS.ErrnoException).code;

const faultOf = (error: Error, { headerBytes }: Limits): Refusal => {
  if (codeOf(error) === 'HPE_HEADER_OVERFLOW') return headersTooLarge(headerBytes);
  if (codeOf(error) === 'ERR_HTTP_REQUEST_TIMEOUT') return clientTooSlow();
  return badRequest('this is no request of HTTP/1.1 as it is written');
};

/** An answer on a connection that Node's server has let go of. It is the last one there. */
const responseOn = (request: IncomingMessage, socket: Socket): ServerResponse => {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    response.detachSocket(socket);
    socket.end();
  });
  return response;
};

/** Requests that a client may send before it has the answer to the first; nobody sends so many. */
const mostPipelined = 32;

/**
 * Takes the requests of each connection one after another, as their client sent them: what it sends
 * without waiting for answers may depend on what comes before.
 */
const inTurn = (handle: (arrival: Arrival) => void) => {
  const queues = new WeakMap<Socket, Arrival[]>();
  const begin = (arrival: Arrival, queue: Arrival[]): void => {
    arrival.response.once('close', () => {
      queue.shift();
      const [next] = queue;
      if (next !== undefined && !next.request.socket.destroyed) begin(next, queue);
    });
    handle(arrival);
  };
  return {
    take(arrival: Arrival): void {
      const { request, response } = arrival;
      request.on('error', () => undefined); // its end is what counts
      response.on('error', () => undefined);
      const queue = queues.get(request.socket) ?? [];
      queues.set(request.socket, queue);
      queue.push(arrival);
      if (queue.length === 1) begin(arrival, queue);
      else if (queue.length > mostPipelined) request.socket.destroy();
    },
    /** The answer that a connection waits for. */
    current: (socket: Socket): ServerResponse | undefined => queues.get(socket)?.[0]?.response,
  };
};

/** Makes a server, which does not listen yet. */
export const createGatewayServer = (limits: Limits, handle: (arrival: Arrival) => void): Server => {
  const { take, current } = inTurn(handle);
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(limits.headersMs, 5_000),
    requireHostHeader: false,
    noDelay: true,
    shouldUpgradeCallback: ({ headers }) => !notTunnelled.test(headers.upgrade ?? ''),
  });
  server.timeout = limits.clientMs;
  server.maxConnections = limits.connections;
  // Bytes are bounded already. A bound on the number would drop headers without a word.
  server.maxHeadersCount = 0;
  return server
    .on('request', (request, response) =>
      take({ request, response, expectsContinue: false, upgrade: undefined }),
    )
    .on('checkContinue', (request, response) =>
      take({ request, response, expectsContinue: true, upgrade: undefined }),
    )
    .on('checkExpectation', (request, response) =>
      answerRefusal(request, response, noSuchExpectation(), true),
    )
    .on('upgrade', (request, duplex, head) => {
      const socket = duplex as Socket;
      socket.on('error', () => socket.destroy());
      const protocol = request.headers.upgrade ?? '';
      const response = responseOn(request, socket);
      take({ request, response, expectsContinue: false, upgrade: { protocol, socket, head } });
    })
    .on('connect', (_, socket) => {
      socket.on('error', () => socket.destroy());
      refuseConnection(socket, noTunnelHere());
    })
    .on('clientError', (error, duplex) => {
      const socket = duplex as Socket;
      const isHeard = socket.writable && current(socket)?.headersSent !== true;
      if (isHeard && codeOf(error) !== 'ECONNRESET')
        refuseConnection(socket, faultOf(error, limits));
      else socket.destroySoon();
    });
};
