/**
 * Size budget for a page of a list, in characters. Entries beyond the budget are shown without their large members, and
 * list the names of the omitted members.
 */
import { limits } from '#domain/limits.ts';

/** Size budget of one page. */
export type SizeBudget = {
  /**
   * Takes the size of an entry from the budget. Returns false if the budget does not suffice; the first entry always
   * fits.
   */
  take(chars: number): boolean;
  left(): number;
};

export const createSizeBudget = (chars: number = limits.pageBytes): SizeBudget => {
  let left = chars;
  let isFirst = true;
  return {
    take(wanted) {
      const fits = isFirst || wanted <= left;
      isFirst = false;
      if (fits) left -= wanted;
      else left = 0;
      return fits;
    },
    left: () => left,
  };
};

/**
 * Returns a function that serializes members of entries while the budget suffices. The function returns undefined for
 * the first entry that does not fit; for all that follow, it returns undefined without serializing anything.
 */
export const writeInto = (budget: SizeBudget) => {
  let isFull = false;
  return <Name extends string>(
    names: readonly Name[],
    write: (name: Name) => string,
  ): (readonly [Name, string])[] | undefined => {
    if (isFull) return undefined;
    const texts = names.map((name) => [name, write(name)] as const);
    isFull = !budget.take(texts.reduce((sum, [, text]) => sum + text.length, 0));
    return isFull ? undefined : texts;
  };
};
