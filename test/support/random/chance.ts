/** Pseudo-random decisions from a seed: equal seeds give equal sequences. */

export type Chance = {
  /** Returns a number from 0 up to 1. */
  share(): number;
  /** Returns true with this probability. */
  happens(probability: number): boolean;
  between(least: number, most: number): number;
  /** Returns an exponentially distributed number with this mean. */
  around(mean: number): number;
};

/** Creates a generator from a seed: mulberry32, which is good enough for tests. */
export const createChance = (seed: number): Chance => {
  let state = seed | 0;
  const share = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    share,
    happens: (probability) => share() < probability,
    between: (least, most) => least + share() * (most - least),
    around: (mean) => -mean * Math.log(1 - share()),
  };
};
