/**
 * Memory that many holders take parts of, bounded for each of them and for all. Nothing is kept of a
 * holder that holds nothing.
 */

export type ByteBudget = {
  /** Takes bytes for a holder, or says whose bound is in the way. */
  take(holder: string, bytes: number): Taken | 'one' | 'all';
  /** Bytes that are taken, and their holders. */
  load(): { bytes: number; holders: number };
};

export type Taken = {
  /** Gives them back; once, however often it is called. */
  giveBack(): void;
};

/** Makes shares of `all` bytes, of which one holder has `one` at most. */
export const createByteBudget = (bounds: { one: number; all: number }): ByteBudget => {
  const held = new Map<string, number>();
  let total = 0;

  const add = (holder: string, bytes: number): void => {
    const sum = (held.get(holder) ?? 0) + bytes;
    if (sum === 0) held.delete(holder);
    else held.set(holder, sum);
    total += bytes;
  };

  return {
    take(holder, bytes) {
      if ((held.get(holder) ?? 0) + bytes > bounds.one) return 'one';
      if (total + bytes > bounds.all) return 'all';
      add(holder, bytes);
      let isTaken = true;
      return {
        giveBack() {
          if (isTaken) add(holder, -bytes);
          isTaken = false;
        },
      };
    },
    load: () => ({ bytes: total, holders: held.size }),
  };
};
