/**
 * Prefetches the next automatic numbers for a run: those that the last run of the same function requested. The creation
 * of most rows then needs one request less. A number that is counted over a whole entity stays valid until the run
 * writes to that entity; after that, the worker requests the number.
 */
import { StoreRefusal } from '#store/refusal.ts';
import type { GivenNumbers } from '../boundary/protocol.ts';
import type { StoreAccess } from '../run.ts';

export type NumbersAhead = {
  /**
   * Begins a run of a function and returns the numbers to send with the run. `place` identifies the function. Returns
   * null if there are none to send, or if `next` is undefined.
   */
  begin(place: string, next: StoreAccess['nextInteger'] | undefined): GivenNumbers | null;
  /** Records that the run requested a number that is counted over a whole entity, and got an answer. */
  asked(entity: string, field: string): void;
  /** Ends the run. If the run did not use the numbers sent with it, they are not prefetched again. */
  ended(hasUsed: boolean): void;
};

const mostPlaces = 256;
const mostNumbers = 8;
const longestName = 256;

type Named = { entity: string; field: string };

export const createNumbersAhead = (): NumbersAhead => {
  const askedFor = new Map<string, Named[]>();
  let current = '';
  let hasGiven = false;

  const numberOf = (
    { entity, field }: Named,
    next: StoreAccess['nextInteger'],
  ): number | undefined => {
    try {
      return next(entity, field);
    } catch (error) {
      // The run gets this refusal when it requests the number itself.
      if (error instanceof StoreRefusal) return undefined;
      throw error;
    }
  };

  return {
    begin(place, next) {
      current = place;
      hasGiven = false;
      const names = next === undefined ? undefined : askedFor.get(place);
      if (next === undefined || names === undefined) return null;
      const given = new Map<string, Map<string, number>>();
      for (const name of names) {
        const number = numberOf(name, next);
        if (number === undefined) continue;
        const ofEntity = given.get(name.entity) ?? new Map<string, number>();
        given.set(name.entity, ofEntity.set(name.field, number));
      }
      hasGiven = true;
      return Object.fromEntries([...given].map(([name, of]) => [name, Object.fromEntries(of)]));
    },
    asked(entity, field) {
      if (Math.max(entity.length, field.length) > longestName) return;
      const names = askedFor.get(current) ?? [];
      const isKnown = names.some((name) => name.entity === entity && name.field === field);
      if (isKnown || names.length >= mostNumbers) return;
      if (askedFor.size >= mostPlaces) askedFor.clear();
      askedFor.set(current, [...names, { entity, field }]);
    },
    ended(hasUsed) {
      if (hasGiven && !hasUsed) askedFor.delete(current);
    },
  };
};
