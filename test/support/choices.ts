/**
 * Random structures made from a list of small numbers, each a choice. A generator of inputs draws
 * choices until they are used up, from when on each is 0; so a shorter list of smaller numbers makes a
 * simpler structure, which is how a failure is made small.
 */
import fc from 'fast-check';

export type Choices = {
  /** A whole number from 0 to `count - 1`. */
  below(count: number): number;
  /** One of the items. */
  of<Item>(items: readonly Item[]): Item;
  /** True in about one case of `count`. */
  oneIn(count: number): boolean;
  /** As many items as chosen, from `least` to `most`. */
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

/** Lists of choices for fast-check; `most` bounds how large a structure they can make. */
export const choiceLists = (most: number): fc.Arbitrary<number[]> =>
  fc.array(fc.nat({ max: 999 }), { minLength: 4, maxLength: most, size: 'max' });
