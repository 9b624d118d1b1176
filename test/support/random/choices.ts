/**
 * Random structures from a list of small numbers, each of which is a choice. A generator draws choices until the list
 * is used up; each further choice is 0. A shorter list of smaller numbers therefore makes a simpler structure, which
 * allows fast-check to shrink a failure.
 */
import fc from 'fast-check';

export type Choices = {
  /** Returns a whole number from 0 to `count - 1`. */
  below(count: number): number;
  /** Returns one of the items. */
  of<Item>(items: readonly Item[]): Item;
  /** Returns true in about one case of `count`. */
  oneIn(count: number): boolean;
  /** Returns a list of a chosen length, from `least` to `most`. */
  list<Item>(least: number, most: number, make: (index: number) => Item): Item[];
  isUsedUp(): boolean;
};

export const createChoices = (numbers: readonly number[]): Choices => {
  let next = 0;
  const below = (count: number): number => {
    const number = numbers[next] ?? 0;
    next += 1;
    return number % count;
  };
  return {
    below,
    of: <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item,
    oneIn: (count) => below(count) === count - 1,
    list: (least, most, make) =>
      Array.from({ length: least + below(most - least + 1) }, (_, index) => make(index)),
    isUsedUp: () => next >= numbers.length,
  };
};

/** Returns lists of choices for fast-check; `most` limits the size of the structures. */
export const choiceLists = (most: number): fc.Arbitrary<number[]> =>
  fc.array(fc.nat({ max: 999 }), { minLength: 4, maxLength: most, size: 'max' });
