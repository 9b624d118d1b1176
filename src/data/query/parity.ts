/**
 * Compares two worlds: the rows of an entity with those of the corresponding entity of a linked world, by each pair of
 * mapped fields.
 *
 * Rows are matched by one of the pairs, the key. The rows of both worlds are read in the order of their keys, one by
 * one, and not held in memory, so a million rows take time but no memory. If several rows of a world have the same key,
 * the first is matched with the first of the other world, and so on. A row without a key matches none.
 */
import { isDeepStrictEqual } from 'node:util';
import { compareKeys } from './keys.ts';
import { type Read, readInOrder, type Side } from './ordered.ts';
import { type ComparedPair, type Conversion, chooseKey, comparePair } from './pairs.ts';
import type { Difference, FieldPair, FieldParity, Parity } from './plan.ts';

const mostExamples = 5;

const parse = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

const isEqualBy =
  (here: unknown, there: unknown) =>
  (conversion: Conversion): boolean =>
    isDeepStrictEqual(conversion.here?.(here) ?? here, conversion.there?.(there) ?? there);

/** Creates the counters of one pair of fields. */
const createTally = ({ pair, conversions, reason }: ComparedPair) => {
  const counts = { equal: 0, onlyHere: 0, onlyThere: 0, differing: 0 };
  const examples: Difference[] = [];
  const note = (what: Exclude<keyof typeof counts, 'equal'>, describe: () => Difference): void => {
    counts[what] += 1;
    if (examples.length < mostExamples) examples.push(describe());
  };
  return {
    meet(keyText: string | null, hereText: string | null, thereText: string | null): void {
      if (reason !== undefined) return;
      if (hereText === thereText) {
        if (hereText !== null && hereText !== 'null') counts.equal += 1;
        return;
      }
      const here = parse(hereText);
      const there = parse(thereText);
      if (conversions.some(isEqualBy(here, there))) {
        if (here !== null) counts.equal += 1;
        return;
      }
      const describe = () => ({ key: parse(keyText), here, there });
      if (there === null) note('onlyHere', describe);
      else if (here === null) note('onlyThere', describe);
      else note('differing', describe);
    },
    /** Counts two matched rows as equal in this pair. The pair is the key, and the rows have the same text in it. */
    meetEqual(): void {
      if (reason === undefined) counts.equal += 1;
    },
    alone(side: 'here' | 'there', text: string | null): void {
      const here = side === 'here';
      note(here ? 'onlyHere' : 'onlyThere', () => {
        const value = parse(text);
        return { key: value, here: here ? value : null, there: here ? null : value };
      });
    },
    result: (): FieldParity =>
      reason === undefined
        ? { ...pair, ...counts, examples }
        : {
            ...pair,
            equal: null,
            onlyHere: null,
            onlyThere: null,
            differing: null,
            examples,
            reason,
          },
  };
};

type Tally = ReturnType<typeof createTally>;

const nothingIn = (pairs: readonly ComparedPair[]): Parity => ({
  key: null,
  rows: { matched: 0, onlyHere: 0, onlyThere: 0 },
  fields: pairs.map((pair) => createTally(pair).result()),
});

/**
 * Compares those rows of two worlds that meet the conditions. The key is the pair that identifies rows best: first a
 * pair that is unique in both worlds, then one that is unique in one world, then one that the query names, then the
 * first. Throws `StoreRefusal` for an unknown field.
 */
export const compareSides = (
  here: Side,
  there: Side,
  { pairs, asked }: { pairs: readonly FieldPair[]; asked: ReadonlySet<string> },
): Parity => {
  const compared = pairs.map((pair) => comparePair(pair, here.file.policy, there.file.policy));
  const sides = {
    here: here.file.catalog.entity(here.entity),
    there: there.file.catalog.entity(there.entity),
  };
  const key = chooseKey(compared, sides, asked);
  if (key === undefined) return nothingIn(compared);
  const place = compared.indexOf(key);
  const match = (
    conversion: Conversion,
    fields: readonly FieldPair[],
    tallies: readonly Tally[],
  ) => {
    const left = readInOrder(
      here,
      { field: key.pair.field, map: conversion.here, called: 'svc_key_here' },
      fields.map(({ field }) => field),
    );
    const right = readInOrder(
      there,
      { field: key.pair.targetField, map: conversion.there, called: 'svc_key_there' },
      fields.map(({ targetField }) => targetField),
    );
    return walk(left, right, tallies, place);
  };
  const matchedBy = (conversion: Conversion): number =>
    key.keyConversions.length === 1 ? 0 : match(conversion, [], []).matched;
  const [best = {}] = key.keyConversions
    .map((conversion) => ({ conversion, matched: matchedBy(conversion) }))
    .sort((one, other) => other.matched - one.matched)
    .map(({ conversion }) => conversion);
  const tallies = compared.map(createTally);
  const rows = match(best, pairs, tallies);
  return { key: key.pair, rows, fields: tallies.map((tally) => tally.result()) };
};

/** Merges both sides in the order of their keys; `at` is the index of the key among the fields. */
const walk = (
  left: Iterator<Read>,
  right: Iterator<Read>,
  tallies: readonly Tally[],
  at: number,
): Parity['rows'] => {
  const rows = { matched: 0, onlyHere: 0, onlyThere: 0 };
  let [here, there] = [left.next(), right.next()];
  while (here.done !== true || there.done !== true) {
    const order = orderOf(here, there);
    if (order === 0 && here.done !== true && there.done !== true) {
      const [one, other] = [here.value, there.value];
      rows.matched += 1;
      const key = one.values[at] ?? null;
      const isText = typeof one.key === 'string' && typeof other.key === 'string';
      for (const [index, tally] of tallies.entries()) {
        if (index === at && isText) tally.meetEqual();
        else tally.meet(key, one.values[index] ?? null, other.values[index] ?? null);
      }
      [here, there] = [left.next(), right.next()];
    } else if (order < 0 && here.done !== true) {
      rows.onlyHere += 1;
      tallies[at]?.alone('here', here.value.values[at] ?? null);
      here = left.next();
    } else if (there.done !== true) {
      rows.onlyThere += 1;
      tallies[at]?.alone('there', there.value.values[at] ?? null);
      there = right.next();
    }
  }
  return rows;
};

/**
 * Returns a negative number if the row of this world comes first, 0 if both rows have the same key. A row without a key
 * comes first, and matches no other.
 */
const orderOf = (here: IteratorResult<Read>, there: IteratorResult<Read>): number => {
  if (here.done === true) return 1;
  if (there.done === true || here.value.key === null) return -1;
  if (there.value.key === null) return 1;
  return compareKeys(here.value.key, there.value.key);
};
