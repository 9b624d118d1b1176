/**
 * What a session has sent to its webhooks, in numbers: deliveries of each subscription since the last reset, the last of
 * all, and those of which an answer is in the ledger.
 */
import type { Row } from '#language/contract.ts';

export type Sent = {
  /** Notes a delivery by the number of its entry. */
  note(world: string | null, subscription: Row | null, entryId: number): void;
  /** How many deliveries a subscription had. */
  countOf(world: string | null, subscription: Row): number;
  /** The number of the last delivery; 0: none. */
  last(): number;
  /** Whether this is the first answer to a delivery; it is none from then on. */
  takeAnswer(entryId: number): boolean;
  /** Forgets the counts: the session begins anew. Numbers of entries go on, and so do answers. */
  clear(): void;
};

/** What is remembered; of more, the oldest is forgotten. */
const mostSubscriptions = 10_000;
const mostAnswers = 100_000;

const forgetOldest = (keys: Map<string, number> | Set<number>, most: number): void => {
  for (const key of keys.keys()) {
    if (keys.size <= most) return;
    keys.delete(key as never);
  }
};

/** Of a session that has sent nothing. */
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
      counts.delete(key); // those that were sent something last are remembered longest
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
