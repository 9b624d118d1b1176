/**
 * Relays one request to a host and streams the answer back. Only data that the slower end has not read yet is buffered.
 * If the client or the host breaks off, the connection to the other is closed too. Nothing is sent twice.
 * It uses Node's own HTTP client, which has what a proxy needs and `fetch` hides: 100-continue, early hints, trailers,
 * upgrades and raw headers. The client also keeps connections to hosts open for later requests.
 */
import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { droppedHeader } from '#wire/dropped.ts';
import { hasBody, responseHeaders, trailersOf } from './forwarded-headers.ts';
import type { Limits } from './limits.ts';
import { pump } from './pump.ts';
import { endGently, isSending } from './refuser.ts';
import type { Upstream } from './upstreams.ts';

/** Reason why an exchange ended without an answer. Only `unsent` guarantees that the host received nothing. */
export type Failure =
  | { kind: 'unsent' | 'broke_off'; cause: unknown }
  /** The host closed the connection on purpose, because the world declares a connection drop as a fault. */
  | { kind: 'dropped' }
  | { kind: 'host_slow' | 'client_slow' | 'too_large' };

export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  upstream: Upstream;
  path: string;
  /** Headers, as names and values alternating. */
  headers: string[];
  agent: Agent;
  limits: Limits;
  expectsContinue: boolean;
  /** Returns true if the connection closes after this answer. */
  isLast(): boolean;
  /** Takes over the connections to client and host when the host switches the protocol. */
  onUpgrade?(answer: IncomingMessage, host: Socket, head: Buffer): void;
};

/** Returns the status that was sent to the client, 101 after a protocol switch; undefined if none was sent. */
export const answeredStatus = ({ headersSent, statusCode }: ServerResponse): number | undefined =>
  headersSent || statusCode === 101 ? statusCode : undefined;

/** Time to wait for the host's `100 Continue`, in milliseconds. After it the body is sent anyway. */
const continueMs = 1_000;

/**
 * Calls `then` when the connection to the host is established. Destroys the request if that takes longer than
 * `connectMs`.
 */
const whenConnected = (outgoing: ClientRequest, connectMs: number, then: () => void): void => {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return then();
    const late = () => outgoing.destroy(new Error(`no connection in ${connectMs} ms`));
    const timer = setTimeout(late, connectMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      then();
    });
    outgoing.once('close', () => clearTimeout(timer));
  });
};

type BodyOptions = {
  /** Returns false once the host has sent its whole answer; the rest of the request's body is then discarded. */
  isWanted(): boolean;
  onTooLarge(): void;
};

/** Sends the body and its trailers to the host as soon as the host accepts them. */
const sendBody = (
  { request, response, limits, expectsContinue }: Exchange,
  outgoing: ClientRequest,
  { isWanted, onTooLarge }: BodyOptions,
): void => {
  let bytes = 0;
  let isBegun = false;
  const begin = (): void => {
    if (isBegun || outgoing.destroyed || response.destroyed) return;
    isBegun = true;
    if (expectsContinue && !response.headersSent) response.writeContinue();
    pump(request, outgoing, {
      readsFirst: true,
      onChunk(chunk) {
        bytes += chunk.length;
        if (bytes > limits.bodyBytes) onTooLarge();
        return bytes <= limits.bodyBytes && isWanted();
      },
      onEnd() {
        // If the request was cut short, the one to the host must not be ended: it would look complete, and its
        // connection would be reused.
        if (!isWanted()) return;
        const trailers = trailersOf(request);
        if (trailers.length > 0) outgoing.addTrailers(trailers);
        outgoing.end();
      },
    });
  };
  outgoing.flushHeaders();
  if (!expectsContinue) {
    begin();
    return;
  }
  const timer = setTimeout(begin, continueMs);
  outgoing.once('continue', begin).once('response', () => clearTimeout(timer));
  outgoing.once('close', () => clearTimeout(timer));
};

/** Sends the status and headers of the answer. Throws, before anything is sent, if they cannot be sent. */
const sendHead = (exchange: Exchange, answer: IncomingMessage, hasTrailers: boolean): void => {
  const { request, response } = exchange;
  const { statusCode = 0, statusMessage = '' } = answer;
  if (statusCode < 200)
    throw new Error(`the host answered with status ${statusCode}, which is not a final status`);
  response.sendDate = false;
  // If the host does not read the whole body, its rest would be parsed as the next request, so the connection closes.
  const isLast = exchange.isLast() || isSending(request);
  response.writeHead(statusCode, statusMessage, responseHeaders(answer, { hasTrailers, isLast }));
};

/**
 * Streams the answer to the client. If the host breaks off in the middle, the client's connection is closed too.
 * Throws, before anything is sent, if the status and headers cannot be sent.
 */
const sendAnswer = (exchange: Exchange, answer: IncomingMessage, onRead: () => void): void => {
  const { request, response } = exchange;
  const hasTrailers =
    answer.headers['transfer-encoding'] !== undefined &&
    answer.headers['content-length'] === undefined &&
    request.httpVersion === '1.1' &&
    request.method !== 'HEAD';
  sendHead(exchange, answer, hasTrailers);
  const flushing = setImmediate(() => response.flushHeaders());
  answer.on('close', () => {
    if (!answer.complete) response.destroy();
  });
  pump(answer, response, {
    onChunk() {
      clearImmediate(flushing);
      return true;
    },
    onEnd() {
      clearImmediate(flushing);
      if (!answer.complete) return;
      onRead();
      if (hasTrailers) response.addTrailers(trailersOf(answer));
      endGently(request, response);
    },
  });
};

const passHints = (response: ServerResponse, link: string | string[]): void => {
  try {
    response.writeEarlyHints({ link: [link].flat() });
  } catch {
    // Node rejects links that it cannot parse, and early hints are optional.
  }
};

/** Returns a function that is true once the host has announced that it will drop the connection on purpose. */
const watchForDrop = (outgoing: ClientRequest): (() => boolean) => {
  let isDropped = false;
  outgoing.on('information', ({ headers }) => {
    isDropped ||= headers[droppedHeader] !== undefined;
  });
  return () => isDropped;
};

/** Forwards informational responses (102, 103), which precede the answer. Clients of HTTP/1.0 get none. */
const sendInformation = ({ request, response }: Exchange, outgoing: ClientRequest): void => {
  if (request.httpVersion !== '1.1') return;
  outgoing.on('information', ({ statusCode, headers: { link } }) => {
    if (response.headersSent) return;
    if (statusCode === 102) response.writeProcessing();
    if (statusCode === 103 && link !== undefined) passHints(response, link);
  });
};

type Silence = { onClient(): void; onHost(): void };

/**
 * Detects a client or host that stays silent for too long. Silence only counts against the one whose data the other
 * waits for.
 */
const watchSilence = (
  { request, response, limits }: Exchange,
  outgoing: ClientRequest,
  { onClient, onHost }: Silence,
): void => {
  const takesNothing = () => response.writableNeedDrain;
  const owesBody = () => isSending(request) && !outgoing.writableNeedDrain;
  response.on('timeout', () => {
    if (takesNothing()) response.destroy();
    else if (owesBody()) onClient();
    else request.socket.setTimeout(limits.clientMs);
  });
  outgoing.on('timeout', () => {
    if (takesNothing() || owesBody()) outgoing.socket?.setTimeout(limits.answerMs);
    else onHost();
  });
};

const open = ({ request, upstream, path, headers, agent, limits }: Exchange): ClientRequest =>
  openRequest({
    ...upstream,
    path,
    method: request.method,
    headers,
    agent,
    timeout: limits.answerMs,
    maxHeaderSize: limits.headerBytes,
  });

/**
 * Relays the request and streams the answer to the client. Resolves with the reason if no answer was sent to the
 * client. Resolves with undefined if the answer was begun or the client has gone.
 */
export const relay = (exchange: Exchange): Promise<Failure | undefined> => {
  const { request, response, onUpgrade, limits } = exchange;
  const outcome = Promise.withResolvers<Failure | undefined>();
  const outgoing = open(exchange);
  let isConnected = false;
  let isAnswered = false;
  let isRead = false;
  const isDropped = watchForDrop(outgoing);
  const settle = (failure?: Failure): void => {
    outcome.resolve(failure?.kind === 'broke_off' && isDropped() ? { kind: 'dropped' } : failure);
    if (failure === undefined) return;
    outgoing.destroy();
    if (isAnswered) response.destroy();
  };
  const onClientGone = (): void => {
    // If the host answered before it read the whole request, it would wait for the rest, so its connection is closed.
    if (!response.writableFinished || !outgoing.writableFinished) outgoing.destroy();
    settle();
  };
  response.once('close', onClientGone);
  outgoing
    .on('error', (cause) => {
      if (!isAnswered) settle({ kind: isConnected ? 'broke_off' : 'unsent', cause });
    })
    .once('response', (answer) => {
      try {
        sendAnswer(exchange, answer, () => {
          isRead = true;
        });
      } catch (cause) {
        return settle({ kind: 'broke_off', cause });
      }
      isAnswered = true;
      settle();
    })
    .once('close', () => {
      response.off('close', onClientGone);
      settle(isAnswered ? undefined : { kind: 'broke_off', cause: new Error('closed') });
    });
  if (onUpgrade !== undefined) {
    outgoing.once('upgrade', (answer, host, head) => {
      isAnswered = true;
      response.statusCode = 101; // for the metrics; the head is sent outside of the response
      onUpgrade(answer, host as Socket, head);
      settle();
    });
  }
  whenConnected(outgoing, limits.connectMs, () => {
    isConnected = true;
    // The body is not read before the host is connected: once read, it could not be sent to another host.
    if (hasBody(request)) {
      const onTooLarge = () => settle({ kind: 'too_large' });
      sendBody(exchange, outgoing, { isWanted: () => !isRead, onTooLarge });
    }
  });
  sendInformation(exchange, outgoing);
  watchSilence(exchange, outgoing, {
    onClient: () => settle({ kind: 'client_slow' }),
    onHost: () => settle({ kind: 'host_slow' }),
  });
  if (!hasBody(request)) outgoing.end();
  return outcome.promise;
};
