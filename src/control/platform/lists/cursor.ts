/**
 * Cursor pagination of lists, latest entries first. A cursor contains the time and the id of the last row of a page. So
 * the next page continues there, even if rows were added or deleted in the meantime.
 */

import type { Condition } from '../../db/core/where.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import { invalidParameter, numberIn, type RawQuery, textIn } from './query.ts';

/** Encodes the parts of a cursor, numbers and texts, as JSON in base64url. */
export const writeCursor = (parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

/** Decodes a cursor. Returns an empty list if the cursor is malformed. */
export const readCursor = (cursor: string): readonly unknown[] => {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return []; // malformed cursor
  }
};

/**
 * First time that is no longer valid, in Unix milliseconds. Valid times begin in 1970 and have years of four digits; in
 * that range PostgreSQL parses ISO texts as they are written.
 */
const latestMs = Date.UTC(10_000, 0, 1);

/**
 * Columns by which a list is ordered, both descending. `key` is the column with the key of an id within its project.
 */
export type Order = { time: string; key: string };

/** Builds the condition for the rows that follow a cursor. Throws `invalid` if the cursor is malformed. */
export const afterCursor = (cursor: string, projectId: string, { time, key }: Order): Condition => {
  const [ms, id] = readCursor(cursor);
  const isTime = typeof ms === 'number' && Number.isSafeInteger(ms) && ms >= 0 && ms < latestMs;
  if (!isTime || typeof id !== 'string') {
    throw invalidParameter('cursor', 'is not the meta.cursor of an earlier page of this list');
  }
  return (bind) =>
    `(${time}, ${key}) < (${bind(new Date(ms).toISOString())}::timestamptz, ${bind(keyOf(projectId, id))}::uuid)`;
};

/**
 * Opens the page that the parameters `limit` and `cursor` request. Returns the conditions and the range of the rows to
 * read, and a function that selects the rows to show. The range has one row more than the page shows. Throws `invalid`
 * if the cursor is malformed.
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
     * Returns the rows to show, and the `meta` of the answer. If more rows follow, `meta` has a cursor. `place` returns
     * the time and the id of a row.
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
