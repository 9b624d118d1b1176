/**
 * Checks `before` and `after` of a grader's checks. Each names another check of the grader, by a name that only one
 * check has, and together they contain no cycle.
 */
import type { GivenCheck } from '../checks.ts';
import { suggestName } from '../read/suggest.ts';
import type { Fault } from './conditions.ts';

const words = ['before', 'after'] as const;

type Reference = { from: number; to: number; word: (typeof words)[number] };

/** Returns, for each check by its index, the indexes of the checks that must come after it. */
const followersOf = (references: readonly Reference[]): Map<number, number[]> => {
  const pairs = references.map(({ from, to, word }) =>
    word === 'before' ? { first: from, next: to } : { first: to, next: from },
  );
  const grouped = Map.groupBy(pairs, ({ first }) => first);
  return new Map([...grouped].map(([first, list]) => [first, list.map(({ next }) => next)]));
};

/** Returns true if a check would have to come before itself. */
const isCircular = (start: number, followers: ReadonlyMap<number, number[]>): boolean => {
  const seen = new Set<number>();
  const waiting = [...(followers.get(start) ?? [])];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at === start) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    waiting.push(...(followers.get(at) ?? []));
  }
  return false;
};

/**
 * Returns the faults of the order that checks require. The first segment of a fault's path is the index of the check.
 */
export const orderFaults = (checks: readonly GivenCheck[], names: readonly string[]): Fault[] => {
  const references: Reference[] = [];
  const faults: Fault[] = [];
  for (const [from, check] of checks.entries()) {
    for (const word of words) {
      const wanted = check[word];
      if (wanted === undefined) continue;
      const to = names.indexOf(wanted);
      const isTwice = checks.filter(({ name }) => name === wanted).length > 1;
      const refuse = (message: string, hint?: string): void => {
        faults.push({
          path: [from, word],
          code: 'bad_value',
          message: `${word}: ${message}`,
          hint,
        });
      };
      if (to === -1) refuse(`there is no check named "${wanted}"`, suggestName(wanted, names));
      else if (isTwice) refuse(`there are two checks named "${wanted}"`);
      else if (to === from) refuse('a check cannot come before or after itself');
      else references.push({ from, to, word });
    }
  }
  const followers = followersOf(references);
  const circular = references.find(({ from }) => isCircular(from, followers));
  if (circular === undefined) return faults;
  const { from, word } = circular;
  const message = `${word}: "${names[from]}" would have to come before itself`;
  return [...faults, { path: [from, word], code: 'bad_value', message }];
};
