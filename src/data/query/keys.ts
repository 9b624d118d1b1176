/**
 * Compares keys in the order of SQLite: numbers by value, before texts, which are ordered by the bytes of their UTF-8.
 */

/** Value by which rows are matched; null when a row has none. */
export type Key = number | bigint | string | null;

const beyondBasic = /[\ud800-\uffff]/;

const compareTexts = (one: string, other: string): number => {
  if (one === other) return 0;
  // Only for these characters the order of UTF-16 differs from that of UTF-8.
  if (beyondBasic.test(one) && beyondBasic.test(other)) {
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  }
  return one < other ? -1 : 1;
};

/** Returns a negative number when the first comes before the second, 0 when they are equal. */
export const compareKeys = (
  one: number | bigint | string,
  other: number | bigint | string,
): number => {
  if (typeof one === 'string') return typeof other === 'string' ? compareTexts(one, other) : 1;
  if (typeof other === 'string') return -1;
  if (one < other) return -1;
  return one > other ? 1 : 0;
};
