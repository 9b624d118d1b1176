/**
 * Pages of lists, latest first, by page number or by the cursor of the page before. A walk by cursor finds all rows
 * that persist, whatever is added or deleted meanwhile; a walk by number does so only while nothing changes.
 */
import { limits } from '#domain/limits.ts';
import type { Count } from '../../db/core/lists.ts';
import { afterCursor, type Order, writeCursor } from './cursor.ts';
import { invalidParameter, metaOf, numberIn, pageIn, type RawQuery, textIn } from './query.ts';

/**
 * Number of items up to which a list that clients page through by number is counted: beyond the last page that they
 * may request.
 */
export const walkedItems = limits.lookedAtItems + 2 * limits.pageMax;

/**
 * Opens the page that the parameters `page` or `cursor`, and `limit`, request. Returns the conditions and range to
 * read (one row more than is shown) and a function that picks the rows to show. Throws `invalid` for bad parameters.
 */
export const openNumberedPage = (query: RawQuery, projectId: string, order: Order) => {
  const cursor = textIn(query, 'cursor');
  if (cursor !== undefined && textIn(query, 'page') !== undefined) {
    throw invalidParameter('cursor', 'continues after a page: give it without "page"');
  }
  const { pageMax, pageDefault } = limits;
  const limit = numberIn(query, 'limit', { least: 1, most: pageMax, usual: pageDefault });
  const start = cursor === undefined ? pageIn(query) : { page: 1, limit, offset: 0 };
  return {
    conditions: cursor === undefined ? [] : [afterCursor(cursor, projectId, order)],
    range: { limit: limit + 1, offset: start.offset },
    /** Returns the rows to show and the `meta`. `place` returns the time and id of a row. */
    show<Row>(rows: readonly Row[], count: Count, place: (row: Row) => readonly [Date, string]) {
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const meta = metaOf(start, count);
      if (rows.length <= limit || last === undefined) return { shown, meta };
      const [time, id] = place(last);
      return { shown, meta: { ...meta, nextCursor: writeCursor([time.getTime(), id]) } };
    },
  };
};
