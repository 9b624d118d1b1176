/**
 * The mode `preserve`: a digest in the shape of its plaintext. Each ASCII digit becomes a digit and
 * each ASCII letter a letter of the same case; everything else, punctuation, spaces and all that is not
 * ASCII, passes as it is. The digest is keyed by the slug and drawn from the whole value, so that equal
 * plaintexts stay equal. It does not lead back to the plaintext, and short values may meet: there are
 * only a thousand digests of three digits.
 */
import { hash } from 'node:crypto';

/** First character and size of an alphabet within ASCII. */
type Alphabet = { first: number; size: number };

const digits: Alphabet = { first: 0x30, size: 10 };
const upperCase: Alphabet = { first: 0x41, size: 26 };
const lowerCase: Alphabet = { first: 0x61, size: 26 };

const holds = ({ first, size }: Alphabet, code: number): boolean =>
  code >= first && code < first + size;

const alphabetOf = (code: number): Alphabet | undefined => {
  if (holds(lowerCase, code)) return lowerCase;
  if (holds(digits, code)) return digits;
  return holds(upperCase, code) ? upperCase : undefined;
};

/** Replaces the digits and letters of a text by others, drawn from a stream that the seed decides. */
const replaceCharacters = (text: string, seed: string): string => {
  if (text === '') return text;
  const units = Buffer.from(text, 'utf16le');
  const stream = hash('shake256', seed, {
    outputEncoding: 'buffer',
    outputLength: units.byteLength,
  });
  for (let at = 0; at < units.byteLength; at += 2) {
    const alphabet = alphabetOf(units.readUInt16LE(at));
    if (alphabet === undefined) continue;
    units.writeUInt16LE(alphabet.first + (stream.readUInt16LE(at) % alphabet.size), at);
  }
  return units.toString('utf16le');
};

/** The digest of a text: as long, and of the same shape. */
export const preserveText = (slug: string, text: string): string =>
  replaceCharacters(text, `${slug}:${text}`);

const shapeOf = (number: string): string => number.replace(/\d/g, '0');

const maxDraws = 200;

/**
 * The digest of a number: the same sign, as many digits before and behind the point, the same exponent,
 * and exact as an integer when the plaintext was. Digits are drawn until all of that holds, which takes
 * a draw or two; a number at the very end of the range, of whose shape there is hardly another, may
 * become 0. It is not the digest of the number's text, which may begin with a zero.
 */
export const preserveNumber = (slug: string, number: number): number => {
  const text = String(number);
  const [, head = '', mantissa = '', exponent = ''] =
    /^(-?(?:0\.0*)?)([^e]*)(.*)$/.exec(text) ?? [];
  for (let draw = 0; draw < maxDraws; draw += 1) {
    const drawn = replaceCharacters(mantissa, `${slug}:${text}:${draw}`);
    const digest = Number(head + drawn + exponent);
    const isExact = Number.isSafeInteger(digest) || !Number.isSafeInteger(number);
    if (isExact && shapeOf(String(digest)) === shapeOf(text)) return digest;
  }
  return 0;
};
