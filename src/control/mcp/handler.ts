/**
 * Interface of an MCP server apart from the protocol (`exchange.ts`): its tools and resources. Sessions and projects
 * have an implementation each. Parts of their answers are JSON that stays text.
 */

import { hideCredentials } from '#domain/credentials.ts';
import type { AppError } from '#domain/error.ts';
import { writeJson } from '../base/json/json-text.ts';

export type Resource = {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: string;
};

/** Result of a tool call, in MCP's form. */
export type ToolResult = {
  content: { type: 'text'; text: string }[];
  /** Plain JSON or a `JsonText`; an object. */
  structuredContent?: unknown;
  isError?: true;
};

/** Signal that aborts when the client no longer waits for the call. */
export type CallWatch = { signal: AbortSignal };

export type McpHandler = {
  /** Text about the server that a client may pass to its model. */
  instructions: string;
  /** Name and version of the world or service behind the server. */
  title: string;
  /** Returns the list of tools, or its JSON text. */
  listTools(signal: AbortSignal): Promise<unknown>;
  /**
   * Calls a tool with arguments as JSON texts by name. Throws `AppError` for failures that a model can correct or wait
   * out.
   */
  callTool(
    name: string,
    argumentTexts: Readonly<Record<string, string>>,
    watch: CallWatch,
  ): Promise<ToolResult>;
  listResources(): Promise<Resource[]>;
  /** Returns the text of a resource; throws `not_found` if the address has none. */
  readResource(uri: string): Promise<{ uri: string; mimeType: string; text: string }>;
};

/** Builds a result of one text, with an optional structured value. */
export const textResult = (text: string, structuredContent?: unknown): ToolResult => ({
  content: [{ type: 'text', text }],
  ...(structuredContent === undefined ? {} : { structuredContent }),
});

/** Builds a result that has a value both as JSON text and as structured content. */
export const valueResult = (value: unknown): ToolResult =>
  textResult(writeJson(value).join(''), value);

/**
 * Builds a failed result with a message that a model can act on. Tokens in it are redacted, except those that the
 * error returns on purpose.
 */
export const failedResult = (
  text: string,
  given: Readonly<Record<string, string>> = {},
): ToolResult => ({
  ...textResult(
    [hideCredentials(text), ...Object.entries(given).map(([name, one]) => `${name}: ${one}`)].join(
      '\n',
    ),
  ),
  isError: true,
});

const shownOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

/** Returns the message of an error, then its field problems, then its details, one a line. */
export const wordsOf = (error: AppError): string => {
  const [only] = error.fields;
  // If the error has one field only, its message usually contains the problem already.
  const isSaid = error.fields.length === 1 && error.message.includes(only?.message ?? '');
  const fields = (isSaid ? [] : error.fields).map(
    ({ path, message }) => `${path.join('.') || 'it'}: ${message}`,
  );
  const facts = Object.entries(error.detail).map(([name, value]) => `${name}: ${shownOf(value)}`);
  return [error.message, ...fields, ...facts].join('\n');
};
