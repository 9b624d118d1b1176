/**
 * Relays between an MCP client on standard input and output and a server that speaks Streamable HTTP. The relay sends
 * each message unchanged, in a request of its own, to the address that `direct` returns. It passes each answer back
 * unchanged. If a message cannot be sent, the relay answers with an error, so that the client does not wait for it.
 */
import type { Readable, Writable } from 'node:stream';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { AppError, describeError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import {
  encodeHeader,
  headerNames,
  isStateless,
  repeatedName,
  versionOf,
} from './mcp-revisions.ts';

export type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';

/** A message with the address that it is sent to. */
export type Sent = { address: string; message: JSONRPCMessage };

export type RelayOptions = {
  input: Readable;
  output: Writable;
  /** Value of the `Authorization` header. */
  authorization: string;
  /** Returns the address for a message. An error that it throws becomes the answer to the request. */
  direct(message: JSONRPCMessage): Promise<Sent>;
  /** Changes an answer before the client gets it. */
  adapt?(request: JSONRPCRequest, answer: JSONRPCMessage): JSONRPCMessage;
  /** Reports an error that belongs to no request, as a message for people. */
  note(message: string): void;
  /** Ends the relay. */
  signal?: AbortSignal;
};

/** Maximum size of a message of the client in bytes, because the message becomes the body of a request. */
const mostBytes = 64 * 1024 * 1024;
/** Time for which the relay waits for outstanding answers after the client has ended its input, in milliseconds. */
const lastMs = 30_000;

const internalError = -32_603;

const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message;

const keyOf = (id: unknown): string => JSON.stringify(id);

/** Returns the key of the request that a message answers. */
const answeredBy = (message: JSONRPCMessage): string | undefined =>
  'id' in message && !('method' in message) ? keyOf(message.id) : undefined;

/** Returns the key of the request that a notification cancels. */
const cancelledBy = (message: JSONRPCMessage): string | undefined =>
  'method' in message && message.method === 'notifications/cancelled'
    ? keyOf(message.params?.requestId)
    : undefined;

/** Returns the text of an error for people. A server's error is JSON, of which only the message is shown. */
const wordsOf = (error: unknown): string => {
  const text = describeError(error);
  const [, message] = /"message":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  return message === undefined ? text : String(JSON.parse(message));
};

/**
 * Returns the answer to a request that could not be sent. For a tool call it is a tool result, so that the model can
 * correct its call.
 */
const refusalOf = (request: JSONRPCRequest, error: unknown): JSONRPCMessage => {
  const base = { jsonrpc: '2.0', id: request.id } as const;
  const text = wordsOf(error);
  const isForModel =
    request.method === 'tools/call' &&
    error instanceof AppError &&
    (error.code === 'invalid' || error.code === 'forbidden');
  if (!isForModel) return { ...base, error: { code: internalError, message: text } };
  const kind = isStateless(versionOf(request)) ? { resultType: 'complete' } : {};
  return { ...base, result: { ...kind, content: [{ type: 'text', text }], isError: true } };
};

/**
 * Returns the headers that repeat parts of a message. Up to revision 2025-11-25 the only such header carries the
 * revision that was agreed on.
 */
const headersOf = (message: JSONRPCMessage, agreed: string | undefined) => {
  const own = 'method' in message ? versionOf(message) : undefined;
  if (!('method' in message) || typeof own !== 'string')
    return agreed === undefined ? {} : { [headerNames.version]: agreed };
  const name = repeatedName(message);
  return {
    [headerNames.version]: encodeHeader(own),
    [headerNames.method]: encodeHeader(message.method),
    ...(name === undefined ? {} : { [headerNames.name]: encodeHeader(name) }),
  };
};

const isAnswer = (text: string): boolean => {
  const body: unknown = JSON.parse(text);
  return isObject(body) && body.jsonrpc === '2.0' && (body.id ?? null) !== null;
};

/**
 * Fetches like `fetch`, but turns an error status with a JSON body into a normal answer, since the SDK would take it
 * for a broken transport.
 */
const fetchAnswer = async (url: string | URL, init?: RequestInit): Promise<Response> => {
  const response = await fetch(url, init);
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  if (response.ok || isJson !== true) return response;
  const text = await response.text();
  const status = isAnswer(text) ? 200 : response.status;
  return new Response(text, { status, headers: response.headers });
};

/** Creates the table of requests that wait for an answer. */
const createWaiting = () => {
  const all = new Map<string, { request: JSONRPCRequest; leaving: AbortController }>();
  let onEmpty: (() => void) | undefined;
  return {
    /** Adds a request and returns the signal that cancels it. */
    add(request: JSONRPCRequest): AbortSignal {
      const leaving = new AbortController();
      all.set(keyOf(request.id), { request, leaving });
      return leaving.signal;
    },
    /** Removes a request when it is answered; returns undefined if the request is not in the table. */
    take(key: string): JSONRPCRequest | undefined {
      const found = all.get(key);
      all.delete(key);
      return found?.request;
    },
    cancel(key: string): void {
      const found = all.get(key);
      all.delete(key);
      found?.leaving.abort();
      this.settle();
    },
    /** Resolves `whenEmpty` if no request waits for an answer any more. */
    settle: (): void => void (all.size === 0 && onEmpty?.()),
    whenEmpty: async (): Promise<void> => {
      if (all.size === 0) return;
      await new Promise<void>((resolve) => {
        onEmpty = resolve;
        setTimeout(resolve, lastMs).unref();
      });
    },
    cancelAll: (): void => {
      for (const { leaving } of all.values()) leaving.abort();
    },
  };
};

/** Relays until the client has ended its input or the signal aborts. */
export const relayStdio = async (options: RelayOptions): Promise<void> => {
  const { input, output, authorization, direct, adapt, note, signal } = options;
  const stdio = new StdioServerTransport(input, output, { maxBufferSize: mostBytes });
  const waiting = createWaiting();
  let agreed: string | undefined;

  const answer = async (message: JSONRPCMessage): Promise<void> => {
    const key = answeredBy(message);
    if (key === undefined) return stdio.send(message);
    const request = waiting.take(key);
    if (request === undefined) return;
    if (request.method === 'initialize' && 'result' in message)
      agreed = (message.result as { protocolVersion?: string }).protocolVersion;
    await stdio.send(adapt?.(request, message) ?? message);
    waiting.settle();
  };

  const post = async ({ address, message }: Sent, leaving?: AbortSignal): Promise<void> => {
    const server = new StreamableHTTPClientTransport(new URL(address), {
      requestInit: { headers: { authorization, ...headersOf(message, agreed) } },
      fetch: fetchAnswer,
    });
    server.onmessage = (back) => void (leaving?.aborted === true ? undefined : answer(back));
    // This also covers a stream that breaks before it brought the answer.
    if (isRequest(message)) server.onerror = (error) => void answer(refusalOf(message, error));
    await server.start();
    leaving?.addEventListener('abort', () => void server.close(), { once: true });
    await server.send(message);
  };

  const pass = async (message: JSONRPCMessage): Promise<void> => {
    const leaving = isRequest(message) ? waiting.add(message) : undefined;
    try {
      await post(await direct(message), leaving);
    } catch (error) {
      if (isRequest(message)) await answer(refusalOf(message, error));
      else note(wordsOf(error));
    }
  };

  stdio.onmessage = (message) => {
    const cancelled = cancelledBy(message);
    // Over HTTP a client cancels by closing its request, so the notification itself is not sent on.
    if (cancelled === undefined) void pass(message);
    else waiting.cancel(cancelled);
  };
  stdio.onerror = (error) => note(describeError(error));
  await stdio.start();
  await new Promise<void>((resolve) => {
    input.once('end', () => void waiting.whenEmpty().then(resolve));
    stdio.onclose = resolve;
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
  stdio.onclose = () => undefined;
  waiting.cancelAll();
  await stdio.close();
};
