/**
 * Memory budget that several holders share, with a limit for each holder and a limit for all together. A holder that
 * has reserved nothing takes no memory itself.
 */

export type ByteBudget = {
  /**
   * Reserves bytes for a holder. Returns `one` if that would exceed the holder's limit, `all` if it would exceed the
   * limit for all.
   */
  take(holder: string, bytes: number): Taken | 'one' | 'all';
  /** Returns the number of reserved bytes and the number of holders. */
  load(): { bytes: number; holders: number };
};

export type Taken = {
  /** Releases the bytes. Calling it again has no effect. */
  giveBack(): void;
};

/** Creates a budget of `all` bytes, of which a single holder may reserve at most `one`. */
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
