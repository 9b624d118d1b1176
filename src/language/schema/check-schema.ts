/**
 * Checks a schema against the table of keywords, and copies it with its references resolved. The caller's `SchemaScope`
 * resolves references and decides whether patterns are accepted.
 */
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import { refuseType, refuseValue } from '../read/kinds.ts';
import { acceptName } from '../read/names.ts';
import type { Place } from '../read/place.ts';
import { nearestName } from '../read/suggest.ts';
import { isTable } from '../read/values.ts';
import { type Keyword, keywords, refusedKeywords } from './keywords.ts';

/** Callbacks for references and patterns. Both report a problem for what they do not accept. */
export type SchemaScope = {
  /** Returns the reference that replaces the given one; undefined if the given one was refused. */
  resolve(place: Place, reference: string): string | undefined;
  acceptsPattern(place: Place, source: string): boolean;
};

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
    nearest === undefined
      ? 'your own annotations must begin with "x-"'
      : `did you mean "${nearest}"?`;
  const message = `unknown keyword ${JSON.stringify(name.slice(0, 100))}`;
  place.refuse('unknown_keyword', message, hint);
};

const checkList = (place: Place, held: unknown, scope: SchemaScope): Checked[] => {
  if (Array.isArray(held) && held.length > 0) {
    return held.map((part: unknown, index) => checkAny(place.at(index), part, scope));
  }
  if (Array.isArray(held)) refuseValue(place, 'the list must have at least one schema');
  else refuseType(place, 'a list of schemas', held);
  return [true];
};

const checkMap = (place: Place, held: unknown, scope: SchemaScope): JsonSchema => {
  if (!isTable(held)) {
    refuseType(place, 'an object of schemas', held);
    return {};
  }
  const entries = Object.entries(held)
    .filter(([name]) => acceptName(place.at(name), name))
    .map(([name, part]): Entry => [name, checkAny(place.at(name), part, scope)]);
  return Object.fromEntries(entries);
};

const checkHeld = (place: Place, keyword: Keyword, held: unknown, scope: SchemaScope): unknown => {
  if (keyword.kind(place, held) === undefined) return undefined;
  switch (keyword.holds) {
    case 'one':
      return checkAny(place, held, scope);
    case 'list':
      return checkList(place, held, scope);
    case 'map':
      return checkMap(place, held, scope);
    case 'value':
      return held;
  }
};

/**
 * Returns the value that the copy has for a keyword; undefined if the value was refused. The kind of the value was
 * checked before.
 */
const settle = (place: Place, name: string, held: unknown, scope: SchemaScope): unknown => {
  if (name === '$ref') return scope.resolve(place, String(held));
  if (name === 'pattern') return scope.acceptsPattern(place, String(held)) ? held : undefined;
  if (name !== 'patternProperties') return held;
  const patterns = Object.keys(held as JsonSchema);
  return patterns.every((source) => scope.acceptsPattern(place.at(source).ofKey(), source))
    ? held
    : undefined;
};

const checkAny = (place: Place, schema: unknown, scope: SchemaScope): Checked => {
  if (typeof schema === 'boolean') return schema;
  if (!isTable(schema)) {
    refuseType(place, 'a schema', schema);
    return {};
  }
  const names = Object.keys(schema);
  const unknown = names.filter((name) => !keywords.has(name) && !name.startsWith('x-'));
  for (const name of unknown.slice(0, languageLimits.unknownKeys))
    refuseKeyword(place.at(name), name);
  const entries = names.flatMap((name): Entry[] => {
    const keyword = keywords.get(name);
    if (keyword === undefined) return [];
    const at = place.at(name);
    const checked = checkHeld(at, keyword, schema[name], scope);
    const settled = checked === undefined ? undefined : settle(at, name, checked, scope);
    return settled === undefined ? [] : [[name, settled]];
  });
  return Object.fromEntries(entries);
};

/** Returns the schema with its references resolved and its annotations removed; reports the schema's problems. */
export const checkSchema = (place: Place, schema: unknown, scope: SchemaScope): JsonSchema => {
  const checked = checkAny(place, schema, scope);
  if (typeof checked === 'object') return checked;
  return checked ? {} : { not: {} };
};
