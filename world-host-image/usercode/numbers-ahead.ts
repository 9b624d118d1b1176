/**
 * Numbers of new rows that a run is given before it asks for them: those that the run of the same function asked
 * for last time, so that most rows are made with one ask less. A number that is counted in a whole entity stays what the
 * store would answer until the run writes to that entity; from then on its worker asks.
 */
import { StoreRefusal } from '#store/refusal.ts';
import type { StoreAccess } from './run.ts';

/** The next number of each field, by entity. */
export type GivenNumbers = Record<string, Record<string, number>>;

export type NumbersAhead = {
  /** A run of this place begins: what it is given; null for nothing, and always without a way to the numbers. */
  begin(place: string, next: StoreAccess['nextInteger'] | undefined): GivenNumbers | null;
  /** The run asked for a number of a whole entity, and was answered. */
  asked(entity: string, field: string): void;
  /** The run has ended; what no run uses is not given again. */
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
      // Whoever asks for it is told.
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
