/** The order of keys as SQLite has it: numbers by value, before texts, which go by the bytes of their UTF-8. */

/** The value that rows belong together by; null when a row has none. */
export type Key = number | bigint | string | null;

const beyondBasic = /[\ud800-\uffff]/;

const compareTexts = (one: string, other: string): number => {
  if (one === other) return 0;
  // Only among these does the order of UTF-16 differ.
  if (beyondBasic.test(one) && beyondBasic.test(other)) {
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  }
  return one < other ? -1 : 1;
};

/** Negative when one comes before the other, 0 when they are the same key. */
export const compareKeys = (
  one: number | bigint | string,
  other: number | bigint | string,
): number => {
  if (typeof one === 'string') return typeof other === 'string' ? compareTexts(one, other) : 1;
  if (typeof other === 'string') return -1;
  if (one < other) return -1;
  return one > other ? 1 : 0;
};
