/**
 * Serves a request to an MCP server: checks the request, and exchanges its messages with a server created for it. The
 * messages are already parsed, so this file makes the checks that the SDK's own transport would make.
 */
import type { FieldProblem } from '#domain/error.ts';
import type { KeptMessages } from '../base/bodies/rpc.ts';
import type { Parts } from '../parts.ts';
import { checkRequest, type McpHeaders, type Refusal } from './check-request.ts';
import { type Exchanged, exchange } from './exchange.ts';
import type { McpHandler } from './handler.ts';

const codes = { noJson: -32_700, invalidRequest: -32_600 };

/** Builds the JSON-RPC error for a body that is not a valid message. */
export const rpcRefusal = (problems: readonly FieldProblem[], message: string): object => ({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: message.startsWith('the body is not') ? codes.noJson : codes.invalidRequest,
    message,
    ...(problems.length === 0 ? {} : { data: problems }),
  },
});

export type McpRequest = {
  headers: McpHeaders;
  body: KeptMessages;
  projectId: string;
  signal: AbortSignal;
};

/**
 * Answers a request, or refuses it. Until it ends, the request counts towards the project's limit of waiting requests.
 */
export const serveMcp = async (
  { holds, log }: Parts,
  { headers, body, projectId, signal }: McpRequest,
  makeHandler: () => Promise<McpHandler>,
): Promise<Exchanged | Refusal> => {
  const refusal = checkRequest(headers, body);
  if (refusal !== undefined) return refusal;
  const release = holds.begin(projectId);
  try {
    return await exchange(await makeHandler(), body, { signal, log, onEnd: release });
  } catch (error) {
    release();
    throw error;
  }
};
