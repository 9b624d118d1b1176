/**
 * Cursor pagination of lists, latest first. A cursor holds the time and id of the last row of a page. So the next page
 * continues there whatever rows were added or deleted meanwhile.
 */

import type { Condition } from '../../db/core/where.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import { invalidParameter, numberIn, type RawQuery, textIn } from './query.ts';

/** Encodes a cursor: numbers and texts, as JSON in base64url. */
export const writeCursor = (parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

/** Decodes a cursor; returns an empty list if it is malformed. */
export const readCursor = (cursor: string): readonly unknown[] => {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return []; // malformed cursor
  }
};

/**
 * End of the valid times: from 1970 to a year of four digits, the range in which PostgreSQL parses ISO texts as
 * written.
 */
const latestMs = Date.UTC(10_000, 0, 1);

/** Columns that order a list, both descending; `key` is the key of an id within its project. */
export type Order = { time: string; key: string };

/** Builds the condition on the rows after a cursor. Throws `invalid` if the cursor is malformed. */
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
 * Opens the page that the parameters `limit` and `cursor` request. Returns the conditions and range to read (one row
 * more than is shown) and a function that picks the rows to show. Throws `invalid` for a malformed cursor.
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
    /**
     * Returns the rows to show, and the envelope's `meta`, which has a cursor if more rows follow. `place` returns the
     * time and id of a row.
     */
    show<Row>(rows: readonly Row[], place: (row: Row) => readonly [Date, string]) {
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      if (rows.length <= limit || last === undefined) return { shown, meta: {} };
      const [time, id] = place(last);
      return { shown, meta: { cursor: writeCursor([time.getTime(), id]) } };
    },
  };
};
