/**
 * What an MCP server of ours shows and does, apart from the protocol (`exchange.ts`): tools and resources. There is
 * one for a session and one for a project. Parts of what they answer are JSON that stays text.
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

/** What a tool came to, as MCP has it. */
export type ToolResult = {
  content: { type: 'text'; text: string }[];
  /** Plain JSON or a `JsonText`; an object. */
  structuredContent?: unknown;
  isError?: true;
};

/** Who waits for a call, and hears how it goes. */
export type CallWatch = { signal: AbortSignal };

export type Face = {
  /** What a client may tell its model of the server. */
  instructions: string;
  /** Name and version of what is served. */
  title: string;
  /** A list of tools, or its JSON text. */
  listTools(signal: AbortSignal): Promise<unknown>;
  /** Arguments are JSON texts by name. Throws `AppError` for what a model can mend or wait for. */
  callTool(
    name: string,
    argumentTexts: Readonly<Record<string, string>>,
    watch: CallWatch,
  ): Promise<ToolResult>;
  listResources(): Promise<Resource[]>;
  /** The text of a resource; throws `not_found` when there is none at the address. */
  readResource(uri: string): Promise<{ uri: string; mimeType: string; text: string }>;
};

/** A result of one text, and of a value beside it. */
export const toldResult = (text: string, structuredContent?: unknown): ToolResult => ({
  content: [{ type: 'text', text }],
  ...(structuredContent === undefined ? {} : { structuredContent }),
});

/** A value of ours as the text and the value of a result. */
export const valueResult = (value: unknown): ToolResult =>
  toldResult(writeJson(value).join(''), value);

/** A refusal in words that a model can act on. Tokens are hidden in them, but for what the error gives on purpose. */
export const failedResult = (
  text: string,
  given: Readonly<Record<string, string>> = {},
): ToolResult => ({
  ...toldResult(
    [hideCredentials(text), ...Object.entries(given).map(([name, one]) => `${name}: ${one}`)].join(
      '\n',
    ),
  ),
  isError: true,
});

const shownOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

/** Returns what an error says, then what is wrong with which fields, then its facts. */
export const wordsOf = (error: AppError): string => {
  const [only] = error.fields;
  // The message of an error with one field says it already.
  const isSaid = error.fields.length === 1 && error.message.includes(only?.message ?? '');
  const fields = (isSaid ? [] : error.fields).map(
    ({ path, message }) => `${path.join('.') || 'it'}: ${message}`,
  );
  const facts = Object.entries(error.detail).map(([name, value]) => `${name}: ${shownOf(value)}`);
  return [error.message, ...fields, ...facts].join('\n');
};
