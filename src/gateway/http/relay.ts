/**
 * One request to a host and its answer back, both as streams: nothing is kept but what the slower side
 * has not taken yet. Whoever breaks off breaks off the other side, too, and nothing is sent twice.
 *
 * Node's own client does it: it has what a proxy needs and `fetch` hides (100-continue, early hints,
 * trailers, upgrades, headers as they came), and keeps connections to hosts for the next request.
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

/** How an exchange ended without an answer. Only `unsent` proves that the host has seen nothing. */
export type Failure =
  | { kind: 'unsent' | 'broke_off'; cause: unknown }
  /** The host closed the connection on purpose, by a declared fault of its world. */
  | { kind: 'dropped' }
  | { kind: 'host_slow' | 'client_slow' | 'too_large' };

export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  upstream: Upstream;
  path: string;
  /** Names and values in turn. */
  headers: string[];
  agent: Agent;
  limits: Limits;
  expectsContinue: boolean;
  /** Whether the answer is to be the last one of its connection. */
  isLast(): boolean;
  /** Takes over both connections when the host changes the protocol. */
  onUpgrade?(answer: IncomingMessage, host: Socket, head: Buffer): void;
};

/** The status that a client was answered, 101 when the protocol was changed; undefined when it was not. */
export const answeredStatus = ({ headersSent, statusCode }: ServerResponse): number | undefined =>
  headersSent || statusCode === 101 ? statusCode : undefined;

/** A host that does not say whether to go on is sent the body after so long. */
const continueMs = 1_000;

/** Calls when the connection to the host stands; gives up when it does not come about. */
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
  /** False once the host has said all that it has to say: the rest of the body is thrown away. */
  isWanted(): boolean;
  onTooLarge(): void;
};

/** Sends the body on, with its trailers, as soon as the host wants it. */
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
        // A request that was cut short must not look whole, or its connection would be used again.
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

/** Sends the head of the answer. Throws, and has sent nothing, when it is none that can be sent. */
const sendHead = (exchange: Exchange, answer: IncomingMessage, hasTrailers: boolean): void => {
  const { request, response } = exchange;
  const { statusCode = 0, statusMessage = '' } = answer;
  if (statusCode < 200) throw new Error(`the status ${statusCode} ends no exchange`);
  response.sendDate = false;
  // What is left of a body that the host did not want would be taken for the next request.
  const isLast = exchange.isLast() || isSending(request);
  response.writeHead(statusCode, statusMessage, responseHeaders(answer, { hasTrailers, isLast }));
};

/**
 * Passes the answer on. One that breaks off in its middle breaks off for the client as well. Throws, and
 * has sent nothing, when it has no head that can be sent.
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
    // Node sends no links that it cannot read, and hints may be left out.
  }
};

/** Tells whether the host has said that it will close the connection on purpose. */
const watchForDrop = (outgoing: ClientRequest): (() => boolean) => {
  let isDropped = false;
  outgoing.on('information', ({ headers }) => {
    isDropped ||= headers[droppedHeader] !== undefined;
  });
  return () => isDropped;
};

/** Early hints and the like, which are on their way before the answer. HTTP/1.0 knows none of them. */
const sendInformation = ({ request, response }: Exchange, outgoing: ClientRequest): void => {
  if (request.httpVersion !== '1.1') return;
  outgoing.on('information', ({ statusCode, headers: { link } }) => {
    if (response.headersSent) return;
    if (statusCode === 102) response.writeProcessing();
    if (statusCode === 103 && link !== undefined) passHints(response, link);
  });
};

type Silence = { onClient(): void; onHost(): void };

/** Judges either side by its silence: only one that is waited for is at fault. */
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
 * Sends the request and passes the answer on. Resolves with why there is none, and then nothing was
 * answered; or with undefined, when the answer is on its way or the client has gone.
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
    // A host that answered before it had the whole request would wait for the rest.
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
      response.statusCode = 101; // it is sent outside of the response
      onUpgrade(answer, host as Socket, head);
      settle();
    });
  }
  whenConnected(outgoing, limits.connectMs, () => {
    isConnected = true;
    // Not before: a body that was read for a host that is not there could not be sent to another.
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
