/**
 * Relays an MCP client that speaks over standard input and output to a server that speaks Streamable HTTP: each
 * message goes on as it is, to the address that it is given, and what comes back goes back. What cannot be sent is
 * answered as an error of its request, so that nobody waits for it.
 */
import type { Readable, Writable } from 'node:stream';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { describeError } from '#domain/error.ts';

export type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';

/** Where a message goes, and as what. */
export type Sent = { address: string; message: JSONRPCMessage };

export type RelayOptions = {
  input: Readable;
  output: Writable;
  /** The whole `Authorization` header. */
  authorization: string;
  /** Where a message goes; what it throws is told as the error of the request. */
  direct(message: JSONRPCMessage): Promise<Sent>;
  /** An answer as the client gets it. */
  adapt?(request: JSONRPCRequest, answer: JSONRPCMessage): JSONRPCMessage;
  /** Told, in words for people, of what went wrong beside any request. */
  note(message: string): void;
  /** Ends the relay. */
  signal?: AbortSignal;
};

/** A message of the client may be so long; it is a body of a request. */
const mostBytes = 64 * 1024 * 1024;
/** When the client has ended its input, answers that it may still read are waited for so long, in milliseconds. */
const lastMs = 30_000;

const internalError = -32_603;

const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message;

/** What a server says of a refusal is JSON: its message alone is for people. */
const wordsOf = (error: unknown): string => {
  const text = describeError(error);
  const [, message] = /"message":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  return message === undefined ? text : String(JSON.parse(message));
};

/** Relays until the client has ended its input or the signal aborts. */
export const relayStdio = async (options: RelayOptions): Promise<void> => {
  const { input, output, authorization, direct, adapt, note, signal } = options;
  const stdio = new StdioServerTransport(input, output, { maxBufferSize: mostBytes });
  const servers = new Map<string, Promise<StreamableHTTPClientTransport>>();
  const waiting = new Map<string, JSONRPCRequest>();
  /** Set once the client has ended its input. */
  let onIdle: (() => void) | undefined;
  let version: string | undefined;

  const answer = async (message: JSONRPCMessage): Promise<void> => {
    const key = 'id' in message && !('method' in message) ? JSON.stringify(message.id) : undefined;
    const request = key === undefined ? undefined : waiting.get(key);
    if (request?.method === 'initialize' && 'result' in message) {
      version = (message.result as { protocolVersion?: string }).protocolVersion;
      for (const server of servers.values()) (await server).setProtocolVersion(version ?? '');
    }
    await stdio.send(request === undefined ? message : (adapt?.(request, message) ?? message));
    if (key === undefined) return;
    waiting.delete(key);
    if (waiting.size === 0) onIdle?.();
  };

  const connect = async (address: string): Promise<StreamableHTTPClientTransport> => {
    const server = new StreamableHTTPClientTransport(new URL(address), {
      requestInit: { headers: { authorization } },
    });
    server.onmessage = (message) => void answer(message);
    if (version !== undefined) server.setProtocolVersion(version);
    await server.start();
    return server;
  };

  const pass = async (message: JSONRPCMessage): Promise<void> => {
    try {
      const sent = await direct(message);
      let server = servers.get(sent.address);
      if (server === undefined) {
        server = connect(sent.address);
        servers.set(sent.address, server);
      }
      await (await server).send(sent.message);
    } catch (error) {
      if (!isRequest(message)) return note(wordsOf(error));
      const told = { code: internalError, message: wordsOf(error) };
      await answer({ jsonrpc: '2.0', id: message.id, error: told });
    }
  };

  stdio.onmessage = (message) => {
    if (isRequest(message)) waiting.set(JSON.stringify(message.id), message);
    void pass(message);
  };
  stdio.onerror = (error) => note(describeError(error));
  await stdio.start();
  await new Promise<void>((resolve) => {
    input.once('end', () => {
      if (waiting.size === 0) return resolve();
      onIdle = resolve;
      setTimeout(resolve, lastMs).unref();
    });
    stdio.onclose = resolve;
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
  stdio.onclose = () => undefined;
  await Promise.all([...servers.values()].map(async (server) => (await server).close()));
  await stdio.close();
};
