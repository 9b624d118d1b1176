/**
 * Parses the JSON and TOML files of a tree into plain values with places. What the two notations can
 * say but a world cannot hold is refused here: numbers that lose digits, dates, bottomless nesting.
 */
import { parse as parseTomlText, TomlError } from 'smol-toml';
import { languageLimits } from '../limits.ts';
import { scanJson } from './json-lines.ts';
import { createPlace, type FindLine, type Place, type Problems } from './place.ts';
import { scanToml } from './toml-lines.ts';
import { isDeeperThan, isTable } from './values.ts';

export type Document = { place: Place; value: unknown };

/** Looks a place up, or else the nearest place around it; the text is scanned when first asked. */
const createLineFinder = (scan: () => ReadonlyMap<string, number>): FindLine => {
  let lines: ReadonlyMap<string, number> | undefined;
  return (pointer) => {
    lines ??= scan();
    for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
      const line = lines.get(at);
      if (line !== undefined || at === '') return line;
    }
  };
};

const refuseSyntax = (
  problems: Problems,
  file: string,
  message: string,
  at: { line: number; column: number } | undefined,
): undefined => {
  problems.add({ file, pointer: '', code: 'syntax', message: `${message}`, ...at });
};

/** Handed each value with its spelling, which the platform's types do not know yet. */
type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const losesDigits = (value: number, source: string): boolean =>
  !Number.isFinite(value) || (/^-?\d+$/.test(source) && !Number.isSafeInteger(value));

/** Whole numbers are exact up to 2^53; a longer one would be altered by being read. */
const findUnsafeNumber = (text: string): string | undefined => {
  if (!/\d{16}|[eE]\+?\d{3}/.test(text)) return undefined;
  let unsafe: string | undefined;
  const look: SourceReviver = (_key, value, { source }) => {
    if (typeof value === 'number' && source !== undefined && losesDigits(value, source)) {
      unsafe ??= source;
    }
    return value;
  };
  JSON.parse(text, look as Parameters<typeof JSON.parse>[1]);
  return unsafe;
};

const errorPosition = (message: string): { line: number; column: number } | undefined => {
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
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
    const plain = message.replace(/ in JSON at position .*$/s, '');
    return refuseSyntax(problems, file, `not valid JSON: ${plain}`, errorPosition(message));
  }
};

/** Parses a JSON file, or notes why it cannot. */
export const parseJson = (problems: Problems, file: string, text: string): Document | undefined => {
  const parsed = parseJsonText(problems, file, text);
  if (parsed === undefined) return undefined;
  const place = createPlace(
    problems,
    file,
    createLineFinder(() => scanJson(text).lines),
  );
  if (isDeeperThan(parsed.value, languageLimits.depth)) {
    place.refuse('too_deep', `${file} nests deeper than ${languageLimits.depth} levels`);
    return undefined;
  }
  const unsafe = findUnsafeNumber(text);
  if (unsafe !== undefined) {
    const message = `the number ${unsafe.slice(0, 40)} is too long to be kept exactly`;
    place.refuse('unsafe_number', message, 'write it as a string');
  }
  return { place, value: parsed.value };
};

/** `parseJson` for a file written by hand, in which a key written twice is a mistake. */
export const parseAuthoredJson = (
  problems: Problems,
  file: string,
  text: string,
): Document | undefined => {
  const document = parseJson(problems, file, text);
  if (document === undefined) return undefined;
  const { lines, duplicates } = scanJson(text);
  for (const pointer of duplicates) {
    const line = lines.get(pointer);
    const message = `the key at ${pointer} is written twice`;
    problems.add({ file, pointer, code: 'duplicate_key', message, ...(line ? { line } : {}) });
  }
  return document;
};

/** The value with its dates refused and turned into what the author may have meant: quoted ones. */
const withoutDates = (place: Place, value: unknown): unknown => {
  if (value instanceof Date) {
    place.refuse('wrong_type', 'a bare date is not a value of JSON', 'quote it');
    return value.toISOString();
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => withoutDates(place.at(index), item));
  }
  if (!isTable(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutDates(place.at(key), item)]));
};

/** Parses a TOML file, or notes why it cannot. */
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
  const place = createPlace(
    problems,
    file,
    createLineFinder(() => scanToml(text)),
  );
  if (isDeeperThan(value, languageLimits.depth)) {
    place.refuse('too_deep', `${file} nests deeper than ${languageLimits.depth} levels`);
    return undefined;
  }
  return { place, value: withoutDates(place, value) };
};
