/**
 * Converts the messages of an MCP request. The arguments of a tool are a client's free JSON and may be large. Each
 * stays text, which is passed on to its reader or to storage without being parsed again.
 */
import { isObject } from '#domain/json.ts';
import type { RpcBody, RpcMessage } from '#wire/public-api/sessions/mcp-operations.ts';

export type KeptMessage = {
  /** The message without tool arguments. */
  message: RpcMessage;
  /** Tool arguments as JSON texts by name; null if the given value is no object. */
  argumentTexts: Record<string, string> | null;
};

export type KeptMessages = { messages: KeptMessage[]; isBatch: boolean };

const textsOf = (given: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, JSON.stringify(value)]));

const keepMessage = (message: RpcMessage): KeptMessage => {
  const { params, ...rest } = message;
  if (params === undefined) return { message: rest, argumentTexts: {} };
  const { arguments: given = {}, ...others } = params;
  return {
    message: { ...rest, params: others },
    argumentTexts: isObject(given) ? textsOf(given) : null,
  };
};

/** Converts the messages of a body, in their order. */
export const keepMessages = (body: RpcBody): KeptMessages =>
  Array.isArray(body)
    ? { messages: body.map(keepMessage), isBatch: true }
    : { messages: [keepMessage(body)], isBatch: false };

/** Joins arguments into the JSON text of one object. */
export const objectText = (texts: Readonly<Record<string, string>>): string =>
  `{${Object.entries(texts)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .join(',')}}`;
