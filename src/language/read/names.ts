/**
 * Rules for names that authors choose. Names that every JavaScript object inherits, such as `constructor`, are refused
 * everywhere, because looking them up in a row would not be safe.
 */
import type { Place } from './place.ts';

const inherited: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
]);

const reservedPrefixes = ['sqlite_', 'svc_', 'benchmark_'];

/** Names of the store's own columns, which no field may have. */
const storeColumns = ['_key', 'payload'];

export const isInherited = (name: string): boolean => inherited.has(name);

/** Returns true if a name is acceptable. Refuses names that objects inherit or that contain a lone surrogate. */
export const acceptName = (place: Place, name: string): boolean => {
  if (!name.isWellFormed()) {
    place.refuse('bad_name', `${JSON.stringify(name.slice(0, 100))} is not well-formed Unicode`);
    return false;
  }
  if (!isInherited(name)) return true;
  place.refuse(
    'reserved_name',
    `"${name}" is a name that every JavaScript object inherits, so it is reserved`,
  );
  return false;
};

/** Maximum length of a name in characters, because every message, column and index about the named thing repeats it. */
const maxNameLength = 128;

const acceptSpelling = (place: Place, name: string, pattern: RegExp, what: string): boolean => {
  if (name.length > maxNameLength) {
    const message = `the name of ${what} has ${name.length} characters, more than ${maxNameLength}`;
    place.refuse('bad_name', message);
    return false;
  }
  if (pattern.test(name)) return true;
  const message = `${JSON.stringify(name.slice(0, 100))} is not a name of ${what}`;
  place.refuse('bad_name', message, `names must match ${pattern.source.slice(1, -1)}`);
  return false;
};

const acceptUnreserved = (place: Place, name: string): boolean => {
  const prefix = reservedPrefixes.find((start) => name.toLowerCase().startsWith(start));
  if (prefix === undefined) return acceptName(place, name);
  place.refuse('reserved_name', `"${name}" begins with the reserved "${prefix}"`);
  return false;
};

export const acceptEntityName = (place: Place, name: string): boolean =>
  acceptSpelling(place, name, /^[A-Za-z][A-Za-z0-9_]*$/, 'an entity') &&
  acceptUnreserved(place, name);

export const acceptFieldName = (place: Place, name: string): boolean => {
  if (!acceptSpelling(place, name, /^[A-Za-z_][A-Za-z0-9_]*$/, 'a field')) return false;
  if (!acceptUnreserved(place, name)) return false;
  if (!storeColumns.includes(name.toLowerCase())) return true;
  place.refuse('reserved_name', `the name "${name}" is reserved for a column of the store`);
  return false;
};

export const acceptToolName = (place: Place, name: string): boolean =>
  acceptSpelling(place, name, /^[A-Za-z][A-Za-z0-9_.-]*$/, 'a tool') && acceptName(place, name);

export const acceptDefinitionName = (place: Place, name: string): boolean =>
  acceptSpelling(place, name, /^[A-Za-z_][A-Za-z0-9_.-]*$/, 'a definition') &&
  acceptName(place, name);

/** Refuses a name that differs from an earlier name only by case. */
export const refuseCaseTwins = (
  placeOf: (name: string) => Place,
  names: readonly string[],
): void => {
  const byFolded = new Map<string, string>();
  for (const name of names) {
    const twin = byFolded.get(name.toLowerCase());
    byFolded.set(name.toLowerCase(), twin ?? name);
    if (twin === undefined) continue;
    const place = placeOf(name);
    place.refuse('name_collision', `"${name}" differs from "${twin}" only by case`);
  }
};
