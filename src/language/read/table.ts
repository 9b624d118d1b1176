/**
 * Tables with known keys, described as data: the kind and the default of each key. One reader reads all tables, so that
 * the language is extended by adding an entry.
 *
 * A refused value is replaced by the key's neutral value, so that later checks need not test whether the value exists;
 * a tree with a problem never becomes a contract.
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

/** Adds to a key a description, which editors show. */
export const described = <Value>(about: string, key: Key<Value>): Key<Value> => ({
  ...key,
  schema: { description: about, ...key.schema },
});

export type TableOf<Known extends Keys> = {
  [Name in keyof Known]: Known[Name] extends Key<infer Value> ? Value : never;
};

/** Builds a required key. If the key is absent, that is reported, and `neutral` is its value. */
export const required = <Value>(of: Kind<Value>, neutral: Value): Key<Value> => ({
  read: (place, value) => of(place, value) ?? neutral,
  absent: (place, name) => {
    place.refuse('missing_key', `the key "${name}" is missing`);
    return neutral;
  },
  schema: of.schema ?? {},
  isRequired: true,
});

/** Returns the default that editors show: only a scalar, because an empty table or list is uninformative. */
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

/** Builds a key that authors might expect in a table and that the language does not allow there, with the reason. */
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

/** Reads a table whose keys are described, and refuses every other key by name. */
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

/** Builds a required table. If the table is absent, one problem is reported, and not one for each of its keys. */
export const requiredTable = <const Known extends Keys>(known: Known): Key<TableOf<Known>> => ({
  read: (place, value) => readTable(place, value, known),
  absent: (place, name) => {
    place.refuse('missing_key', `the table "${name}" is missing`);
    return readTable(silent(place), {}, known);
  },
  schema: tableSchema(known),
  isRequired: true,
});

/** Builds an optional table; if the table is absent, its keys have their defaults. */
export const defaultedTable = <const Known extends Keys>(known: Known): Key<TableOf<Known>> => ({
  read: (place, value) => readTable(place, value, known),
  absent: (place) => readTable(silent(place), {}, known),
  schema: tableSchema(known),
});

/** Returns the values of a table that is absent and has no required keys. */
export const tableDefaults = <const Known extends Keys>(known: Known): TableOf<Known> =>
  readTable(silent(createPlace(createProblems(), '')), {}, known);
