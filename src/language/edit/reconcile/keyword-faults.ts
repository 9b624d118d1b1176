/** Finds values that violate keywords whose result depends on the value alone: bounds, patterns, formats, counts. */
import { isObject, own } from '#domain/json.ts';
import type { Table } from '../../read/values.ts';
import { equalityText } from '../../schema/equality.ts';
import { assertedFormats } from '../../schema/formats.ts';
import { isMultipleOf } from '../../schema/multiples.ts';
import { compilePattern, type Pattern } from '../../schema/patterns.ts';

type Breaks = (held: unknown, value: unknown) => boolean;

const ofNumber =
  (breaks: (held: number, value: number) => boolean): Breaks =>
  (held, value) =>
    typeof value === 'number' && breaks(held as number, value);

const lengthOf = (text: string): number => {
  let length = 0;
  for (const _point of text) length += 1;
  return length;
};

const ofText =
  (breaks: (held: unknown, value: string) => boolean): Breaks =>
  (held, value) =>
    typeof value === 'string' && breaks(held, value);

const ofList =
  (breaks: (held: unknown, value: readonly unknown[]) => boolean): Breaks =>
  (held, value) =>
    Array.isArray(value) && breaks(held, value);

const ofObject =
  (breaks: (held: unknown, value: object) => boolean): Breaks =>
  (held, value) =>
    isObject(value) && breaks(held, value);

const patterns = new Map<string, Pattern>();
const maxPatterns = 1_000;

/** Returns the compiled pattern; it comes from a cache of limited size. */
export const patternOf = (source: string): Pattern => {
  const known = patterns.get(source) ?? compilePattern(source);
  if (patterns.size < maxPatterns) patterns.set(source, known);
  return known;
};

const breaksFormat = (held: unknown, text: string): boolean =>
  Object.hasOwn(assertedFormats, String(held)) && assertedFormats[String(held)]?.(text) === false;

const isRepeated = (list: readonly unknown[]): boolean =>
  new Set(list.map(equalityText)).size < list.length;

/** Returns true if an object has a key and lacks another key that it then requires. */
const lacksDependent = (held: unknown, value: object): boolean =>
  Object.entries(held as Record<string, string[]>).some(
    ([name, others]) =>
      Object.hasOwn(value, name) && others.some((other) => !Object.hasOwn(value, other)),
  );

const countOf = (value: object): number => Object.keys(value).length;

const faults: Readonly<Record<string, Breaks>> = {
  minimum: ofNumber((held, value) => value < held),
  maximum: ofNumber((held, value) => value > held),
  exclusiveMinimum: ofNumber((held, value) => value <= held),
  exclusiveMaximum: ofNumber((held, value) => value >= held),
  multipleOf: ofNumber((held, value) => !isMultipleOf(value, held)),
  minLength: ofText((held, value) => lengthOf(value) < (held as number)),
  maxLength: ofText((held, value) => lengthOf(value) > (held as number)),
  pattern: ofText((held, value) => !patternOf(held as string).test(value)),
  format: ofText(breaksFormat),
  minItems: ofList((held, value) => value.length < (held as number)),
  maxItems: ofList((held, value) => value.length > (held as number)),
  uniqueItems: ofList((held, value) => held === true && isRepeated(value)),
  minProperties: ofObject((held, value) => countOf(value) < (held as number)),
  maxProperties: ofObject((held, value) => countOf(value) > (held as number)),
  dependentRequired: ofObject(lacksDependent),
};

/** Returns the keywords of a schema that a value violates, among those whose result depends on the value alone. */
export const brokenKeywords = (schema: Table, value: unknown): string[] =>
  Object.keys(schema).filter(
    (keyword) =>
      Object.hasOwn(faults, keyword) && faults[keyword]?.(own(schema, keyword), value) === true,
  );
