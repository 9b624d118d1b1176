/**
 * Tests properties of redaction for any policy and row. Redaction agrees with a second, simple implementation of the
 * rules, and with verification. Rows that could be joined before redaction can be joined after it.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RedactPolicy, Row } from '../contract.ts';
import { fieldPolicy, redactLookup, redactRow, verifyRow } from './redact.ts';

const keys = ['a', 'b', 'mail', 'tags', '__proto__', 'toString', '0', 'ä'];
const key = fc.constantFrom(...keys);

const scalar = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.stringMatching(/^[A-Z]{1,4}-\d{1,6}$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -99_999, max: 99_999 }).map((number) => number / 1000),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(`sha256:${'0a'.repeat(32)}`),
);

/** Builds an object with own keys only, as a JSON parser does. */
const objectOf = (entries: [string, unknown][]): Row => Object.fromEntries(entries);

const { row } = fc.letrec<{ value: unknown; row: Row }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('row'),
  ),
  row: fc
    .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 5, selector: ([name]) => name })
    .map(objectOf),
}));

const path = fc
  .array(fc.constantFrom(...keys, '*'), { minLength: 2, maxLength: 4 })
  .map((segments) => segments.join('.'));
const names = fc.uniqueArray(fc.oneof(key, path), { maxLength: 3 });

const policy: fc.Arbitrary<RedactPolicy> = fc.record({
  slug: fc.constantFrom('board', 'other-board'),
  hash: names,
  drop: names,
  preserve: names,
  round: fc
    .uniqueArray(fc.tuple(key, fc.nat({ max: 10 })), { maxLength: 2, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries)),
});

const withoutPreserve = policy.map((of) => ({ ...of, preserve: [] }));

/** Keys of objects and indexes of lists on the path to a value. */
type Way = { segment: string; isItem: boolean }[];

const isMeant = (name: string, way: Way): boolean => {
  const last = way.at(-1);
  if (!name.includes('.')) return last?.isItem === false && last.segment === name;
  const segments = name.split('.');
  return (
    segments.length === way.length &&
    way.every(({ segment, isItem }, index) => {
      return segments[index] === (isItem ? '*' : segment);
    })
  );
};

/** Returns the path of the enclosing list if the place is an item of a list. */
const listAround = (way: Way): Way | undefined =>
  way.at(-1)?.isItem === true ? way.slice(0, -1) : undefined;

/** Returns true if one of the names matches the place, or matches a list that has the place as an item. */
const covers = (list: readonly string[], way: Way): boolean => {
  if (list.some((name) => isMeant(name, way))) return true;
  const around = listAround(way);
  return around !== undefined && covers(list, around);
};

/** Redacts by a second implementation of the rules, from the specification, for all modes but `preserve`. */
const redactPlainly = (of: RedactPolicy, value: unknown, way: Way): unknown => {
  const isDropped = (segment: string, isItem: boolean): boolean =>
    of.drop.some((name) => isMeant(name, [...way, { segment, isItem }]));
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => {
      const segment = String(index);
      if (isDropped(segment, true)) return [];
      return [redactPlainly(of, item, [...way, { segment, isItem: true }])];
    });
  }
  if (typeof value === 'object' && value !== null) {
    return objectOf(
      Object.entries(value)
        .filter(([name]) => !isDropped(name, false))
        .map(([name, inner]) => [
          name,
          redactPlainly(of, inner, [...way, { segment: name, isItem: false }]),
        ]),
    );
  }
  if (value !== null && covers(of.hash, way)) {
    if (/^sha256:[0-9a-f]{64}$/.test(String(value))) return value;
    return `sha256:${createHash('sha256').update(`${of.slug}:${value}`).digest('hex')}`;
  }
  const [, decimals] = Object.entries(of.round).find(([name]) => isMeant(name, way)) ?? [];
  if (typeof value !== 'number' || decimals === undefined) return value;
  return redactRow({ ...of, hash: [], drop: [], round: { n: decimals } }, { n: value }).row.n;
};

/** Returns true if an object in a hashed or preserved field still has a value that no rule of its own matches. */
const leftInObjects = (of: RedactPolicy, value: unknown, way: Way, isHeld: boolean): boolean => {
  const isNamed = (list: readonly string[]) => covers(list, way);
  const isContainer = typeof value === 'object' && value !== null;
  const [hash, preserve] = [isNamed(of.hash), isNamed(of.preserve)];
  const isRounded = Object.keys(of.round).some((name) => isMeant(name, way));
  if (!isContainer) {
    const isPlain = value !== null && !/^sha256:[0-9a-f]{64}$/.test(String(value));
    return isHeld && !hash && !preserve && !isRounded && isPlain;
  }
  const isItem = Array.isArray(value);
  const inner = hash || preserve ? !isItem : isHeld;
  return Object.entries(value).some(([segment, part]) =>
    leftInObjects(of, part, [...way, { segment, isItem }], inner),
  );
};

/** Returns a row as text, which shows the order of keys, and a key `__proto__`. */
const spell = (value: unknown): string => JSON.stringify(value);

/** Returns a row's text with all digits replaced by one digit, and all letters of each case by one letter. */
const shapeOf = (value: unknown): string =>
  spell(value).replace(/\d/g, '0').replace(/[A-Z]/g, 'A').replace(/[a-z]/g, 'a');

const runs = { numRuns: 500 };

describe('redaction, whatever the policy and the row', () => {
  it('gives the same result as a simple model of the rules, with the same order of keys', () => {
    fc.assert(
      fc.property(withoutPreserve, row, (of, given) => {
        expect(spell(redactRow(of, given).row)).toBe(spell(redactPlainly(of, given, [])));
      }),
      runs,
    );
  });

  it('makes rows that verification accepts, except for objects in hashed and preserved fields; does not change rows that verification accepts', () => {
    fc.assert(
      fc.property(policy, row, (of, given) => {
        const { row: redacted, counts } = redactRow(of, given);
        const { dropped, hashed, rounded } = counts;
        const isClean = dropped + hashed + rounded === 0;
        const left = leftInObjects(of, redacted, [], false);
        const isRefused = (value: Row) => verifyRow(of, value).length > 0;
        expect(isRefused(redacted)).toBe(left);
        expect(isRefused(given)).toBe(!isClean || left);
      }),
      runs,
    );
  });

  it('changes nothing when it is applied again, except in preserved fields', () => {
    fc.assert(
      fc.property(withoutPreserve, row, (of, given) => {
        const once = redactRow(of, given).row;
        const twice = redactRow(of, once);
        expect(spell(twice.row)).toBe(spell(once));
        expect(twice.counts).toMatchObject({ hashed: 0, dropped: 0, preserved: 0, rounded: 0 });
      }),
      runs,
    );
  });

  it('preserves the shape of every value, with the same result every time', () => {
    fc.assert(
      fc.property(policy, row, (of, given) => {
        const preserving = { ...of, hash: [], drop: [], round: {}, preserve: keys };
        const { row: preserved } = redactRow(preserving, given);
        const named = JSON.parse(spell(given));
        expect(shapeOf(preserved)).toBe(shapeOf(named));
        expect(spell(redactRow(structuredClone(preserving), given).row)).toBe(spell(preserved));
      }),
      runs,
    );
  });

  it('does not change its input row', () => {
    fc.assert(
      fc.property(policy, row, (of, given) => {
        const before = spell(given);
        redactRow(of, given);
        verifyRow(of, given);
        expect(spell(given)).toBe(before);
      }),
      runs,
    );
  });

  it('keeps joins between worlds with the same slug, and allows none between worlds with different slugs', () => {
    const text = fc.string({ minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const of = { slug: 'board', hash: ['a', 'b'], drop: [], preserve: [], round: {} };
        const { row: joined } = redactRow(of, { a: one, of: [{ b: one }, { b: other }] });
        expect(joined).toMatchObject({ of: [{ b: joined.a }, {}] });
        const [, second] = joined.of as Row[];
        expect(second?.b === joined.a).toBe(one === other);
        expect(redactRow({ ...of, slug: 'other' }, { a: one }).row.a).not.toBe(joined.a);
      }),
      runs,
    );
  });

  it('finds a top-level field by its stored value, and returns its policy', () => {
    fc.assert(
      fc.property(policy, key, scalar, (of, name, value) => {
        const { row: stored } = redactRow(of, objectOf([[name, value]]));
        const lookup = redactLookup(of, [name], value);
        const mark = fieldPolicy(of, [name]);
        if (name === '0') return;
        expect(lookup).toEqual(
          Object.hasOwn(stored, name) ? { value: Object.entries(stored)[0]?.[1] } : undefined,
        );
        if (mark === undefined) expect(lookup).toEqual({ value });
        expect(mark?.mode === 'drop').toBe(lookup === undefined);
      }),
      runs,
    );
  });
});
