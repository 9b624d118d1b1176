/**
 * Converts the messages of an MCP request. The arguments of a tool have no fixed schema and may be large. Each argument
 * stays JSON text, which is passed on or stored without being parsed again.
 */
import { isObject } from '#domain/json.ts';
import type { RpcBody, RpcMessage } from '#wire/public-api/sessions/mcp-operations.ts';

export type KeptMessage = {
  /** Message without the tool's arguments. */
  message: RpcMessage;
  /** Arguments of the tool as JSON texts, by name; null if the arguments are no object. */
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

/** Converts the messages of a body, in the order of the body. */
export const keepMessages = (body: RpcBody): KeptMessages =>
  Array.isArray(body)
    ? { messages: body.map(keepMessage), isBatch: true }
    : { messages: [keepMessage(body)], isBatch: false };

/** Joins JSON texts of arguments into the JSON text of one object. */
export const objectText = (texts: Readonly<Record<string, string>>): string =>
  `{${Object.entries(texts)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .join(',')}}`;
