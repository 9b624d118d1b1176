/** Finds lines and columns in a text. */
import type { Position } from './positions.ts';

/** Returns the offset at which each line begins. */
export const lineStarts = (text: string): number[] => [
  0,
  ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1),
];

/**
 * Returns a function that finds the line and column of an offset. Both count from 1; columns count UTF-16 code units.
 */
export const createTextPositions = (text: string): ((offset: number) => Position) => {
  const starts = lineStarts(text);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
};
