/**
 * Records in a chunk that stand for rows refused before the chunk was stored, since nothing of such a row may be kept.
 * A record is a JSON list, so that no row can be taken for one.
 */
import { isObject } from '#domain/json.ts';

export type NotedFault = { pointer: string; detail: string };

/** Builds the line of a refused row. */
export const noteFault = ({ pointer, detail }: NotedFault): [NotedFault] => [{ pointer, detail }];

/** Reads such a line; returns undefined for any other value. */
export const readNotedFault = (value: unknown): NotedFault | undefined => {
  const [noted] = Array.isArray(value) ? value : [];
  if (!isObject(noted)) return undefined;
  const { pointer, detail } = noted;
  return typeof pointer === 'string' && typeof detail === 'string'
    ? { pointer, detail }
    : undefined;
};
