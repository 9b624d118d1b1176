/**
 * Pages of lists: from 1, with a default size, and the envelope's `meta`. A page has room for so many
 * bytes, too: entries that come when it is full are shown without their heavy members, which they name.
 */
import { limits } from '#domain/limits.ts';

export type PageQuery = { page?: number; limit?: number };

/** Where a page begins and how long it is. */
export const toRange = ({ page = 1, limit = limits.pageDefault }: PageQuery) => ({
  limit,
  offset: (page - 1) * limit,
});

/** The envelope's `meta` of a page. */
export const toMeta = (
  { page = 1, limit = limits.pageDefault }: PageQuery,
  totalItems: number,
) => ({ page, limit, totalItems, totalPages: Math.ceil(totalItems / limit) });

/** The members that `?fields=` asks for; its pattern let no other names through. */
export const readFields = <Name extends string>(
  text: string | undefined,
  known: readonly Name[],
): Name[] => {
  const asked = new Set<string>(text?.split(',') ?? []);
  return known.filter((name) => asked.has(name));
};

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
