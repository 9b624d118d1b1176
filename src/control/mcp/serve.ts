/**
 * A request to an MCP server: whether it is one of Streamable HTTP as it is spoken here, and what it is answered.
 * What the SDK's own transport would look at is looked at here, as the messages come read and checked.
 */
import { AppError, type FieldProblem } from '#domain/error.ts';
import type { KeptMessages } from '../bodies/rpc.ts';
import type { Parts } from '../parts.ts';
import { type Exchanged, exchange } from './exchange.ts';
import type { Face } from './face.ts';

/** Releases of the protocol that are spoken, as the SDK has them; newer clients agree on the newest of these. */
export const spokenVersions = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
] as const;
/** What a client speaks that does not say. */
const unsaid = '2025-03-26';
/** Since this one, messages come alone. */
const unbatched = '2025-06-18';

const types = ['application/json', 'text/event-stream'];

type Headers = { accept?: string | undefined; 'mcp-protocol-version'?: string | undefined };

/** Throws for a request that is none of Streamable HTTP as it is spoken here. */
const checkHeaders = (
  { accept = '', 'mcp-protocol-version': version = unsaid }: Headers,
  { isBatch }: KeptMessages,
): void => {
  const named = accept.toLowerCase();
  if (!types.every((type) => named.includes(type))) {
    const message = `Accept must be ${types.join(', ')}: the answer is one or the other`;
    throw Object.assign(new Error(message), { statusCode: 406 });
  }
  if (!spokenVersions.some((spoken) => spoken === version)) {
    const message = `MCP-Protocol-Version is ${JSON.stringify(version)}; spoken are ${spokenVersions.join(', ')}`;
    throw new AppError('invalid', message);
  }
  if (isBatch && version >= unbatched) {
    throw new AppError('invalid', `in MCP ${version} each message is a request of its own`);
  }
};

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
  headers: Headers;
  body: KeptMessages;
  projectId: string;
  signal: AbortSignal;
};

/** Exchanges the messages of a request with the server that is made for it. */
export const serveMcp = async (
  { holds, log }: Parts,
  { headers, body, projectId, signal }: McpRequest,
  makeFace: () => Promise<Face>,
): Promise<Exchanged> => {
  checkHeaders(headers, body);
  const release = holds.begin(projectId);
  try {
    return await exchange(await makeFace(), body, { signal, log, onEnd: release });
  } catch (error) {
    release();
    throw error;
  }
};
