/**
 * Serves a request to an MCP server: checks it, and exchanges its messages with the server that is made for it. The
 * checks of the SDK's own transport are made here, as the messages come read and checked.
 */
import type { FieldProblem } from '#domain/error.ts';
import type { KeptMessages } from '../base/bodies/rpc.ts';
import type { Parts } from '../parts.ts';
import { checkRequest, type McpHeaders, type Refusal } from './check-request.ts';
import { type Exchanged, exchange } from './exchange.ts';
import type { Face } from './face.ts';

const codes = { noJson: -32_700, invalidRequest: -32_600 };

/** Refusals of what is no message, in the form of JSON-RPC. */
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

/** Answers a request, or refuses it. */
export const serveMcp = async (
  { holds, log }: Parts,
  { headers, body, projectId, signal }: McpRequest,
  makeFace: () => Promise<Face>,
): Promise<Exchanged | Refusal> => {
  const refusal = checkRequest(headers, body);
  if (refusal !== undefined) return refusal;
  const release = holds.begin(projectId);
  try {
    return await exchange(await makeFace(), body, { signal, log, onEnd: release });
  } catch (error) {
    release();
    throw error;
  }
};
