/**
 * Checks a schema against the keyword table and copies it with its references resolved. References
 * are the only thing it leaves to others: it asks for each, and puts in what it is told.
 */
import type { JsonSchema } from '../contract.ts';
import { refuseType } from '../read/kinds.ts';
import { acceptName } from '../read/names.ts';
import type { Place } from '../read/place.ts';
import { nearestName } from '../read/suggest.ts';
import { isTable } from '../read/values.ts';
import { type Keyword, keywords, refusedKeywords } from './keywords.ts';

/** The reference to write in place of one that was read; undefined when it was refused. */
export type ResolveReference = (place: Place, reference: string) => string | undefined;

type Checked = JsonSchema | boolean;
type Entry = [string, unknown];

const refuseKeyword = (place: Place, name: string): void => {
  const wayOut = refusedKeywords.get(name);
  if (wayOut !== undefined) {
    const message = `the keyword "${name}" is not supported in a world's schemas`;
    place.refuse('unsupported_keyword', message, wayOut);
    return;
  }
  const nearest = nearestName(name, keywords.keys());
  const hint =
    nearest === undefined ? 'notes of your own begin with "x-"' : `did you mean "${nearest}"?`;
  const message = `unknown keyword ${JSON.stringify(name.slice(0, 100))}`;
  place.refuse('unknown_keyword', message, hint);
};

const checkList = (place: Place, held: unknown, resolve: ResolveReference): Checked[] => {
  if (Array.isArray(held) && held.length > 0) {
    return held.map((part: unknown, index) => checkAny(place.at(index), part, resolve));
  }
  refuseType(place, 'a list of at least one schema', held);
  return [true];
};

const checkMap = (place: Place, held: unknown, resolve: ResolveReference): JsonSchema => {
  if (!isTable(held)) {
    refuseType(place, 'an object of schemas', held);
    return {};
  }
  const entries = Object.entries(held)
    .filter(([name]) => acceptName(place.at(name), name))
    .map(([name, part]): Entry => [name, checkAny(place.at(name), part, resolve)]);
  return Object.fromEntries(entries);
};

const checkHeld = (
  place: Place,
  keyword: Keyword,
  held: unknown,
  resolve: ResolveReference,
): unknown => {
  if (keyword.kind(place, held) === undefined) return undefined;
  switch (keyword.holds) {
    case 'one':
      return checkAny(place, held, resolve);
    case 'list':
      return checkList(place, held, resolve);
    case 'map':
      return checkMap(place, held, resolve);
    case 'value':
      return held;
  }
};

const checkAny = (place: Place, schema: unknown, resolve: ResolveReference): Checked => {
  if (typeof schema === 'boolean') return schema;
  if (!isTable(schema)) {
    refuseType(place, 'a schema', schema);
    return {};
  }
  const entries = Object.entries(schema).flatMap(([name, held]): Entry[] => {
    const keyword = keywords.get(name);
    if (keyword === undefined) {
      if (!name.startsWith('x-')) refuseKeyword(place.at(name), name);
      return [];
    }
    const checked = checkHeld(place.at(name), keyword, held, resolve);
    if (checked === undefined) return [];
    if (name !== '$ref') return [[name, checked]];
    const target = resolve(place.at(name), String(checked));
    return target === undefined ? [] : [[name, target]];
  });
  return Object.fromEntries(entries);
};

/** The schema with its references resolved and notes left out; what is wrong with it is refused. */
export const checkSchema = (
  place: Place,
  schema: unknown,
  resolve: ResolveReference,
): JsonSchema => {
  const checked = checkAny(place, schema, resolve);
  if (typeof checked === 'object') return checked;
  return checked ? {} : { not: {} };
};
