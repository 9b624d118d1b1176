/**
 * Parses the JSON and TOML files of a tree into plain values with places. It refuses contents that JSON or TOML allows
 * and a world cannot have: numbers that lose digits, dates, unlimited nesting.
 */
import { parse as parseTomlText, TomlError } from 'smol-toml';
import { parsePointer } from '#domain/json.ts';
import { languageLimits } from '../limits.ts';
import {
  findDuplicateKeys,
  findUnexpected,
  findUnsafeNumber,
  repeatsKeys,
  saidOfSyntax,
} from './json-faults.ts';
import { outlineJson } from './json-positions.ts';
import { depthOf } from './json-text.ts';
import { createPlace, type Place, type Problems } from './place.ts';
import { createLocate, type Position, positionAt } from './positions.ts';
import { outlineToml } from './toml-positions.ts';
import { isDeeperThan, isTable } from './values.ts';

export type Document = { place: Place; value: unknown };

const refuseSyntax = (
  problems: Problems,
  file: string,
  message: string,
  at: Position,
): undefined => {
  problems.add({ file, pointer: '', code: 'syntax', message, ...at });
};

/**
 * Returns the position at which `JSON.parse` stopped. Some of its messages contain the position; for other messages the
 * text is searched.
 */
const syntaxPosition = (message: string, text: string): Position => {
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
  if (line !== undefined) return { line: Number(line), column: Number(column) };
  return positionAt(text, findUnexpected(text));
};

const parseJsonText = (
  problems: Problems,
  file: string,
  text: string,
): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const at = syntaxPosition(message, text);
    return refuseSyntax(problems, file, `not valid JSON: ${saidOfSyntax(error)}`, at);
  }
};

/** Returns the place of a JSON file. Lines are determined only if a problem is reported at the place or below it. */
export const placeOfJson = (problems: Problems, file: string, text: string): Place =>
  createPlace(problems, file, createLocate(text, outlineJson));

/**
 * Parses a JSON file, or reports why the file cannot be parsed. A repeated key is reported as a problem and does not
 * replace the earlier key.
 */
export const parseJson = (problems: Problems, file: string, text: string): Document | undefined => {
  const parsed = parseJsonText(problems, file, text);
  if (parsed === undefined) return undefined;
  const place = placeOfJson(problems, file, text);
  const isDeep = isDeeperThan(parsed.value, languageLimits.depth);
  const isRepeating = !isDeep && repeatsKeys(text, parsed.value);
  // The text alone shows the value that a repeated key replaced, so its depth is measured in the text.
  if (isDeep || (isRepeating && depthOf(text) > languageLimits.depth)) {
    place.refuse('too_deep', `${file} nests deeper than ${languageLimits.depth} levels`);
    return undefined;
  }
  const unsafe = findUnsafeNumber(text);
  if (unsafe !== undefined) {
    const message = `the number ${unsafe.source.slice(0, 40)} is too long to be kept exactly`;
    const at = place.at(...parsePointer(unsafe.pointer));
    at.refuse('unsafe_number', message, 'write it as a string');
  }
  for (const pointer of isRepeating ? findDuplicateKeys(text) : []) {
    const at = place.at(...parsePointer(pointer));
    at.refuse('duplicate_key', `the key at ${pointer} is written twice`);
  }
  return { place, value: parsed.value };
};

/** Refuses the dates in a value, and replaces them by quoted dates, which the author probably meant. */
const withoutDates = (place: Place, value: unknown): unknown => {
  if (value instanceof Date) {
    place.refuse('wrong_type', 'a date without quotes is not a value of JSON', 'quote it');
    return value.toISOString();
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => withoutDates(place.at(index), item));
  }
  if (!isTable(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutDates(place.at(key), item)]));
};

/** Parses a TOML file, or reports why the file cannot be parsed. */
export const parseToml = (problems: Problems, file: string, text: string): Document | undefined => {
  let value: unknown;
  try {
    value = parseTomlText(text, { maxDepth: languageLimits.depth });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [summary] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    const { line, column } = error;
    return refuseSyntax(problems, file, `not valid TOML: ${summary}`, { line, column });
  }
  const place = createPlace(problems, file, createLocate(text, outlineToml));
  if (isDeeperThan(value, languageLimits.depth)) {
    place.refuse('too_deep', `${file} nests deeper than ${languageLimits.depth} levels`);
    return undefined;
  }
  return { place, value: withoutDates(place, value) };
};
