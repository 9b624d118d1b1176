/**
 * Cursors of lists, latest first, that clients go on in by `cursor`: the time and the id of the last row of a page,
 * which say where its order goes on, whatever came or went meanwhile.
 */

import type { Condition } from '../../db/core/where.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import { invalidParameter, numberIn, type RawQuery, textIn } from './query.ts';

/** A cursor is a list of numbers and texts, as base64url of its JSON. */
export const writeCursor = (parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

/** What a cursor holds; nothing where it is none. */
export const readCursor = (cursor: string): readonly unknown[] => {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return []; // which is no cursor
  }
};

/** Times of rows are from 1970 on, with a year of four digits, which are all that the database reads as they are written. */
const latestMs = Date.UTC(10_000, 0, 1);

/** Columns by which a list is in order, both descending; `key` is that of an id in its project. */
export type Order = { time: string; key: string };

/** The condition on what follows a cursor. Throws `invalid` for what is none. */
export const afterCursor = (cursor: string, projectId: string, { time, key }: Order): Condition => {
  const [ms, id] = readCursor(cursor);
  const isTime = typeof ms === 'number' && Number.isSafeInteger(ms) && ms >= 0 && ms < latestMs;
  if (!isTime || typeof id !== 'string') {
    throw invalidParameter('cursor', 'is not meta.cursor of a page of this list');
  }
  return (bind) =>
    `(${time}, ${key}) < (${bind(new Date(ms).toISOString())}::timestamptz, ${bind(keyOf(projectId, id))}::uuid)`;
};

/**
 * A page by the parameters `limit` and `cursor`: what is to be read for it, one row more than it shows, and what is
 * shown of the rows that were read. Throws `invalid` for what is no cursor.
 */
export const openCursorPage = (
  query: RawQuery,
  projectId: string,
  bounds: { least: number; most: number; usual: number },
  order: Order,
) => {
  const limit = numberIn(query, 'limit', bounds);
  const cursor = textIn(query, 'cursor');
  return {
    limit,
    conditions: cursor === undefined ? [] : [afterCursor(cursor, projectId, order)],
    range: { limit: limit + 1, offset: 0 },
    /** `place` is the time and the id of a row. The envelope's `meta` has a cursor while more follows. */
    show<Row>(rows: readonly Row[], place: (row: Row) => readonly [Date, string]) {
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      if (rows.length <= limit || last === undefined) return { shown, meta: {} };
      const [time, id] = place(last);
      return { shown, meta: { cursor: writeCursor([time.getTime(), id]) } };
    },
  };
};
