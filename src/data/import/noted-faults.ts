/**
 * Lines of a chunk that record rows refused before the chunk was stored, because no content of such rows may be kept.
 * Such a line is a JSON list and a row is a JSON object, so the two cannot be confused.
 */
import { isObject } from '#domain/json.ts';

export type NotedFault = { pointer: string; detail: string };

/** Builds the line that records a refused row. */
export const noteFault = ({ pointer, detail }: NotedFault): [NotedFault] => [{ pointer, detail }];

/** Reads a line that records a refused row; returns undefined for any other value. */
export const readNotedFault = (value: unknown): NotedFault | undefined => {
  const [noted] = Array.isArray(value) ? value : [];
  if (!isObject(noted)) return undefined;
  const { pointer, detail } = noted;
  return typeof pointer === 'string' && typeof detail === 'string'
    ? { pointer, detail }
    : undefined;
};
