/**
 * Memory budget that is shared by holders, with a limit for each holder and one for all. A holder without bytes takes
 * no memory itself.
 */

export type ByteBudget = {
  /** Reserves bytes for a holder. Returns `one` if the holder's limit is exceeded, `all` if the total is. */
  take(holder: string, bytes: number): Taken | 'one' | 'all';
  /** Returns the number of reserved bytes and of holders. */
  load(): { bytes: number; holders: number };
};

export type Taken = {
  /** Releases the bytes. Further calls have no effect. */
  giveBack(): void;
};

/** Creates a budget of `all` bytes, of which one holder may reserve at most `one`. */
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
