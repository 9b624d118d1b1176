/** Speaker of the protocol for one request, in its revision, with how it introduces itself. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Log } from '#runtime/log.ts';

export const serverInfo = { name: 'svc', version: '1' } as const;
export const capabilities = { tools: {}, resources: {} };

/** Answers the messages that a transport brings: a server of the SDK, or ours of the stateless revision. */
export type Speaker = { connect(transport: Transport): Promise<void>; close(): Promise<void> };

export type SpeakerOptions = { signal: AbortSignal; log: Log };
