/**
 * Pages of lists, latest entries first, by page number or by the cursor of the previous page. A client that follows
 * cursors gets all rows that exist throughout, whatever is added or deleted in the meantime. A client that follows page
 * numbers gets them only while the list does not change.
 */
import { limits } from '#domain/limits.ts';
import type { Count } from '../../db/core/lists.ts';
import { afterCursor, type Order, writeCursor } from './cursor.ts';
import { invalidParameter, metaOf, numberIn, pageIn, type RawQuery, textIn } from './query.ts';

/**
 * Maximum number of items that are counted in a list with page numbers. It is larger than the number of items up to the
 * end of the last page that clients may request.
 */
export const walkedItems = limits.lookedAtItems + 2 * limits.pageMax;

/**
 * Opens the page that the parameters `page` or `cursor`, and `limit`, request. Returns the conditions and the range of
 * the rows to read, and a function that selects the rows to show. The range has one row more than the page shows.
 * Throws `invalid` if a parameter is not valid.
 */
export const openNumberedPage = (query: RawQuery, projectId: string, order: Order) => {
  const cursor = textIn(query, 'cursor');
  if (cursor !== undefined && textIn(query, 'page') !== undefined) {
    throw invalidParameter('cursor', 'cannot be combined with "page": give one of them');
  }
  const { pageMax, pageDefault } = limits;
  const limit = numberIn(query, 'limit', { least: 1, most: pageMax, usual: pageDefault });
  const start = cursor === undefined ? pageIn(query) : { page: 1, limit, offset: 0 };
  return {
    conditions: cursor === undefined ? [] : [afterCursor(cursor, projectId, order)],
    range: { limit: limit + 1, offset: start.offset },
    /** Returns the rows to show and the `meta` of the answer. `place` returns the time and the id of a row. */
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
