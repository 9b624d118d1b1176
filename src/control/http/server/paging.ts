/**
 * Pages of lists, counted from 1, with a default size and the answer's `meta`. Lists that may be very long have
 * cursors. The size of a page is also limited in bytes, see `base/json/page-budget.ts`.
 */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { readCursor, writeCursor } from '../../platform/lists/cursor.ts';

export type PageQuery = { page?: number; limit?: number };

/** Returns the offset and the length of a page. */
export const toRange = ({ page = 1, limit = limits.pageDefault }: PageQuery) => ({
  limit,
  offset: (page - 1) * limit,
});

/** Returns the `meta` of a page's answer. */
export const toMeta = (
  { page = 1, limit = limits.pageDefault }: PageQuery,
  totalItems: number,
) => ({ page, limit, totalItems, totalPages: Math.ceil(totalItems / limit) });

/** Returns one page of a list that is held completely in memory, with the page's `meta`. */
export const pageOf = <Entry>(entries: readonly Entry[], query: PageQuery) => {
  const { limit, offset } = toRange(query);
  return { data: entries.slice(offset, offset + limit), meta: toMeta(query, entries.length) };
};

const invalidParameter = (field: string, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: [field], message }] });

/** Converts a position in a list to the parts of a cursor, and back. */
export type CursorForm<Position> = {
  write(position: Position): readonly (string | number)[];
  /** Returns the position of a cursor's parts; undefined for parts that `write` never produces. */
  read(parts: readonly unknown[]): Position | undefined;
};

export type CursorQuery = PageQuery & { cursor?: string };

/**
 * Returns the number of a page and its start: after the cursor's position, or at an offset. Throws `invalid` for a
 * malformed cursor. Throws it also for an offset beyond `limits.lookedAtItems`; there the client has to use a cursor.
 */
const readStart = <Position>(query: CursorQuery, form: CursorForm<Position>) => {
  const { cursor, page = 1 } = query;
  const { limit, offset } = toRange(query);
  if (cursor === undefined) {
    if (offset <= limits.lookedAtItems) return { page, limit, offset, from: undefined };
    throw invalidParameter(
      'page',
      `page ${page} begins after more than ${limits.lookedAtItems} entries; follow "cursor" from each page's meta.nextCursor instead`,
    );
  }
  if (query.page !== undefined) {
    throw invalidParameter('cursor', 'cannot be combined with "page": give one of them');
  }
  const [number, ...parts] = readCursor(cursor);
  const from = form.read(parts);
  if (from !== undefined && isWhole(number)) return { page: number, limit, offset: 0, from };
  throw invalidParameter('cursor', 'is not meta.nextCursor of a page of this list');
};

/** Returns true for a whole number, as cursors may contain. */
export const isWhole = (part: unknown): part is number => Number.isSafeInteger(part);

/** Rows that were read for a page, whether more rows follow, and the count of the whole list. */
type ReadPage<Row> = {
  rows: readonly Row[];
  hasMore: boolean;
  count: { total: number; isLowerBound: boolean };
};

/** Returns the range of a page of a list with cursors, and a function that builds its `meta` from the rows read. */
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

/** Returns the known members that `?fields=` lists; the parameter's pattern has rejected other names. */
export const readFields = <Name extends string>(
  text: string | undefined,
  known: readonly Name[],
): Name[] => {
  const asked = new Set<string>(text?.split(',') ?? []);
  return known.filter((name) => asked.has(name));
};
