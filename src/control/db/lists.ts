/**
 * Lists that may be very long. They are read from a position on, which an index finds; how many entries there
 * are is counted up to a bound, and so is what is looked at for it.
 */
import { limits } from '#domain/limits.ts';
import { type Statement, statement } from './pool.ts';

/** How many match. */
export type Count = {
  total: number;
  /** Whether there are more, or may be. */
  isLowerBound: boolean;
};

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

/** A filter of a list: the parameter with what it asks for, and the condition where it is given. */
export type Filter = { parameter: string; matches: string };

/** Those of them that are given, by name. */
export type Given<Name extends string> = Readonly<Partial<Record<Name, unknown>>>;

/**
 * A statement for each set of filters that may be given, as only then the plan of each, which is made once, can use
 * the index of its filters. Parameters of the others are null.
 */
export const byFilters = <Name extends string, Made>(
  filters: Readonly<Record<Name, Filter>>,
  make: (suffix: string, condition: string) => Made,
): ((given: Given<Name>) => Made) => {
  const names = Object.keys(filters) as Name[];
  const suffixOf = (given: Given<Name>): string =>
    names.map((name) => (given[name] === undefined ? '' : `_by_${name}`)).join('');
  const conditionOf = (given: Given<Name>): string =>
    names
      .map((name) =>
        given[name] === undefined ? `${filters[name].parameter} is null` : filters[name].matches,
      )
      .join(' and ');
  const made = new Map<string, Made>();
  return (given) => {
    const suffix = suffixOf(given);
    const known = made.get(suffix) ?? make(suffix, conditionOf(given));
    made.set(suffix, known);
    return known;
  };
};
