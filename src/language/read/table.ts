/**
 * Tables with known keys, described as data: each key's kind, and what holds when it is absent. One
 * reader serves them all, so that widening the language is adding an entry.
 *
 * A refused value is replaced by the key's neutral one, so that the checks that follow need not ask
 * whether it was there; a tree with a problem is never compiled.
 */
import { own } from '#domain/json.ts';
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import { type Kind, kind, refuseType } from './kinds.ts';
import { createPlace, createProblems, type Place, silent } from './place.ts';
import { nearestName, suggestName } from './suggest.ts';
import { isTable } from './values.ts';

type Key<Value> = {
  read(place: Place, value: unknown): Value;
  absent(place: Place, name: string): Value;
  /** What it holds, for editors; absent for a key that nobody is meant to write. */
  schema?: JsonSchema;
  isRequired?: boolean;
};

type Keys = Readonly<Record<string, Key<unknown>>>;

/** A key with a sentence about it, which editors show. */
export const described = <Value>(about: string, key: Key<Value>): Key<Value> => ({
  ...key,
  schema: { description: about, ...key.schema },
});

export type TableOf<Known extends Keys> = {
  [Name in keyof Known]: Known[Name] extends Key<infer Value> ? Value : never;
};

/** A key that must be there; `neutral` stands in for it once its absence is noted. */
export const required = <Value>(of: Kind<Value>, neutral: Value): Key<Value> => ({
  read: (place, value) => of(place, value) ?? neutral,
  absent: (place, name) => {
    place.refuse('missing_key', `the key "${name}" is missing`);
    return neutral;
  },
  schema: of.schema ?? {},
  isRequired: true,
});

/** The default as editors show it: scalars only, since an empty table or list says nothing. */
const defaultFor = (fallback: unknown): JsonSchema =>
  ['string', 'number', 'boolean'].includes(typeof fallback) ? { default: fallback } : {};

/** A key with a default. */
export const defaulted = <Value>(of: Kind<Value>, fallback: Value): Key<Value> => ({
  read: (place, value) => of(place, value) ?? fallback,
  absent: () => fallback,
  schema: { ...of.schema, ...defaultFor(fallback) },
});

/** A key that may be absent and has no default. */
export const optional = <Value>(of: Kind<Value>): Key<Value | undefined> =>
  defaulted<Value | undefined>(of, undefined);

/** A key that somebody might expect here and that the language rules out, for the reason given. */
export const ruledOut = (why: string): Key<undefined> => ({
  read: (place) => {
    place.refuse('unexpected_key', why, 'leave it out');
    return undefined;
  },
  absent: () => undefined,
});

/** The keys that may be written. */
const writtenKeys = (known: Keys): string[] =>
  Object.keys(known).filter((key) => known[key]?.schema !== undefined);

const refuseUnknown = (place: Place, name: string, names: readonly string[]): void => {
  const message = `unknown key "${name.slice(0, 100)}"`;
  place.at(name).ofKey().refuse('unknown_key', message, suggestName(name, names));
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
  const names = writtenKeys(known);
  const refused = unknown.slice(0, languageLimits.unknownKeys);
  for (const name of refused) refuseUnknown(at, name, names);
  // A misspelt key is one mistake: what it was meant for is not missing as well.
  const meant = new Set(refused.map((name) => nearestName(name, names)));
  const read = Object.entries(known).map(([name, key]) => {
    const held = own(table, name);
    const keyPlace = at.at(name);
    if (held !== undefined) return [name, key.read(keyPlace, held)];
    return [name, key.absent(meant.has(name) ? silent(keyPlace) : keyPlace, name)];
  });
  return Object.fromEntries(read) as TableOf<Known>;
};

/** What a table with known keys may hold, in JSON Schema. */
export const tableSchema = (known: Keys): JsonSchema => {
  const written = Object.entries(known).filter(([, { schema }]) => schema !== undefined);
  const needed = written.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  return {
    type: 'object',
    additionalProperties: false,
    ...(needed.length > 0 && { required: needed }),
    properties: Object.fromEntries(written.map(([name, { schema }]) => [name, schema])),
  };
};

/** The kind of a value that is a table with known keys. */
export const tableOf = <const Known extends Keys>(known: Known): Kind<TableOf<Known>> =>
  kind(tableSchema(known), (place, value) => readTable(place, value, known));

/** A table that must be there. Absent, it is refused once, not once for each of its keys. */
export const requiredTable = <const Known extends Keys>(known: Known): Key<TableOf<Known>> => ({
  read: (place, value) => readTable(place, value, known),
  absent: (place, name) => {
    place.refuse('missing_key', `the table "${name}" is missing`);
    return readTable(silent(place), {}, known);
  },
  schema: tableSchema(known),
  isRequired: true,
});

/** A table that may be absent; its defaults hold then. */
export const defaultedTable = <const Known extends Keys>(known: Known): Key<TableOf<Known>> => ({
  read: (place, value) => readTable(place, value, known),
  absent: (place) => readTable(silent(place), {}, known),
  schema: tableSchema(known),
});

/** What a table holds when it is absent and nothing of it is required. */
export const tableDefaults = <const Known extends Keys>(known: Known): TableOf<Known> =>
  readTable(silent(createPlace(createProblems(), '')), {}, known);
