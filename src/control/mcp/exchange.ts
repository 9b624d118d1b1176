/**
 * Exchanges the messages of one request of Streamable HTTP without sessions. A server is made for them, and its answers
 * come back as JSON, or as an event stream where they take longer or report progress. Revisions with a handshake are
 * spoken by the official SDK; this is its transport, because results are JSON that stays text here and may be large.
 *
 * Nothing is kept between two requests. So the server asks clients for nothing, and a cancellation, which until
 * 2025-11-25 comes as a request of its own, has no effect: the call goes on to its end and its log says how. A client
 * that has left is not waited for any longer.
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
import type { Face } from './face.ts';
import { answerRequest, invalidParams } from './methods.ts';
import { capabilities, type Speaker, type SpeakerOptions, serverInfo } from './speaker.ts';
import { createStateless } from './stateless.ts';

/** An answer that takes longer than this becomes a stream, in milliseconds. */
const jsonMs = 5_000;

/** Loaded with the first request: the SDK takes a fifth of a second, and many installations never need it. */
const loadServer = (): Promise<typeof Server> => {
  loading ??= import('@modelcontextprotocol/sdk/server/index.js').then((module) => module.Server);
  return loading;
};
let loading: Promise<typeof Server> | undefined;

/** Asked for by a server that elicits, which ours do not; the SDK makes a validator of its own otherwise. */
const noValidator = {
  getValidator(): never {
    throw new Error('nothing is elicited');
  },
};

type Id = NonNullable<RpcMessage['id']>;
const isRequest = ({ message }: KeptMessage): boolean =>
  message.method !== undefined && message.id !== undefined;

const isStatelessMessage = ({ message }: KeptMessage): boolean =>
  message.method !== 'initialize' && isStateless(versionOf(message));

const keyOf = (id: Id): string => JSON.stringify(id);

/** Collects what the server sends: answers by the ids of their requests, and notices as soon as they come. */
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
    /** From now on all goes to a stream, what came until now first. */
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

/** Throws `invalid` for messages that cannot be told apart, or say neither what they ask nor what they answer. */
const checkMessages = ({ messages }: KeptMessages): KeptMessage[] => {
  const requests = messages.filter(isRequest);
  const ids = new Set(requests.map(({ message }) => keyOf(message.id as Id)));
  if (ids.size < requests.length) throw invalid('two requests have the same id');
  return requests;
};

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Some proxies hold answers back until they are whole, unless they are told.
  'x-accel-buffering': 'no',
};

/** Codes of refusals until 2025-11-25. */
const codes: Partial<Record<ErrorCode, number>> = { invalid: invalidParams, not_found: -32_002 };
const refusedCode = -32_000;
const codeOf = ({ code }: AppError): number => codes[code] ?? refusedCode;

export type ExchangeOptions = SpeakerOptions & {
  /** Told once all has been answered, or nobody waits for it any more; perhaps twice. */
  onEnd(): void;
};

/** Makes a server of the SDK, which speaks the revisions up to 2025-11-25. */
const createHandshakeServer = async (
  face: Face,
  byId: ReadonlyMap<string, KeptMessage>,
  { signal, log }: SpeakerOptions,
): Promise<Speaker> => {
  const server = new (await loadServer())(
    { ...serverInfo, title: face.title },
    {
      capabilities,
      instructions: face.instructions,
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
    return answerRequest(face, request, { texts, notify, codeOf, signal, log });
  };
  return server;
};

/** Exchanges the messages of one request. What goes on after it has answered ends with its client. */
export const exchange = async (
  face: Face,
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
      ? createStateless(face, first, { signal, log })
      : await createHandshakeServer(face, byId, { signal, log });
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
