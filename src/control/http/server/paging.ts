/**
 * Pages of lists, and cursors of those that may be very long: from 1, with a default size, and the envelope's
 * `meta`. A page has room for so many bytes, too, see `base/json/page-room.ts`.
 */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { readCursor, writeCursor } from '../../platform/lists/cursor.ts';

export type PageQuery = { page?: number; limit?: number };

/** Where a page begins and how long it is. */
export const toRange = ({ page = 1, limit = limits.pageDefault }: PageQuery) => ({
  limit,
  offset: (page - 1) * limit,
});

/** The envelope's `meta` of a page. */
export const toMeta = (
  { page = 1, limit = limits.pageDefault }: PageQuery,
  totalItems: number,
) => ({ page, limit, totalItems, totalPages: Math.ceil(totalItems / limit) });

/** The page of a list that is in memory as a whole, with its `meta`. */
export const pageOf = <Entry>(entries: readonly Entry[], query: PageQuery) => {
  const { limit, offset } = toRange(query);
  return { data: entries.slice(offset, offset + limit), meta: toMeta(query, entries.length) };
};

const invalidParameter = (field: string, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: [field], message }] });

/** How the position after which a page begins is written into a cursor, and read from one. */
export type CursorForm<Position> = {
  write(position: Position): readonly (string | number)[];
  /** Undefined for what was never written so. */
  read(parts: readonly unknown[]): Position | undefined;
};

export type CursorQuery = PageQuery & { cursor?: string };

/** The page with its number, and where it begins: after a position, or so many entries on. */
const readStart = <Position>(query: CursorQuery, form: CursorForm<Position>) => {
  const { cursor, page = 1 } = query;
  const { limit, offset } = toRange(query);
  if (cursor === undefined) {
    if (offset <= limits.lookedAtItems) return { page, limit, offset, from: undefined };
    throw invalidParameter(
      'page',
      `page ${page} begins after more than ${limits.lookedAtItems} entries; go there by "cursor", from each page's meta.nextCursor`,
    );
  }
  if (query.page !== undefined) {
    throw invalidParameter('cursor', 'goes on where a page ended: give it without "page"');
  }
  const [number, ...parts] = readCursor(cursor);
  const from = form.read(parts);
  if (from !== undefined && isWhole(number)) return { page: number, limit, offset: 0, from };
  throw invalidParameter('cursor', 'is not meta.nextCursor of a page of this list');
};

/** A whole number that a cursor may hold. */
export const isWhole = (part: unknown): part is number => Number.isSafeInteger(part);

/** What a list has read of a page: its rows, whether more follow, and how many there are in all. */
type ReadPage<Row> = {
  rows: readonly Row[];
  hasMore: boolean;
  count: { total: number; isLowerBound: boolean };
};

/** Where a page of a list with cursors begins, and its `meta` once it was read. */
export const openPage = <Position>(query: CursorQuery, form: CursorForm<Position>) => {
  const { page, ...range } = readStart(query, form);
  return {
    range,
    metaOf({ rows, hasMore, count }: ReadPage<Position>) {
      const last = rows.at(-1);
      const next = hasMore && last !== undefined ? [page + 1, ...form.write(last)] : undefined;
      return {
        ...toMeta({ page, limit: range.limit }, count.total),
        ...(count.isLowerBound ? { totalItemsIsLowerBound: true as const } : {}),
        ...(next === undefined ? {} : { nextCursor: writeCursor(next) }),
      };
    },
  };
};

/** The members that `?fields=` asks for; its pattern let no other names through. */
export const readFields = <Name extends string>(
  text: string | undefined,
  known: readonly Name[],
): Name[] => {
  const asked = new Set<string>(text?.split(',') ?? []);
  return known.filter((name) => asked.has(name));
};
