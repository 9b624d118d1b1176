/**
 * Helpers for lists that may be very long. A page is read from a cursor, by an index. The count of matching rows has an
 * upper bound, and so has the number of rows that are examined for the count.
 */
import { limits } from '#domain/limits.ts';
import { type Statement, statement } from './database.ts';

/** Number of matching rows, up to a bound. */
export type Count = {
  total: number;
  /** True if more rows match or may match. */
  isLowerBound: boolean;
};

/**
 * Start of a page in a list of numbered rows, with the highest number first. If `from` is given, the page starts after
 * the row with that number; otherwise at `offset`.
 */
export type NumberedPage = { limit: number; offset: number; from: { number: number } | undefined };

/**
 * Returns the values (`:fromNumber`, `:limit` and `:offset`) for a statement that reads a `NumberedPage`, and one more
 * row.
 */
export const numberedValues = ({ limit, offset, from }: NumberedPage) => ({
  limit: limit + 1,
  offset,
  fromNumber: from?.number ?? Number.MAX_SAFE_INTEGER,
});

/** Rows of one page. `hasMore` is true if more rows follow. */
export type Read<Row> = { rows: Row[]; hasMore: boolean };

export type CountOf = {
  name: string;
  /** Table or join whose rows are examined, in the order of an index. */
  from: string;
  order: string;
  /**
   * Condition under which a row is counted (`matching`), and condition that is true if all rows are counted (`isAll`).
   * In that case, only as many rows are examined as can be counted.
   */
  matching: string;
  isAll: string;
};

/** Declares a statement that counts matching rows. */
export const countOf = ({ name, from, order, matching, isAll }: CountOf): Statement =>
  statement(
    name,
    `select (count(*) filter (where matches))::int as matched, count(*)::int as looked
       from (select ${matching} as matches from ${from}
              order by ${order}
              limit case when ${isAll} then ${limits.countedItems + 1}
                         else ${limits.lookedAtItems + 1} end) counted`,
  );

export type CountRow = { matched: number; looked: number };

/** Converts the result row of a statement from `countOf` to a count. */
export const toCount = (row: CountRow | undefined): Count => {
  const { matched = 0, looked = 0 } = row ?? {};
  const total = Math.min(matched, limits.countedItems);
  return { total, isLowerBound: matched > total || looked > limits.lookedAtItems };
};

/** Builds a page from the rows that were read, which are one more than the limit if more rows follow. */
export const toRead = <Row>(rows: Row[], limit: number): Read<Row> => ({
  rows: rows.slice(0, limit),
  hasMore: rows.length > limit,
});
