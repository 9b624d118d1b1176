/**
 * Answers the MCP methods for tools and resources. If a model can correct a failure, the failure is the result of the
 * tool call. If only the client can correct it, the failure is a protocol error.
 */

import { hideCredentials } from '#domain/credentials.ts';
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { failedResult, type McpHandler, type ToolResult, wordsOf } from './handler.ts';

export type Request = { method: string; params?: Record<string, unknown> | undefined };

export type Answering = {
  /** JSON texts of a tool's arguments, by name; null if the client sent no object. */
  texts: Readonly<Record<string, string>> | null;
  /** Reports progress to the client if the client requested progress reports. */
  notify(progress: number, message: string): void;
  /** Returns the protocol's code for an error, in the revision of the protocol that the client uses. */
  codeOf(error: AppError): number;
  signal: AbortSignal;
  log: Log;
};

type Result = Record<string, unknown>;

/** Error codes of JSON-RPC. */
export const invalidParams = -32_602;
const rpcCodes = { methodNotFound: -32_601, invalidParams, internal: -32_603 } as const;

/** Error with the code that the client gets. */
export type RpcFailure = Error & { code: number };

const rpcError = (code: number, message: string): RpcFailure =>
  Object.assign(new Error(hideCredentials(message)), { code });

/** Interval of progress reports while a call runs, in milliseconds. */
const progressMs = 5_000;

/** Reports the progress of a call: when the call begins, periodically while it runs, and when it ends. */
const reportProgress = async <Value>(
  notify: Answering['notify'],
  work: () => Promise<Value>,
): Promise<Value> => {
  let progress = 0;
  const report = (message: string) => {
    notify(progress, message);
    progress += 1;
  };
  report('taken');
  const reporting = setInterval(() => report('still at work'), progressMs);
  try {
    return await work();
  } finally {
    clearInterval(reporting);
    report('answered');
  }
};

const nameOf = (params: Request['params'], member: string): string => {
  const name = params?.[member];
  if (typeof name === 'string') return name;
  throw rpcError(rpcCodes.invalidParams, `params.${member} must be a text`);
};

const callTool = async (
  handler: McpHandler,
  { params }: Request,
  { texts, notify, signal }: Answering,
): Promise<ToolResult> => {
  const name = nameOf(params, 'name');
  if (texts === null)
    throw rpcError(rpcCodes.invalidParams, 'params.arguments must be an object, or absent');
  try {
    return await reportProgress(notify, () => handler.callTool(name, texts, { signal }));
  } catch (error) {
    if (error instanceof AppError && error.code !== 'internal') {
      return failedResult(wordsOf(error), error.given);
    }
    throw error;
  }
};

const answers: Record<
  string,
  (handler: McpHandler, request: Request, answering: Answering) => Promise<Result>
> = {
  'tools/list': async (handler, _, { signal }) => ({ tools: await handler.listTools(signal) }),
  'tools/call': callTool,
  'resources/list': async (handler) => ({ resources: await handler.listResources() }),
  'resources/templates/list': async () => ({ resourceTemplates: [] }),
  'resources/read': async (handler, { params }) => ({
    contents: [await handler.readResource(nameOf(params, 'uri'))],
  }),
};

export const hasMethod = (method: string): boolean => Object.hasOwn(answers, method);

/** Answers a request. Every error that it throws is an `RpcFailure`. */
export const answerRequest = async (
  handler: McpHandler,
  request: Request,
  answering: Answering,
): Promise<Result> => {
  const answer = hasMethod(request.method) ? answers[request.method] : undefined;
  if (answer === undefined) {
    throw rpcError(rpcCodes.methodNotFound, `this server has no method "${request.method}"`);
  }
  try {
    return await answer(handler, request, answering);
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'number') throw error;
    if (error instanceof AppError && error.code !== 'internal')
      throw rpcError(answering.codeOf(error), wordsOf(error));
    answering.log.error({ err: error, method: request.method }, 'an MCP request failed');
    throw rpcError(rpcCodes.internal, 'internal error');
  }
};
