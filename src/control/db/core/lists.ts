/**
 * Lists that may be very long. They are read from a position on, which an index finds; how many entries there
 * are is counted up to a bound, and so is what is looked at for it.
 */
import { limits } from '#domain/limits.ts';
import { type Statement, statement } from './database.ts';

/** How many match. */
export type Count = {
  total: number;
  /** Whether there are more, or may be. */
  isLowerBound: boolean;
};

/**
 * Where a page begins in a list of numbered rows, the greatest number first: so many rows on, or after a number.
 */
export type NumberedPage = { limit: number; offset: number; from: { number: number } | undefined };

/** The values of a statement that reads such a page, and one row more, by `:fromNumber`, `:limit` and `:offset`. */
export const numberedValues = ({ limit, offset, from }: NumberedPage) => ({
  limit: limit + 1,
  offset,
  fromNumber: from?.number ?? Number.MAX_SAFE_INTEGER,
});

/** What of a page is shown, and whether more follows it. */
export type Read<Row> = { rows: Row[]; hasMore: boolean };

export type CountOf = {
  name: string;
  /** Table or join, and which rows of it are looked at, in the order of an index. */
  from: string;
  order: string;
  /** Which of them count, and when all do: then no more are looked at than are counted. */
  matching: string;
  isAll: string;
};

/** The statement that counts. */
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

/** What was counted. */
export const toCount = (row: CountRow | undefined): Count => {
  const { matched = 0, looked = 0 } = row ?? {};
  const total = Math.min(matched, limits.countedItems);
  return { total, isLowerBound: matched > total || looked > limits.lookedAtItems };
};

/** A page of rows of which one more was asked for than it has. */
export const toRead = <Row>(rows: Row[], limit: number): Read<Row> => ({
  rows: rows.slice(0, limit),
  hasMore: rows.length > limit,
});
