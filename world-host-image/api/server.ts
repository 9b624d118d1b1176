/**
 * HTTP server of the API surface. It listens from the start of the host. Before a session is served, it answers 503,
 * and after the session's end 410. It records each request in the session's ledger before answering.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limits } from '#domain/limits.ts';
import { lingerOn } from '#runtime/linger.ts';
import { keepAliveTimeouts } from '#runtime/listen.ts';
import type { Log } from '#runtime/log.ts';
import { http } from '#wire/http.ts';
import type { Serving } from '../session/serving.ts';
import type { Session } from '../session/session.ts';
import { type ApiAnswer, bodiless, jsonAnswer } from './answers/answer.ts';
import { dropConnection, holdBack } from './met.ts';
import { noteRequest } from './note-request.ts';
import { answerRequest } from './request.ts';
import type { ApiOutcome } from './requests/api-request.ts';
import { describeRequest, pathOf } from './requests/incoming.ts';

export type ApiServer = {
  /** Address with the port that the server listens on, like `http://127.0.0.1:4711`. */
  address: string;
  /** Stops accepting connections, and resolves when the requests in flight are answered. */
  close(): Promise<void>;
};

export type ApiServerOptions = {
  listen: { host: string; port: number };
  serving: Serving;
  /** Answers a request that is for another surface; returns false, without an answer, if the request is for the API. */
  elsewhere?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Returns a promise that requests must wait for before they are handled; undefined if they need not wait. */
  held?: () => Promise<void> | undefined;
  log: Log;
};

const serverOptions = { ...keepAliveTimeouts, requestTimeout: 30_000 };

const waitingAnswer = jsonAnswer(503, '{"message":"no session is served here yet"}');
const closedAnswer = jsonAnswer(410, '{"message":"the session served here has ended"}');
const cutOffAnswer: ApiAnswer = {
  ...jsonAnswer(
    503,
    `{"message":"this host has not reached the control plane for ${limits.hostSilenceMs / 1_000} s, so its session may have been reassigned; the request was not executed, try again or look at the session"}`,
  ),
  headers: { 'retry-after': '2' },
};
const provingAnswer: ApiAnswer = {
  ...jsonAnswer(
    503,
    '{"message":"the task of this session is being proved; ask again after that"}',
  ),
  headers: { 'retry-after': '2' },
};
const faultAnswer = jsonAnswer(500, '{"message":"internal error"}');

/** Headers that Node sets itself and that user code may not set. */
const ownHeaders = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive']);

/**
 * Returns header names and values alternating in one list, the form that Node writes fastest. If a header is set twice,
 * the later value counts.
 */
const headOf = (request: IncomingMessage, answer: ApiAnswer): string[] => {
  const { body, bytes, contentType, headers } = answer;
  const named = new Map<string, string>();
  if (body !== null) named.set('content-type', contentType);
  for (const [name, value] of Object.entries(headers)) named.set(name.toLowerCase(), value);
  for (const name of ownHeaders) named.delete(name);
  // Without a length, Node sends an empty body in chunks, which makes some clients wait.
  const length = body === null ? 0 : (bytes?.length ?? Buffer.byteLength(body));
  if (body !== null || !bodiless.has(answer.status)) named.set('content-length', String(length));
  // If the body was not read to its end, Node would parse the rest as the next request.
  if (!request.complete) named.set('connection', 'close');
  return [...named].flat();
};

const send = (request: IncomingMessage, response: ServerResponse, answer: ApiAnswer): void => {
  const { body, bytes, status } = answer;
  response.writeHead(status, headOf(request, answer));
  const sent = body === null ? undefined : (bytes ?? body);
  response.end(request.method === 'HEAD' ? undefined : sent);
};

const serveSession = async (
  session: Session,
  { serving, log }: ApiServerOptions,
  request: IncomingMessage,
): Promise<ApiOutcome> => {
  const at = new Date();
  const startedAt = performance.now();
  const described = describeRequest(request);
  const outcome = await answerRequest(session, described);
  if (outcome.authorized) serving.touch();
  if (outcome.fault !== undefined) {
    log.error({ err: outcome.fault, path: described.path }, 'failed');
  }
  noteRequest(session, described, outcome, { via: 'api', at, startedAt });
  return outcome;
};

/** Answer to send, or `dropped` if a declared fault drops the connection. */
type Outgoing = ApiAnswer | 'dropped';

const answerOf = async (options: ApiServerOptions, request: IncomingMessage): Promise<Outgoing> => {
  const { serving, log } = options;
  const state = serving.state();
  if (state.kind === 'waiting') return waitingAnswer;
  if (state.kind === 'closed') return closedAnswer;
  if (state.kind === 'cut_off') return cutOffAnswer;
  if (state.session.isProving === true) return provingAnswer;
  const visit = serving.enter();
  try {
    const outcome = await serveSession(state.session, options, request);
    const isDropped = await holdBack(outcome.met, request.socket, visit.ending);
    return isDropped ? 'dropped' : outcome.sent;
  } catch (error) {
    // A client that disconnects before its body is complete is not an error of the host.
    log[request.errored === null ? 'error' : 'debug'](
      { err: error, path: pathOf(request) },
      'failed',
    );
    return faultAnswer;
  } finally {
    visit.leave();
  }
};

/**
 * Returns a function that defers work to the end of the current turn of the event loop. If answers are sent together,
 * their client wakes up once instead of once for each answer. Waking a client costs as much as making an answer.
 */
const createTurnEnd = (): ((work: () => void) => void) => {
  let waiting: (() => void)[] = [];
  const doAll = (): void => {
    const works = waiting;
    waiting = [];
    for (const work of works) work();
  };
  return (work) => {
    if (waiting.push(work) === 1) setImmediate(doAll);
  };
};

const atTurnEnd = createTurnEnd();

const handle = async (
  options: ApiServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const answer = await answerOf(options, request);
  if (answer === 'dropped') return dropConnection(request, response);
  atTurnEnd(() => {
    try {
      send(request, response, answer);
    } catch (error) {
      // User code set a status or a header that HTTP does not allow.
      options.log.warn({ err: error, path: pathOf(request) }, 'an answer could not be sent');
      send(request, response, faultAnswer);
    }
  });
};

/** Starts the server. Throws if the address is in use. */
export const startApiServer = async (options: ApiServerOptions): Promise<ApiServer> => {
  const { host, port } = options.listen;
  const server = http.createServer(serverOptions, (request, response) => {
    request.on('error', (error) => options.log.debug({ err: error }, 'a request broke off'));
    const take = (): void => {
      if (options.elsewhere?.(request, response) !== true) void handle(options, request, response);
    };
    const held = options.held?.();
    if (held === undefined) take();
    else void held.then(take);
  });
  lingerOn(server).listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    address: `http://${name}:${address.port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
};
