/**
 * Tables with known keys, described as data: each key's kind, and what holds when it is absent. One
 * reader serves them all, so that widening the language is adding an entry.
 *
 * A refused value is replaced by the key's neutral one, so that the checks that follow need not ask
 * whether it was there; a tree with a problem is never compiled.
 */
import { languageLimits } from '../limits.ts';
import { type Kind, refuseType } from './kinds.ts';
import { createPlace, createProblems, type Place, silent } from './place.ts';
import { suggestName } from './suggest.ts';
import { isTable, own } from './values.ts';

export type Key<Value> = {
  read(place: Place, value: unknown): Value;
  absent(place: Place, name: string): Value;
  /** Whether to suggest it for a key that is not known. */
  isOffered: boolean;
};

export type Keys = Readonly<Record<string, Key<unknown>>>;

export type TableOf<Known extends Keys> = {
  [Name in keyof Known]: Known[Name] extends Key<infer Value> ? Value : never;
};

/** A key that must be there; `neutral` stands in for it once its absence is noted. */
export const required = <Value>(kind: Kind<Value>, neutral: Value): Key<Value> => ({
  read: (place, value) => kind(place, value) ?? neutral,
  absent: (place, name) => {
    place.refuse('missing_key', `the key "${name}" is missing`);
    return neutral;
  },
  isOffered: true,
});

/** A key with a default. */
export const defaulted = <Value>(kind: Kind<Value>, fallback: Value): Key<Value> => ({
  read: (place, value) => kind(place, value) ?? fallback,
  absent: () => fallback,
  isOffered: true,
});

/** A key that may be absent and has no default. */
export const optional = <Value>(kind: Kind<Value>): Key<Value | undefined> =>
  defaulted<Value | undefined>(kind, undefined);

/** A key that the language has and a program acts on only later: refused, so that nobody relies on it. */
export const unsupported = (): Key<undefined> => ({
  read: (place) => {
    const name = place.pointer.slice(place.pointer.lastIndexOf('/') + 1);
    const message = `the key "${name}" belongs to svc-world/1 but is not supported yet`;
    place.refuse('unsupported_key', message, 'leave it out');
    return undefined;
  },
  absent: () => undefined,
  isOffered: false,
});

/** A key that somebody might expect here and that the language rules out, for the reason given. */
export const ruledOut = (why: string): Key<undefined> => ({
  read: (place) => {
    place.refuse('unexpected_key', why, 'leave it out');
    return undefined;
  },
  absent: () => undefined,
  isOffered: false,
});

const refuseUnknown = (place: Place, name: string, known: Keys): void => {
  const names = Object.keys(known).filter((key) => known[key]?.isOffered);
  const message = `unknown key "${name.slice(0, 100)}"`;
  place.at(name).refuse('unknown_key', message, suggestName(name, names));
};

/** Reads a table by the description of its keys and refuses every other key by name. */
export const readTable = <const Known extends Keys>(
  place: Place,
  value: unknown,
  known: Known,
): TableOf<Known> => {
  const isRead = isTable(value);
  if (!isRead) refuseType(place, 'a table', value);
  const table = isRead ? value : {};
  const at = isRead ? place : silent(place);
  const unknown = Object.keys(table).filter((name) => !Object.hasOwn(known, name));
  for (const name of unknown.slice(0, languageLimits.unknownKeys)) refuseUnknown(at, name, known);
  const read = Object.entries(known).map(([name, key]) => {
    const held = own(table, name);
    const keyPlace = at.at(name);
    return [name, held === undefined ? key.absent(keyPlace, name) : key.read(keyPlace, held)];
  });
  return Object.fromEntries(read) as TableOf<Known>;
};

/** The kind of a value that is a table with known keys. */
export const tableOf =
  <const Known extends Keys>(known: Known): Kind<TableOf<Known>> =>
  (place, value) =>
    readTable(place, value, known);

/** A table that must be there. Absent, it is refused once, not once for each of its keys. */
export const requiredTable = <const Known extends Keys>(known: Known): Key<TableOf<Known>> => ({
  read: (place, value) => readTable(place, value, known),
  absent: (place, name) => {
    place.refuse('missing_key', `the table "${name}" is missing`);
    return readTable(silent(place), {}, known);
  },
  isOffered: true,
});

/** A table that may be absent; its defaults hold then. */
export const defaultedTable = <const Known extends Keys>(known: Known): Key<TableOf<Known>> => ({
  read: (place, value) => readTable(place, value, known),
  absent: (place) => readTable(silent(place), {}, known),
  isOffered: true,
});

/** What a table holds when it is absent and nothing of it is required. */
export const tableDefaults = <const Known extends Keys>(known: Known): TableOf<Known> =>
  readTable(silent(createPlace(createProblems(), '')), {}, known);
