/**
 * Rows in the order that a list asks for, from stretches of them: each stretch is sorted as it comes, and they are
 * merged two by two, so that nothing takes long at a time however many rows there are.
 */
import type { SortKey } from '#store/read/windows.ts';

/** Positions of rows with what they are sorted by. */
export type Run = [position: number, key: SortKey][];

/** Compares as people list things: numbers before texts, texts without regard to case. */
const compareKeys = (one: SortKey, other: SortKey): number => {
  if (typeof one === 'number') return typeof other === 'number' ? one - other : -1;
  if (typeof other === 'number') return 1;
  const [left, right] = [one ?? '', other ?? ''];
  if (left === right) return 0;
  return left < right ? -1 : 1;
};

const folded = (key: SortKey): SortKey => (typeof key === 'string' ? key.toLowerCase() : key);

type Compare = (one: Run[number], other: Run[number]) => number;

/** Rows without a value come last either way; equal ones in the order of insertion. */
const comparer = (descending: boolean): Compare => {
  const sign = descending ? -1 : 1;
  return ([oneAt, one], [otherAt, other]) => {
    if (one === null || other === null) {
      return Number(one === null) - Number(other === null) || oneAt - otherAt;
    }
    return sign * compareKeys(one, other) || oneAt - otherAt;
  };
};

/** A stretch sorted by its keys, which are kept without regard to case. */
export const sortRun = (run: Run, descending: boolean): Run =>
  run.map(([at, key]): Run[number] => [at, folded(key)]).sort(comparer(descending));

const mergeTwo = (one: Run, other: Run, compare: Compare): Run => {
  const merged: Run = [];
  let [left, right] = [0, 0];
  while (left < one.length || right < other.length) {
    const [a, b] = [one[left], other[right]];
    if (b === undefined || (a !== undefined && compare(a, b) <= 0)) {
      if (a !== undefined) merged.push(a);
      left += 1;
    } else {
      merged.push(b);
      right += 1;
    }
  }
  return merged;
};

/** Merges sorted stretches into one, and gives others their turn after each two of them. */
export const mergeRuns = async (
  runs: readonly Run[],
  { descending, pause }: { descending: boolean; pause: () => Promise<void> },
): Promise<Run> => {
  const compare = comparer(descending);
  let left = [...runs];
  while (left.length > 1) {
    const next: Run[] = [];
    for (let index = 0; index < left.length; index += 2) {
      const [one = [], other] = left.slice(index, index + 2);
      next.push(other === undefined ? one : mergeTwo(one, other, compare));
      await pause();
    }
    left = next;
  }
  return left[0] ?? [];
};
