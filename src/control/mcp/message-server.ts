/**
 * Type of a server that answers the messages of one request in the request's protocol revision, and the server's
 * description of itself.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Log } from '#runtime/log.ts';

export const serverInfo = { name: 'svc', version: '1' } as const;
export const capabilities = { tools: {}, resources: {} };

/** Server that answers the messages of a transport: the SDK's server, or our own for the stateless revision. */
export type MessageServer = {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
};

export type MessageServerOptions = { signal: AbortSignal; log: Log };
