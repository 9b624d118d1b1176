/**
 * Reads JSON: UTF-8, nested no deeper and holding no more values than limits allow, and without the
 * names by which objects inherit. Of a name that is given twice the last value counts, as everywhere in
 * JavaScript; what is stored is written from what was read, so nobody after sees the other.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '#domain/error.ts';
import { withoutByteOrderMark } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import { type Extent, hasInheriting, holdsInheriting, mayInherit } from '#wire/json-extent.ts';

const invalid = (message: string): AppError => new AppError('invalid', message);

/** The text of a body; undefined when there is none. Throws `invalid` when it is no UTF-8. */
export const textOfBody = (bytes: Uint8Array): string | undefined => {
  if (!isUtf8(bytes)) throw invalid('the body is not UTF-8 text');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const plain = withoutByteOrderMark(text);
  return plain.trim() === '' ? undefined : plain;
};

/** Throws `invalid` for what nests too deep. */
const checkLevels = ({ levels }: Extent): void => {
  if (levels > limits.bodyLevels) {
    throw invalid(`the body is nested deeper than ${limits.bodyLevels} levels`);
  }
};

/** Throws `invalid` for what holds too many values. */
const checkValues = ({ values }: Extent): void => {
  if (values > limits.bodyValues) {
    throw invalid(`the body holds more than ${limits.bodyValues} values`);
  }
};

/** What a parser says, without the part of the text that it quotes: bodies hold what nobody else is to read. */
const withoutQuote = (message: string): string =>
  message.replace(/, (?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, '');

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    const told = withoutQuote((error as Error).message);
    throw new AppError('invalid', `the body is not JSON: ${told}`);
  }
};

/** The value of a JSON text. Throws `invalid` for what is no JSON, or none that is taken. */
export const parseText = (text: string, extent: Extent): unknown => {
  checkValues(extent);
  checkLevels(extent);
  const value = parseJson(text);
  if (holdsInheriting(text, value)) {
    throw invalid('the body has a member "__proto__" or "constructor.prototype"');
  }
  return value;
};

/** Of a body that is a list in an object, how deep each entry may nest. */
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

/** What is wrong with one entry of a body, whatever it says; undefined: nothing. */
export type FaultOf = (entry: unknown) => string | undefined;

const faultOf: FaultOf = (entry) => {
  if (isTooDeep(entry)) return `must not be nested deeper than ${entryLevels} levels`;
  return hasInheriting(entry)
    ? 'must not have a member "__proto__" or "constructor.prototype"'
    : undefined;
};

const noFault: FaultOf = () => undefined;

/**
 * The same of a body whose entries are taken or refused each by itself: what would refuse the whole for one of them is
 * left to be asked of each.
 */
export const parseEntries = (
  text: string,
  extent: Extent,
): { value: unknown; faultOf: FaultOf } => {
  checkValues(extent);
  const isPlain = extent.levels <= limits.bodyLevels && !mayInherit(text);
  return { value: parseJson(text), faultOf: isPlain ? noFault : faultOf };
};
