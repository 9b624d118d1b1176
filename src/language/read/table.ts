/**
 * Tables with known keys, described as data: each key's kind and default. One reader serves them all, so that the
 * language is extended by adding an entry.
 *
 * A refused value is replaced by the key's neutral one, so that later checks need not test for its presence; a tree
 * with a problem is never compiled.
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
  /** Schema of the value, for editors; absent for a key that authors must not write. */
  schema?: JsonSchema;
  isRequired?: boolean;
};

type Keys = Readonly<Record<string, Key<unknown>>>;

/** Adds a description to a key, which editors show. */
export const described = <Value>(about: string, key: Key<Value>): Key<Value> => ({
  ...key,
  schema: { description: about, ...key.schema },
});

export type TableOf<Known extends Keys> = {
  [Name in keyof Known]: Known[Name] extends Key<infer Value> ? Value : never;
};

/** Builds a required key; `neutral` replaces it once its absence is reported. */
export const required = <Value>(of: Kind<Value>, neutral: Value): Key<Value> => ({
  read: (place, value) => of(place, value) ?? neutral,
  absent: (place, name) => {
    place.refuse('missing_key', `the key "${name}" is missing`);
    return neutral;
  },
  schema: of.schema ?? {},
  isRequired: true,
});

/** Returns the default for editors: scalars only, since an empty table or list is uninformative. */
const defaultFor = (fallback: unknown): JsonSchema =>
  ['string', 'number', 'boolean'].includes(typeof fallback) ? { default: fallback } : {};

/** Builds a key with a default. */
export const defaulted = <Value>(of: Kind<Value>, fallback: Value): Key<Value> => ({
  read: (place, value) => of(place, value) ?? fallback,
  absent: () => fallback,
  schema: { ...of.schema, ...defaultFor(fallback) },
});

/** Builds an optional key without a default. */
export const optional = <Value>(of: Kind<Value>): Key<Value | undefined> =>
  defaulted<Value | undefined>(of, undefined);

/** Builds a key that authors might expect here and that the language excludes, with the reason. */
export const ruledOut = (why: string): Key<undefined> => ({
  read: (place) => {
    place.refuse('unexpected_key', why, 'leave it out');
    return undefined;
  },
  absent: () => undefined,
});

/** Returns the keys that authors may write. */
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
  // A misspelt key is one problem: the key that it was meant to be is not also reported as missing.
  const meant = new Set(refused.map((name) => nearestName(name, names)));
  const read = Object.entries(known).map(([name, key]) => {
    const held = own(table, name);
    const keyPlace = at.at(name);
    if (held !== undefined) return [name, key.read(keyPlace, held)];
    return [name, key.absent(meant.has(name) ? silent(keyPlace) : keyPlace, name)];
  });
  return Object.fromEntries(read) as TableOf<Known>;
};

/** Returns the JSON Schema of a table with known keys. */
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

/** Builds the kind of a table with known keys. */
export const tableOf = <const Known extends Keys>(known: Known): Kind<TableOf<Known>> =>
  kind(tableSchema(known), (place, value) => readTable(place, value, known));

/** Builds a required table. If it is absent, one problem is reported, not one for each of its keys. */
export const requiredTable = <const Known extends Keys>(known: Known): Key<TableOf<Known>> => ({
  read: (place, value) => readTable(place, value, known),
  absent: (place, name) => {
    place.refuse('missing_key', `the table "${name}" is missing`);
    return readTable(silent(place), {}, known);
  },
  schema: tableSchema(known),
  isRequired: true,
});

/** Builds an optional table; if it is absent, its defaults apply. */
export const defaultedTable = <const Known extends Keys>(known: Known): Key<TableOf<Known>> => ({
  read: (place, value) => readTable(place, value, known),
  absent: (place) => readTable(silent(place), {}, known),
  schema: tableSchema(known),
});

/** Returns the contents of an absent table without required keys. */
export const tableDefaults = <const Known extends Keys>(known: Known): TableOf<Known> =>
  readTable(silent(createPlace(createProblems(), '')), {}, known);
