/**
 * The room of a page of a list: so many characters. Entries that come when it is full are shown without their
 * heavy members, which they name.
 */
import { limits } from '#domain/limits.ts';

/** The room of one page. */
export type Room = {
  /** Takes what an entry needs, if there is so much left; the first entry is always let in. */
  take(chars: number): boolean;
  left(): number;
};

export const createRoom = (chars: number = limits.pageBytes): Room => {
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
 * Writes members of entries while the room has place for them: undefined for an entry that finds none, and
 * for all that follow, of which nothing is written.
 */
export const writeInto = (room: Room) => {
  let isFull = false;
  return <Name extends string>(
    names: readonly Name[],
    write: (name: Name) => string,
  ): (readonly [Name, string])[] | undefined => {
    if (isFull) return undefined;
    const texts = names.map((name) => [name, write(name)] as const);
    isFull = !room.take(texts.reduce((sum, [, text]) => sum + text.length, 0));
    return isFull ? undefined : texts;
  };
};
