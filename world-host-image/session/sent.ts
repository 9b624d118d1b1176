/**
 * Counts a session's webhook deliveries: the deliveries to each subscription since the last reset, the last delivery,
 * and the deliveries whose answer has been recorded.
 */
import type { Row } from '#language/contract.ts';

export type Sent = {
  /** Counts a delivery; `entryId` is the number of its ledger entry. */
  note(world: string | null, subscription: Row | null, entryId: number): void;
  /** Returns the number of deliveries to a subscription. */
  countOf(world: string | null, subscription: Row): number;
  /** Returns the number of the last delivery's ledger entry; 0 if there is none. */
  last(): number;
  /** Returns true for the first answer to a delivery, and false for a repeated one. */
  takeAnswer(entryId: number): boolean;
  /** Resets the counts. The last entry's number and the answers already seen stay. */
  clear(): void;
};

/**
 * Maximum number of subscriptions that are remembered. The next constant is the maximum number of answers. Beyond them,
 * the oldest are forgotten.
 */
const mostSubscriptions = 10_000;
const mostAnswers = 100_000;

const forgetOldest = (keys: Map<string, number> | Set<number>, most: number): void => {
  for (const key of keys.keys()) {
    if (keys.size <= most) return;
    keys.delete(key as never);
  }
};

/** Creates the counts of a session that has sent nothing. */
export const createSent = (): Sent => {
  const counts = new Map<string, number>();
  const answered = new Set<number>();
  let last = 0;
  const keyOf = (world: string | null, subscription: Row): string =>
    JSON.stringify([world, subscription]);
  return {
    note(world, subscription, entryId) {
      last = entryId;
      if (subscription === null) return;
      const key = keyOf(world, subscription);
      const count = (counts.get(key) ?? 0) + 1;
      counts.delete(key); // reinserted at the end, so that the least recent are forgotten first
      counts.set(key, count);
      forgetOldest(counts, mostSubscriptions);
    },
    countOf: (world, subscription) => counts.get(keyOf(world, subscription)) ?? 0,
    last: () => last,
    takeAnswer(entryId) {
      if (answered.has(entryId)) return false;
      answered.add(entryId);
      forgetOldest(answered, mostAnswers);
      return true;
    },
    clear: () => counts.clear(),
  };
};
