/** MCP servers as the official TypeScript clients use them, and as raw requests. */
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export const bothTypes = 'application/json, text/event-stream';

/** Returns a client that has completed the handshake with the server at an address. */
export const connectMcp = async (url: string, authorization: string): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization } },
    }),
  );
  return client;
};

/** Returns the text of a result. */
export const textOf = (result: unknown): string => {
  const { content } = result as { content: { text: string }[] };
  return content.map(({ text }) => text).join('\n');
};

/** Builds a JSON-RPC request. */
export const rpc = (method: string, params: object = {}, id: number | string = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

/** Protocol revision without a handshake. */
export const stateless = '2026-07-28';

/** Returns a client that uses only the revision without a handshake. */
export const connectStateless = async (
  url: string,
  authorization: string,
): Promise<StatelessClient> => {
  const client = new StatelessClient(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: stateless } } },
  );
  await client.connect(
    new StatelessTransport(new URL(url), { requestInit: { headers: { authorization } } }),
  );
  return client;
};

const prefix = 'io.modelcontextprotocol/';

/** Builds a request of the revision without a handshake. */
export const statelessRpc = (method: string, params: object = {}, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: {
    ...params,
    _meta: { [`${prefix}protocolVersion`]: stateless, [`${prefix}clientCapabilities`]: {} },
  },
});

/** Builds the headers that repeat parts of a request of the revision without a handshake. */
export const statelessHeaders = (method: string, name?: string): Record<string, string> => ({
  'mcp-protocol-version': stateless,
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
});
