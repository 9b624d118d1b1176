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
import type { Limits } from '../config.ts';
import { hasBody, responseHeaders, trailersOf } from './forwarded-headers.ts';
import { pump } from './pump.ts';

export type Upstream = { host: string; port: number };

/** How an exchange ended without an answer. Only `unsent` proves that the host has seen nothing. */
export type Failure =
  | { kind: 'unsent' | 'broke_off'; cause: unknown }
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

/** Sends the body on, with its trailers, as soon as the host wants it. */
const sendBody = (
  { request, response, limits, expectsContinue }: Exchange,
  outgoing: ClientRequest,
  onTooLarge: () => void,
): void => {
  let bytes = 0;
  let isBegun = false;
  const begin = (): void => {
    if (isBegun || outgoing.destroyed || response.destroyed) return;
    isBegun = true;
    if (expectsContinue && !response.headersSent) response.writeContinue();
    pump(request, outgoing, {
      onChunk(chunk) {
        bytes += chunk.length;
        if (bytes > limits.bodyBytes) onTooLarge();
        return bytes <= limits.bodyBytes;
      },
      onEnd() {
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

/** Passes the answer on. One that breaks off in its middle breaks off for the client as well. */
const sendAnswer = (exchange: Exchange, answer: IncomingMessage): void => {
  const { request, response } = exchange;
  const hasTrailers =
    answer.headers['transfer-encoding'] !== undefined &&
    answer.headers['content-length'] === undefined &&
    request.httpVersion === '1.1' &&
    request.method !== 'HEAD';
  response.sendDate = false;
  // What is left of a body that the host did not want would be taken for the next request.
  const isLast = exchange.isLast() || (hasBody(request) && !request.complete);
  response.writeHead(
    answer.statusCode ?? 502,
    answer.statusMessage ?? '',
    responseHeaders(answer, { hasTrailers, isLast }),
  );
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
      if (hasTrailers) response.addTrailers(trailersOf(answer));
      response.end();
    },
  });
};

/** Early hints and the like, which are on their way before the answer. */
const sendInformation = (response: ServerResponse, outgoing: ClientRequest): void => {
  outgoing.on('information', ({ statusCode, headers }) => {
    if (response.headersSent) return;
    const { link } = headers;
    if (statusCode === 102) response.writeProcessing();
    if (statusCode === 103 && link !== undefined) response.writeEarlyHints({ link: [link].flat() });
  });
};

/** Judges a client that was silent for its time: only one that we wait for is at fault. */
const watchClient = (
  { request, response, limits }: Exchange,
  outgoing: ClientRequest,
  onSlow: () => void,
): void => {
  response.on('timeout', () => {
    if (response.writableNeedDrain) response.destroy();
    else if (hasBody(request) && !request.complete && !outgoing.writableNeedDrain) onSlow();
    else request.socket.setTimeout(limits.clientMs);
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
  const settle = (failure?: Failure): void => {
    outcome.resolve(failure);
    if (failure === undefined) return;
    outgoing.destroy();
    if (isAnswered) response.destroy();
  };
  const onClientGone = (): void => {
    if (!response.writableFinished) outgoing.destroy();
    settle();
  };
  response.once('close', onClientGone);
  outgoing
    .on('error', (cause) => {
      if (!isAnswered) settle({ kind: isConnected ? 'broke_off' : 'unsent', cause });
    })
    .on('timeout', () => settle({ kind: 'host_slow' }))
    .once('response', (answer) => {
      isAnswered = true;
      sendAnswer(exchange, answer);
      settle();
    })
    .once('close', () => {
      response.off('close', onClientGone);
      settle(isAnswered ? undefined : { kind: 'broke_off', cause: new Error('closed') });
    });
  if (onUpgrade !== undefined) {
    outgoing.once('upgrade', (answer, host, head) => {
      isAnswered = true;
      onUpgrade(answer, host as Socket, head);
      settle();
    });
  }
  whenConnected(outgoing, limits.connectMs, () => {
    isConnected = true;
    // Not before: a body that was read for a host that is not there could not be sent to another.
    if (hasBody(request)) sendBody(exchange, outgoing, () => settle({ kind: 'too_large' }));
  });
  sendInformation(response, outgoing);
  watchClient(exchange, outgoing, () => settle({ kind: 'client_slow' }));
  if (!hasBody(request)) outgoing.end();
  return outcome.promise;
};
