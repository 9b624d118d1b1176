/**
 * Reads JSON: UTF-8, nested no deeper and holding no more values than limits allow, and without the
 * names by which objects inherit. Of a name that is given twice the last value counts, as everywhere in
 * JavaScript; what is stored is written from what was read, so nobody after sees the other.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { type Extent, holdsInheriting } from '#wire/json-extent.ts';

const invalid = (message: string): AppError => new AppError('invalid', message);

/** The text of a body; undefined when there is none. Throws `invalid` when it is no UTF-8. */
export const textOfBody = (bytes: Uint8Array): string | undefined => {
  if (!isUtf8(bytes)) throw invalid('the body is not UTF-8 text');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  return plain.trim() === '' ? undefined : plain;
};

/** Throws `invalid` for what nests too deep or holds too many values. */
export const checkExtent = ({ levels, values }: Extent): void => {
  if (levels > limits.bodyLevels) {
    throw invalid(`the body is nested deeper than ${limits.bodyLevels} levels`);
  }
  if (values > limits.bodyValues) {
    throw invalid(`the body holds more than ${limits.bodyValues} values`);
  }
};

/** What a parser says, without the part of the text that it quotes: bodies hold what nobody else is to read. */
const withoutQuote = (message: string): string =>
  message.replace(/, (?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, '');

/** The value of a JSON text whose extent was checked. Throws `invalid` for what is no JSON. */
export const parseText = (text: string): unknown => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const told = withoutQuote((error as Error).message);
    throw new AppError('invalid', `the body is not JSON: ${told}`);
  }
  if (holdsInheriting(text, value)) {
    throw invalid('the body has a member "__proto__" or "constructor.prototype"');
  }
  return value;
};
