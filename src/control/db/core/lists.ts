/**
 * Helpers for lists that may be very long. A page is read from a cursor, by an index. Both the count of matches and
 * the number of rows examined for it are bounded.
 */
import { limits } from '#domain/limits.ts';
import { type Statement, statement } from './database.ts';

/** Count of matching rows, up to a bound. */
export type Count = {
  total: number;
  /** True if more rows match, or might. */
  isLowerBound: boolean;
};

/** Start of a page in a list of numbered rows, highest number first: an offset, or the number that the page follows. */
export type NumberedPage = { limit: number; offset: number; from: { number: number } | undefined };

/**
 * Returns the values (`:fromNumber`, `:limit` and `:offset`) of a statement that reads such a page, and one more row.
 */
export const numberedValues = ({ limit, offset, from }: NumberedPage) => ({
  limit: limit + 1,
  offset,
  fromNumber: from?.number ?? Number.MAX_SAFE_INTEGER,
});

/** Rows of one page; `hasMore` is true if more rows follow. */
export type Read<Row> = { rows: Row[]; hasMore: boolean };

export type CountOf = {
  name: string;
  /** Table or join whose rows are examined, in the order of an index. */
  from: string;
  order: string;
  /**
   * Condition under which a row counts, and condition under which every row does. If every row counts, no more rows
   * are examined than the bound on the count.
   */
  matching: string;
  isAll: string;
};

/** Declares the statement that counts. */
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

/** Converts the row of such a statement to a count. */
export const toCount = (row: CountRow | undefined): Count => {
  const { matched = 0, looked = 0 } = row ?? {};
  const total = Math.min(matched, limits.countedItems);
  return { total, isLowerBound: matched > total || looked > limits.lookedAtItems };
};

/** Builds a page from rows that were read with one more than the limit. */
export const toRead = <Row>(rows: Row[], limit: number): Read<Row> => ({
  rows: rows.slice(0, limit),
  hasMore: rows.length > limit,
});
