/** Formats conditions and counts as text for people. */
import type { CheckCount } from '#language/checks.ts';
import type { Filter, Match } from '#store/read/filter.ts';

export const rowsText = (count: number): string => (count === 1 ? '1 row' : `${count} rows`);

const valueText = (value: unknown): string =>
  Array.isArray(value)
    ? `one of ${value.map((item) => JSON.stringify(item)).join(', ')}`
    : JSON.stringify(value);

const words: Record<Match, string> = {
  equals: 'is',
  ne: 'is not',
  lt: 'is less than',
  lte: 'is at most',
  gt: 'is more than',
  gte: 'is at least',
  contains: 'contains',
  prefix: 'begins with',
  matches: 'matches',
  exists: 'exists:',
};

export const describeFilters = (filters: readonly Filter[]): string =>
  filters
    .map(({ path, match, value }) => `${path.join('.')} ${words[match]} ${valueText(value)}`)
    .join(', ');

export type Range = { min: number; max: number };

/** Returns the bounds of a count, both inclusive. */
export const countRange = (count: CheckCount = { min: 1 }): Range =>
  typeof count === 'number'
    ? { min: count, max: count }
    : { min: count.min ?? 0, max: count.max ?? Number.POSITIVE_INFINITY };

export const rangeText = ({ min, max }: Range): string => {
  if (min === max) return `exactly ${rowsText(min)}`;
  if (max === Number.POSITIVE_INFINITY) return `at least ${rowsText(min)}`;
  return min === 0 ? `at most ${rowsText(max)}` : `${min} to ${rowsText(max)}`;
};
