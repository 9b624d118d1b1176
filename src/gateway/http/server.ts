/**
 * HTTP server of the gateway: Node's server with its strictest parser settings. It answers requests that cannot be
 * parsed with an error in the gateway's own form. The caller handles all other requests.
 */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { keepAliveTimeouts } from '#runtime/listen.ts';
import type { Limits } from './limits.ts';
import {
  badRequest,
  clientTooSlow,
  headersTooLarge,
  noSuchExpectation,
  noTunnelHere,
  type Refusal,
} from './refusals.ts';
import type { Refuser } from './refuser.ts';
import { RequestQueues } from './request-queue.ts';

export type Arrival = {
  request: IncomingMessage;
  response: ServerResponse;
  /** True if the client waits for `100 Continue` before it sends its body. */
  expectsContinue: boolean;
  /** Connection of a client that wants to switch the protocol, with the bytes that followed the request. */
  upgrade: { protocol: string; socket: Socket; head: Buffer } | undefined;
};

/**
 * Protocols that are not tunnelled: offers of a later HTTP version or of TLS are ignored, and the request is served as
 * HTTP/1.1.
 */
const notTunnelled = /^(?:h2c|tls)\b/i;

const codeOf = (error: Error): string | undefined => (error as NodeJS.ErrnoException).code;

const faultOf = (error: Error, { headerBytes }: Limits): Refusal => {
  if (codeOf(error) === 'HPE_HEADER_OVERFLOW') return headersTooLarge(headerBytes);
  if (codeOf(error) === 'ERR_HTTP_REQUEST_TIMEOUT') return clientTooSlow();
  return badRequest('the request is not valid HTTP/1.1');
};

/** Attaches an answer to a connection that Node's server no longer manages. It is the last answer of the connection. */
const answerOn = (response: ServerResponse, socket: Socket): void => {
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    response.detachSocket(socket);
    socket.end();
  });
};

/** Creates a server, which does not listen yet. */
export const createGatewayServer = (
  limits: Limits,
  refuser: Refuser,
  handle: (arrival: Arrival) => void,
): Server => {
  const queues = new RequestQueues();
  const take = (arrival: Arrival, begin = () => handle(arrival)): void => {
    const { request, response } = arrival;
    request.on('error', () => undefined); // only the end of the request matters
    response.on('error', () => undefined);
    queues.add(request.socket, { exchange: arrival, begin });
  };
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: 0,
    ...keepAliveTimeouts,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(limits.headersMs, 5_000),
    requireHostHeader: false,
    noDelay: true,
    shouldUpgradeCallback: ({ headers }) => !notTunnelled.test(headers.upgrade ?? ''),
  });
  server.timeout = limits.clientMs;
  server.maxConnections = limits.connections;
  // Header bytes are limited already. A limit on the count would drop headers silently.
  server.maxHeadersCount = 0;
  return server
    .on('request', (request, response) =>
      take({ request, response, expectsContinue: false, upgrade: undefined }),
    )
    .on('checkContinue', (request, response) =>
      take({ request, response, expectsContinue: true, upgrade: undefined }),
    )
    .on('checkExpectation', (request, response) =>
      refuser.answer(request, response, noSuchExpectation(), { isLast: true }),
    )
    .on('upgrade', (request, duplex, head) => {
      const socket = duplex as Socket;
      socket.on('error', () => socket.destroy());
      // Node's server forwards no events of a detached connection to its responses.
      socket.on('drain', () => queues.current(socket)?.emit('drain'));
      const protocol = request.headers.upgrade ?? '';
      const response = new ServerResponse(request);
      const arrival: Arrival = {
        request,
        response,
        expectsContinue: false,
        upgrade: { protocol, socket, head },
      };
      take(arrival, () => {
        answerOn(response, socket);
        handle(arrival);
      });
    })
    .on('connect', (_, duplex) => {
      const socket = duplex as Socket;
      socket.on('error', () => socket.destroy());
      socket.on('drain', () => queues.current(socket)?.emit('drain'));
      queues.addLast(socket, () => refuser.endConnection(socket, noTunnelHere()));
    })
    .on('clientError', (error, duplex) => {
      const socket = duplex as Socket;
      if (codeOf(error) === 'ECONNRESET' || !socket.writable) return void socket.destroySoon();
      queues.addLast(socket, () => {
        if (queues.current(socket)?.headersSent === true) socket.destroySoon();
        else refuser.endConnection(socket, faultOf(error, limits));
      });
    });
};
