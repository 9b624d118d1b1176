/**
 * Interface of an MCP server, independent of the protocol (`exchange.ts`): its tools and resources. Sessions and
 * projects have one implementation each. Some members of their answers are JSON text that is passed on unparsed.
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
  /** An object: plain JSON, or a `JsonText`. */
  structuredContent?: unknown;
  isError?: true;
};

/** Signal that aborts when the client no longer waits for the call. */
export type CallWatch = { signal: AbortSignal };

export type McpHandler = {
  /** Text that describes the server; a client may pass it to its model. */
  instructions: string;
  /** Name and version of the world or service behind the server. */
  title: string;
  /** Returns the list of tools, as a value or as JSON text. */
  listTools(signal: AbortSignal): Promise<unknown>;
  /**
   * Calls a tool; `argumentTexts` has the JSON text of each argument by name. Throws `AppError` for failures that a
   * model can correct, or after which it can try again later.
   */
  callTool(
    name: string,
    argumentTexts: Readonly<Record<string, string>>,
    watch: CallWatch,
  ): Promise<ToolResult>;
  listResources(): Promise<Resource[]>;
  /** Returns the text of a resource; throws `not_found` if there is no resource at the address. */
  readResource(uri: string): Promise<{ uri: string; mimeType: string; text: string }>;
};

/** Builds a result that consists of one text and optionally a structured value. */
export const textResult = (text: string, structuredContent?: unknown): ToolResult => ({
  content: [{ type: 'text', text }],
  ...(structuredContent === undefined ? {} : { structuredContent }),
});

/** Builds a result that has a value both as JSON text and as structured content. */
export const valueResult = (value: unknown): ToolResult =>
  textResult(writeJson(value).join(''), value);

/**
 * Builds a failed result with a message that tells a model what to do. Tokens in the message are redacted, except those
 * that the error returns on purpose.
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

/** Returns the message of an error, followed by its field problems and its details, one on each line. */
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
