/**
 * Sorts rows for a list by merge sort over batches. Each batch is sorted as it arrives. Sorted batches are merged in
 * pairs, so that no single step takes long, however many rows there are.
 */
import type { SortKey } from '#store/read/windows.ts';

/** Rows of one batch: the position and the sort key of each. */
type Found = readonly (readonly [position: number, key: SortKey])[];

/**
 * Sorted batch, as two arrays. If it were a list of pairs, merging millions of rows would take several times as long.
 */
export type Run = { positions: Float64Array; keys: readonly SortKey[] };

/**
 * Returns true if the first value sorts before the second. Numbers sort before texts; texts are compared without regard
 * to case.
 */
const isBefore = (one: string | number, other: string | number): boolean =>
  typeof one === 'number'
    ? typeof other !== 'number' || one < other
    : typeof other === 'string' && one < other;

const folded = (key: SortKey): SortKey => (typeof key === 'string' ? key.toLowerCase() : key);

/**
 * Returns true if the first of two different keys sorts before the second. Rows without a value come last in both
 * directions.
 */
const comesFirst = (one: SortKey, other: SortKey, descending: boolean): boolean => {
  if (one === null || other === null) return other === null;
  return isBefore(one, other) !== descending;
};

/** Sorts a batch by its keys without regard to case. Equal keys keep insertion order. */
export const sortRun = (found: Found, descending: boolean): Run => {
  const rows = found.map(([at, key]) => [at, folded(key)] as const);
  rows.sort((left, right) => {
    if (left[1] === right[1]) return left[0] - right[0];
    return comesFirst(left[1], right[1], descending) ? -1 : 1;
  });
  return {
    positions: Float64Array.from(rows, ([at]) => at),
    keys: rows.map(([, key]) => key),
  };
};

/** Merges two sorted batches. The rows of `one` were inserted before those of `other`. */
const mergeTwo = (one: Run, other: Run, descending: boolean): Run => {
  const size = one.keys.length + other.keys.length;
  const positions = new Float64Array(size);
  const keys = new Array<SortKey>(size);
  let left = 0;
  let right = 0;
  for (let at = 0; at < size; at += 1) {
    const a = one.keys[left];
    const b = other.keys[right];
    const isLeft =
      b === undefined || (a !== undefined && (a === b || comesFirst(a, b, descending)));
    const from = isLeft ? one : other;
    const index = isLeft ? left++ : right++;
    positions[at] = from.positions[index] ?? 0;
    keys[at] = from.keys[index] ?? null;
  }
  return { positions, keys };
};

const empty: Run = { positions: new Float64Array(), keys: [] };

/** Merges sorted batches, given in insertion order, into one. After each merge of two batches, other work can run. */
export const mergeRuns = async (
  runs: readonly Run[],
  { descending, pause }: { descending: boolean; pause: () => Promise<void> },
): Promise<Run> => {
  let left = [...runs];
  while (left.length > 1) {
    const next: Run[] = [];
    for (let index = 0; index < left.length; index += 2) {
      const [one = empty, other] = left.slice(index, index + 2);
      next.push(other === undefined ? one : mergeTwo(one, other, descending));
      await pause();
    }
    left = next;
  }
  return left[0] ?? empty;
};
