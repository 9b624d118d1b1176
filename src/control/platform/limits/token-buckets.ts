/**
 * Rate limits per minute, by name. A control plane reserves a batch of tokens in the database, which enforces the
 * limit of all replicas together, and spends the batch locally. So most requests cost no statement, and replicas do
 * not all write the same row for each.
 */

/**
 * Tokens granted by the database, of `most` in a minute that ends in `leftMs`; `untaken` is what it can still grant.
 */
export type Taken = { granted: number; untaken: number; most: number; leftMs: number };

/** Remaining tokens of a batch, valid until this process's clock reaches `endsAt`. */
type Purse = Taken & { left: number; endsAt: number };

export type Spent = {
  /** False if no token is left in this minute. */
  isSpent: boolean;
  most: number;
  /** Remaining tokens, as far as this replica knows. */
  remaining: number;
  /** Time until the minute ends, in milliseconds. */
  endsInMs: number;
};

export type TokenBuckets = { spend(name: string, most: number): Promise<Spent> };

/** Number of batches from which those of past minutes are removed. */
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

  /** Fetches one batch at a time for each name; concurrent callers share it. */
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
      // A refusal by the database is cached until the minute ends.
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
