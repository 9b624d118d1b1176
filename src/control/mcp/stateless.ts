/**
 * Answers one request of revision 2026-07-28. A request contains all that is needed to answer it, so no protocol state
 * is kept. Results have a few members that only this revision has. `check-request.ts` has already checked the request.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { AppError } from '#domain/error.ts';
import { toErrorAnswer } from '#wire/errors.ts';
import { metaKeys, metaOf, statelessVersions } from '#wire/mcp-revisions.ts';
import type { KeptMessage } from '../base/bodies/rpc.ts';
import type { McpHandler } from './handler.ts';
import {
  capabilities,
  type MessageServer,
  type MessageServerOptions,
  serverInfo,
} from './message-server.ts';
import { answerRequest, hasMethod, invalidParams, type RpcFailure } from './methods.ts';

const discover = 'server/discover';

export const isStatelessMethod = (method: string): boolean =>
  method === discover || hasMethod(method);

/**
 * Time for which a client may cache lists and resources, in milliseconds. Those of a session never change. Those of a
 * project change with the release of the service and with the rights of the client.
 */
const freshMs = 60_000;
const cacheable = { ttlMs: freshMs, cacheScope: 'private' } as const;

/** Returns the JSON-RPC code of an error. If the protocol has no code for it, the code is the HTTP status. */
const codeOf = (error: AppError): number =>
  error.code === 'invalid' || error.code === 'not_found'
    ? invalidParams
    : toErrorAnswer(error).status;

type Id = NonNullable<KeptMessage['message']['id']>;

/** Creates the server that answers the one request of a transport. */
export const createStateless = (
  handler: McpHandler,
  { message, argumentTexts }: KeptMessage,
  { signal, log }: MessageServerOptions,
): MessageServer => {
  const { id, method = '', params } = message;
  let isClosed = false;

  const answer = async (transport: Transport): Promise<void> => {
    const send = async (message: object) => {
      if (!isClosed) await transport.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
    };
    const token = metaOf(message)?.progressToken;
    const notify = (progress: number, text: string) => {
      if (typeof token !== 'string' && typeof token !== 'number') return;
      const report = { progressToken: token, progress, message: text };
      void send({ method: 'notifications/progress', params: report });
    };
    const result = async () => {
      if (method === discover)
        return {
          supportedVersions: statelessVersions,
          capabilities,
          instructions: handler.instructions,
        };
      const answering = { texts: argumentTexts, notify, codeOf, signal, log };
      return answerRequest(handler, { method, params }, answering);
    };
    try {
      await send({
        id: id as Id,
        result: {
          ...(await result()),
          resultType: 'complete',
          ...(method === 'tools/call' ? {} : cacheable),
          _meta: { [metaKeys.server]: { ...serverInfo, title: handler.title } },
        },
      });
    } catch (error) {
      const failure = error as RpcFailure;
      await send({ id: id as Id, error: { code: failure.code, message: failure.message } });
    }
  };

  return {
    async connect(transport) {
      transport.onmessage = () => void answer(transport);
    },
    async close() {
      isClosed = true;
    },
  };
};
