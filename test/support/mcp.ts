/** MCP servers as the official TypeScript client sees them, and as raw requests. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export const bothTypes = 'application/json, text/event-stream';

/** A client that has greeted the server at an address. */
export const connectMcp = async (url: string, authorization: string): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization } },
    }),
  );
  return client;
};

/** The text of a result. */
export const textOf = (result: unknown): string => {
  const { content } = result as { content: { text: string }[] };
  return content.map(({ text }) => text).join('\n');
};

/** A request of JSON-RPC. */
export const rpc = (method: string, params: object = {}, id: number | string = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
