/**
 * Where rows came from: each line of an import has a number, and a number tells chunk and line. Four bytes
 * a row, as an import has millions of them.
 */
import type { RowPlace } from './refusals.ts';

/** Numbers in the order in which they are given. */
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
  /** A chunk begins: lines have numbers from the next one on. */
  begin(chunk: number): void;
  /** The number of the next line. */
  next(): number;
  /** Chunk and line of a number. */
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
