/**
 * Exchanges the messages of one HTTP request over Streamable HTTP, without protocol sessions. It creates a server for
 * each request. Answers are sent as JSON, or as an event stream if they take longer or report progress. The official
 * SDK serves the revisions with a handshake. This file implements the SDK's transport, because results here are JSON
 * that stays text and may be large.
 *
 * No state is kept between two requests, so the server sends no requests to clients. Until revision 2025-11-25 a
 * cancellation is a separate request. It has no effect here: the call completes, and the session's log has its result.
 * If the client disconnects, the exchange ends.
 */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { AppError, type ErrorCode } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';
import { isStateless, versionOf } from '#wire/mcp-revisions.ts';
import type { RpcMessage } from '#wire/public-api/sessions/mcp-operations.ts';
import type { KeptMessage, KeptMessages } from '../base/bodies/rpc.ts';
import { writeJson } from '../base/json/json-text.ts';
import { createEvents, type EventStream } from './events.ts';
import type { McpHandler } from './handler.ts';
import {
  capabilities,
  type MessageServer,
  type MessageServerOptions,
  serverInfo,
} from './message-server.ts';
import { answerRequest, invalidParams } from './methods.ts';
import { createStateless } from './stateless.ts';

/** Time after which an answer becomes a stream, in milliseconds. */
const jsonMs = 5_000;

/** Loads the SDK at the first request, because loading takes 0.2 s and many installations never need it. */
const loadServer = (): Promise<typeof Server> => {
  loading ??= import('@modelcontextprotocol/sdk/server/index.js').then((module) => module.Server);
  return loading;
};
let loading: Promise<typeof Server> | undefined;

/**
 * Placeholder that keeps the SDK from creating a JSON Schema validator. Only servers that elicit input from users need
 * one; ours do not elicit input.
 */
const noValidator = {
  getValidator(): never {
    throw new Error('this server elicits no input, so it validates none');
  },
};

type Id = NonNullable<RpcMessage['id']>;
const isRequest = ({ message }: KeptMessage): boolean =>
  message.method !== undefined && message.id !== undefined;

const isStatelessMessage = ({ message }: KeptMessage): boolean =>
  message.method !== 'initialize' && isStateless(versionOf(message));

const keyOf = (id: Id): string => JSON.stringify(id);

/** Creates a transport that collects what the server sends: notifications, and answers by the ids of their requests. */
const createTransport = (ids: ReadonlySet<string>) => {
  const answers = new Map<string, JSONRPCMessage>();
  const whole = Promise.withResolvers<void>();
  const noticed = Promise.withResolvers<void>();
  const notifications: JSONRPCMessage[] = [];
  let events: EventStream | undefined;
  const transport: Transport = {
    start: async () => undefined,
    close: async () => transport.onclose?.(),
    async send(message) {
      if (!('id' in message) || 'method' in message) {
        if (events === undefined) notifications.push(message);
        else events.send(writeJson(message));
        noticed.resolve();
        return;
      }
      if (message.id === undefined || !ids.has(keyOf(message.id))) return;
      answers.set(keyOf(message.id), message);
      events?.send(writeJson(message));
      if (answers.size === ids.size) whole.resolve();
    },
  };
  return {
    transport,
    answers,
    whole: whole.promise,
    noticed: noticed.promise,
    /** Switches to an event stream, and sends it everything that was collected so far. */
    stream(): EventStream {
      events = createEvents();
      for (const message of [...notifications, ...answers.values()])
        events.send(writeJson(message));
      return events;
    },
  };
};

export type Exchanged =
  | { status: 200; body: unknown; headers?: Record<string, string> }
  | { status: 202; body: undefined };

const invalid = (message: string): AppError => new AppError('invalid', message);

/** Returns the requests among the messages; throws `invalid` if two of them have the same id. */
const checkMessages = ({ messages }: KeptMessages): KeptMessage[] => {
  const requests = messages.filter(isRequest);
  const ids = new Set(requests.map(({ message }) => keyOf(message.id as Id)));
  if (ids.size < requests.length) throw invalid('two requests have the same id');
  return requests;
};

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Some proxies buffer answers until they are complete, unless this header forbids it.
  'x-accel-buffering': 'no',
};

/** Error codes of refusals up to revision 2025-11-25. */
const codes: Partial<Record<ErrorCode, number>> = { invalid: invalidParams, not_found: -32_002 };
const refusedCode = -32_000;
const codeOf = ({ code }: AppError): number => codes[code] ?? refusedCode;

export type ExchangeOptions = MessageServerOptions & {
  /** Called when all requests are answered or the client has disconnected; it may be called twice. */
  onEnd(): void;
};

/** Creates a server of the SDK, which serves the protocol revisions up to 2025-11-25. */
const createHandshakeServer = async (
  handler: McpHandler,
  byId: ReadonlyMap<string, KeptMessage>,
  { signal, log }: MessageServerOptions,
): Promise<MessageServer> => {
  const server = new (await loadServer())(
    { ...serverInfo, title: handler.title },
    {
      capabilities,
      instructions: handler.instructions,
      jsonSchemaValidator: noValidator,
    },
  );
  server.fallbackRequestHandler = (request: JSONRPCRequest, extra) => {
    const texts = byId.get(keyOf(request.id))?.argumentTexts ?? null;
    const notify = (progress: number, message: string) => {
      const token = extra._meta?.progressToken;
      if (token === undefined) return;
      const params = { progressToken: token, progress, message };
      void extra.sendNotification({ method: 'notifications/progress', params });
    };
    return answerRequest(handler, request, { texts, notify, codeOf, signal, log });
  };
  return server;
};

/**
 * Exchanges the messages of one request. If the client disconnects, the exchange ends, with its event stream if there
 * is one.
 */
export const exchange = async (
  handler: McpHandler,
  kept: KeptMessages,
  { signal, log, onEnd }: ExchangeOptions,
): Promise<Exchanged> => {
  const requests = checkMessages(kept);
  if (requests.length === 0) {
    onEnd();
    return { status: 202, body: undefined };
  }
  const byId = new Map(requests.map((one) => [keyOf(one.message.id as Id), one]));
  const collected = createTransport(new Set(byId.keys()));
  const { transport, answers, whole, noticed } = collected;
  const [first] = requests;
  const server =
    first !== undefined && isStatelessMessage(first)
      ? createStateless(handler, first, { signal, log })
      : await createHandshakeServer(handler, byId, { signal, log });
  await server.connect(transport);
  const ended = whole.finally(() => {
    onEnd();
    void server.close();
  });
  const gone = () => {
    onEnd();
    void server.close();
  };
  if (signal.aborted) gone();
  else signal.addEventListener('abort', gone, { once: true });
  for (const { message } of kept.messages) transport.onmessage?.(message as JSONRPCMessage);
  const over = new AbortController();
  const isSlow = await Promise.race([
    ended.then(() => false),
    noticed.then(() => true),
    pause(jsonMs, over.signal).then(() => true),
  ]);
  over.abort();
  if (isSlow && !signal.aborted) {
    const events = collected.stream();
    signal.addEventListener('abort', () => events.end(), { once: true });
    void ended.then(() => events.end());
    return { status: 200, body: events.body, headers: streamHeaders };
  }
  const all = requests.map(({ message }) => answers.get(keyOf(message.id as Id)));
  return { status: 200, body: kept.isBatch ? all : all[0] };
};
