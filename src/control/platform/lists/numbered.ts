/**
 * Pages of lists, latest first, by their number or by the cursor of the page before. A walk by cursor finds all that
 * stays, whatever comes or goes meanwhile; one by numbers does while nothing changes.
 */
import { limits } from '#domain/limits.ts';
import type { Count } from '../../db/core/lists.ts';
import { afterCursor, type Order, writeCursor } from './cursor.ts';
import { invalidParameter, metaOf, numberIn, pageIn, type RawQuery, textIn } from './query.ts';

/** How far a list is counted by which clients are to walk by number: beyond the last page that can be asked for. */
export const walkedItems = limits.lookedAtItems + 2 * limits.pageMax;

/**
 * A page by the parameters `page` or `cursor`, and `limit`: what is to be read for it, one row more than it shows, and
 * what is shown of the rows that were read. Throws `invalid` for what leads to no page.
 */
export const openNumberedPage = (query: RawQuery, projectId: string, order: Order) => {
  const cursor = textIn(query, 'cursor');
  if (cursor !== undefined && textIn(query, 'page') !== undefined) {
    throw invalidParameter('cursor', 'goes on where a page ended: give it without "page"');
  }
  const { pageMax, pageDefault } = limits;
  const limit = numberIn(query, 'limit', { least: 1, most: pageMax, usual: pageDefault });
  const start = cursor === undefined ? pageIn(query) : { page: 1, limit, offset: 0 };
  return {
    conditions: cursor === undefined ? [] : [afterCursor(cursor, projectId, order)],
    range: { limit: limit + 1, offset: start.offset },
    /** `place` is the time and the id of a row. */
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
