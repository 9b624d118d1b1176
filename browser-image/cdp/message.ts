/** Types of DevTools protocol messages, limited to the members that the browser program reads. */
import { isObject } from '#domain/json.ts';

export type Params = Record<string, unknown>;

export type CdpError = { code: number; message: string; data?: unknown };

/**
 * DevTools message. A command has `id` and `method`; an answer has `id`, and `result` or `error`; an event has `method`
 * alone.
 */
export type CdpMessage = {
  id?: number;
  method?: string;
  params?: Params;
  sessionId?: string;
  result?: Params;
  error?: CdpError;
};

/** Command as a client may send it. */
export type Command = { id: number; method: string; params: Params; sessionId?: string };

/** Parses a client's text as a command; returns undefined if it is not one. */
export const readCommand = (text: string): Command | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { id, method, params = {}, sessionId } = value;
  if (!Number.isSafeInteger(id) || typeof method !== 'string' || !isObject(params))
    return undefined;
  if (sessionId !== undefined && typeof sessionId !== 'string') return undefined;
  return { id: id as number, method, params, ...(sessionId === undefined ? {} : { sessionId }) };
};
