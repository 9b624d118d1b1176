/**
 * What stands in a chunk in place of a row that was refused before the chunk was stored, since nothing of the row may be
 * kept. A list is no row, so that none is taken for one.
 */
import { isObject } from '#domain/json.ts';

export type NotedFault = { pointer: string; detail: string };

/** The line of a refused row. */
export const noteFault = ({ pointer, detail }: NotedFault): [NotedFault] => [{ pointer, detail }];

/** What such a line says; undefined for anything else. */
export const readNotedFault = (value: unknown): NotedFault | undefined => {
  const [noted] = Array.isArray(value) ? value : [];
  if (!isObject(noted)) return undefined;
  const { pointer, detail } = noted;
  return typeof pointer === 'string' && typeof detail === 'string'
    ? { pointer, detail }
    : undefined;
};
