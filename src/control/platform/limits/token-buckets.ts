/**
 * What may be had so often in a minute, by name. A control plane takes some of it ahead from the database, which gives no
 * more than there may be in all, and spends that without asking again: what is counted costs no statement each time,
 * and no row is written by all that spend of it.
 */

/** What the database gave: of `most` in a minute that ends in `leftMs`; `untaken` is what others can still take. */
export type Taken = { granted: number; untaken: number; most: number; leftMs: number };

/** What is left of it until this process's clock reads `endsAt`. */
type Purse = Taken & { left: number; endsAt: number };

export type Spent = {
  /** False: there is none any more in this minute. */
  isSpent: boolean;
  most: number;
  /** What is left, as far as it is known here. */
  remaining: number;
  /** Until the minute is over. */
  endsInMs: number;
};

export type TokenBuckets = { spend(name: string, most: number): Promise<Spent> };

/** Purses beyond which those of past minutes are thrown away. */
const mostPurses = 1_000;

export const createTokenBuckets = (
  takeFrom: (name: string, most: number) => Promise<Taken>,
  now: () => number = () => performance.now(),
): TokenBuckets => {
  const purses = new Map<string, Purse>();
  const taking = new Map<string, Promise<Purse>>();

  const forgetPast = (): void => {
    if (purses.size < mostPurses) return;
    for (const [name, { endsAt }] of purses) if (endsAt <= now()) purses.delete(name);
  };

  const take = async (name: string, most: number): Promise<Purse> => {
    const taken = await takeFrom(name, most);
    forgetPast();
    const purse = { ...taken, left: taken.granted, endsAt: now() + taken.leftMs };
    purses.set(name, purse);
    return purse;
  };

  /** One at a time for each name: who comes meanwhile shares what it brings. */
  const takeOnce = (name: string, most: number): Promise<Purse> => {
    const underWay = taking.get(name);
    if (underWay !== undefined) return underWay;
    const begun = take(name, most).finally(() => taking.delete(name));
    taking.set(name, begun);
    return begun;
  };

  const spentOf = (purse: Purse, isSpent: boolean): Spent => ({
    isSpent,
    most: purse.most,
    remaining: purse.left + purse.untaken,
    endsInMs: Math.max(1, Math.ceil(purse.endsAt - now())),
  });

  return {
    async spend(name, most) {
      let purse = purses.get(name);
      // What the database refused is refused until the minute is over, without asking it again.
      while (
        purse === undefined ||
        purse.endsAt <= now() ||
        (purse.left === 0 && purse.granted > 0)
      ) {
        purse = await takeOnce(name, most);
      }
      if (purse.left === 0) return spentOf(purse, false);
      purse.left -= 1;
      return spentOf(purse, true);
    },
  };
};
