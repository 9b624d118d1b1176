/**
 * Records the origin of each imported row. Each line of an import has a number, from which its chunk and line are
 * found. A number takes four bytes, because an import may have millions of rows.
 */
import type { RowPlace } from './refusals.ts';

/** List of numbers in the order of their insertion. */
export type NumberList = { push(value: number): void; at(index: number): number; size(): number };

const portion = 64 * 1024;

export const createNumberList = (): NumberList => {
  const portions: Uint32Array[] = [];
  let size = 0;
  return {
    push(value) {
      if (size % portion === 0) portions.push(new Uint32Array(portion));
      const last = portions.at(-1);
      if (last !== undefined) last[size % portion] = value;
      size += 1;
    },
    at: (index) => portions[Math.floor(index / portion)]?.[index % portion] ?? 0,
    size: () => size,
  };
};

export type Arrivals = {
  /** Begins a chunk: the following lines belong to it. */
  begin(chunk: number): void;
  /** Returns the number of the next line. */
  next(): number;
  /** Returns the chunk and line of a number. */
  placeOf(arrival: number): RowPlace;
};

export const createArrivals = (): Arrivals => {
  const chunks: { chunk: number; first: number }[] = [];
  let next = 0;
  return {
    begin(chunk) {
      chunks.push({ chunk, first: next });
    },
    next() {
      next += 1;
      return next - 1;
    },
    placeOf(arrival) {
      let from = 0;
      let to = chunks.length - 1;
      while (from < to) {
        const middle = Math.ceil((from + to) / 2);
        if ((chunks[middle]?.first ?? 0) <= arrival) from = middle;
        else to = middle - 1;
      }
      const { chunk = null, first = 0 } = chunks[from] ?? {};
      return { chunk, index: arrival - first };
    },
  };
};
