/**
 * Parses JSON in UTF-8, with limits on depth and on the number of values, and without member names that could modify
 * prototypes. If a member name occurs twice, the last value counts, as everywhere in JavaScript. Only the parsed value
 * is stored, so no later reader sees the other value.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '#domain/error.ts';
import { withoutByteOrderMark } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import { type Extent, hasInheriting, holdsInheriting, mayInherit } from '#wire/json-extent.ts';

const invalid = (message: string): AppError => new AppError('invalid', message);

/** Returns the text of a body; undefined if it is empty. Throws `invalid` if it is not UTF-8. */
export const textOfBody = (bytes: Uint8Array): string | undefined => {
  if (!isUtf8(bytes)) throw invalid('the body is not UTF-8 text');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const plain = withoutByteOrderMark(text);
  return plain.trim() === '' ? undefined : plain;
};

/** Throws `invalid` if the body is nested too deeply. */
const checkLevels = ({ levels }: Extent): void => {
  if (levels > limits.bodyLevels) {
    throw invalid(`the body is nested deeper than ${limits.bodyLevels} levels`);
  }
};

/** Throws `invalid` if the body has too many values. */
const checkValues = ({ values }: Extent): void => {
  if (values > limits.bodyValues) {
    throw invalid(`the body holds more than ${limits.bodyValues} values`);
  }
};

/** Removes the part of the body that a parser's message quotes, because bodies may contain secrets. */
const withoutQuote = (message: string): string =>
  message.replace(/, (?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, '');

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = withoutQuote((error as Error).message);
    throw new AppError('invalid', `the body is not JSON: ${reason}`);
  }
};

/** Parses a JSON text. Throws `invalid` if it is not JSON, exceeds a limit or has a forbidden member name. */
export const parseText = (text: string, extent: Extent): unknown => {
  checkValues(extent);
  checkLevels(extent);
  const value = parseJson(text);
  if (holdsInheriting(text, value)) {
    throw invalid('the body has a member "__proto__" or "constructor.prototype"');
  }
  return value;
};

/** Maximum nesting of one entry, in bodies that are an object with a list of entries. */
const entryLevels = limits.bodyLevels - 2;

const isTooDeep = (entry: unknown): boolean => {
  let level = [entry];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > entryLevels) return true;
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null
        ? Object.values(value).filter((member) => typeof member === 'object' && member !== null)
        : [],
    );
  }
  return false;
};

/** Returns why one entry of a body is refused; undefined if it is accepted. */
export type FaultOf = (entry: unknown) => string | undefined;

const faultOf: FaultOf = (entry) => {
  if (isTooDeep(entry)) return `must not be nested deeper than ${entryLevels} levels`;
  return hasInheriting(entry)
    ? 'must not have a member "__proto__" or "constructor.prototype"'
    : undefined;
};

const noFault: FaultOf = () => undefined;

/**
 * Parses a body whose entries are accepted or refused one by one. Depth and forbidden names are checked for each entry,
 * by the `faultOf` that is returned, because one bad entry must not cause the whole body to be refused.
 */
export const parseEntries = (
  text: string,
  extent: Extent,
): { value: unknown; faultOf: FaultOf } => {
  checkValues(extent);
  const isPlain = extent.levels <= limits.bodyLevels && !mayInherit(text);
  return { value: parseJson(text), faultOf: isPlain ? noFault : faultOf };
};
