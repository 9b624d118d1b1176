/**
 * Kinds of values that a key can hold. A kind reads a value at its place: it returns what it stands
 * for, or refuses it there and returns undefined.
 */
import type { Place } from './place.ts';
import { suggestName } from './suggest.ts';
import { isTable, kindOf } from './values.ts';

export type Kind<Value> = (place: Place, value: unknown) => Value | undefined;

const refuseType = (place: Place, wanted: string, value: unknown): undefined => {
  place.refuse('wrong_type', `must be ${wanted}, is ${kindOf(value)}`);
};

/** Any text. */
export const text: Kind<string> = (place, value) =>
  typeof value === 'string' ? value : refuseType(place, 'a text', value);

/** A text with at least one character, and at most `most`. */
export const filledText =
  (most = 1_000): Kind<string> =>
  (place, value) => {
    const read = text(place, value);
    if (read === undefined || (read.trim() !== '' && read.length <= most)) return read;
    const wrong = read.trim() === '' ? 'must not be empty' : `is longer than ${most} characters`;
    place.refuse('bad_value', `${wrong}`);
    return undefined;
  };

/** A text of which `accepts` holds; `wanted` says in words what that is. */
export const textThat =
  (wanted: string, accepts: (read: string) => boolean): Kind<string> =>
  (place, value) => {
    const read = text(place, value);
    if (read === undefined || accepts(read)) return read;
    place.refuse('bad_value', `"${read.slice(0, 100)}" must be ${wanted}`);
    return undefined;
  };

/** One of a few words. */
export const oneOf =
  <const Word extends string>(words: readonly Word[]): Kind<Word> =>
  (place, value) => {
    const read = text(place, value);
    const word = words.find((candidate) => candidate === read);
    if (read === undefined || word !== undefined) return word;
    const choice = words.length === 1 ? `"${words[0]}"` : `one of ${words.join(', ')}`;
    const message = `"${read.slice(0, 100)}" must be ${choice}`;
    place.refuse('bad_value', message, suggestName(read, words));
    return undefined;
  };

/** One value and no other. */
export const exactly =
  <const Value extends string | number>(wanted: Value): Kind<Value> =>
  (place, value) => {
    if (value === wanted) return wanted;
    place.refuse('bad_value', `must be exactly ${JSON.stringify(wanted)}, is ${kindOf(value)}`);
    return undefined;
  };

/** A whole number within bounds, both included. */
export const integer =
  (min: number, max: number): Kind<number> =>
  (place, value) => {
    if (typeof value !== 'number') return refuseType(place, 'a whole number', value);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    place.refuse('bad_value', `${value} is not a whole number from ${min} to ${max}`);
    return undefined;
  };

export const flag: Kind<boolean> = (place, value) =>
  typeof value === 'boolean' ? value : refuseType(place, 'true or false', value);

/** Any value at all. */
export const anything: Kind<unknown> = (_place, value) => value;

/** A value that a later reader looks at, with the place it stands at. */
export type Placed<Value> = { place: Place; value: Value };

export const placed =
  <Value>(kind: Kind<Value>): Kind<Placed<Value>> =>
  (place, value) => {
    const read = kind(place, value);
    return read === undefined ? undefined : { place, value: read };
  };

/** A list; items that are refused are left out. */
export const listOf =
  <Value>(kind: Kind<Value>, { least = 0 } = {}): Kind<Value[]> =>
  (place, value) => {
    if (!Array.isArray(value)) return refuseType(place, 'a list', value);
    if (value.length < least) place.refuse('bad_value', `the list must not be empty`);
    return value.flatMap((item: unknown, index) => {
      const read = kind(place.at(index), item);
      return read === undefined ? [] : [read];
    });
  };

/** A list in which no item comes twice. */
export const distinct =
  (kind: Kind<string[]>): Kind<string[]> =>
  (place, value) => {
    const read = kind(place, value);
    for (const [index, item] of (read ?? []).entries()) {
      if (read?.indexOf(item) !== index) {
        place.at(index).refuse('duplicate', `"${item}" is listed twice`);
      }
    }
    return read === undefined ? undefined : [...new Set(read)];
  };

/** A table whose keys the author chooses; entries that are refused are left out. */
export const mapOf =
  <Value>(kind: Kind<Value>, { least = 0 } = {}): Kind<Map<string, Value>> =>
  (place, value) => {
    if (!isTable(value)) return refuseType(place, 'a table', value);
    const entries = Object.entries(value);
    if (entries.length < least) place.refuse('bad_value', 'the table must not be empty');
    return new Map(
      entries.flatMap(([key, item]): [string, Value][] => {
        const read = kind(place.at(key), item);
        return read === undefined ? [] : [[key, read]];
      }),
    );
  };
