/**
 * What each mode of a redaction policy makes of a single value: a text, a number, a boolean or null.
 * Which mode holds for a field is for `redact-rules.ts` to say, walking rows for `redact.ts`.
 */
import { hash } from 'node:crypto';
import type { FieldPolicy } from './redact-rules.ts';

// The mode `hash`: a value becomes `sha256:<64 hex>`, the SHA-256 of `<slug>:<value>`. Equal plaintexts
// of one slug have equal digests, so exact lookups and joins go on working; another slug gives others.

const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** Whether a value is written the way `hash` writes it. What it was made of cannot be told. */
export const isDigest = (value: unknown): boolean =>
  typeof value === 'string' && digestPattern.test(value);

/**
 * The digest of a text, exactly as given, or of a number or boolean as JSON writes it: `7` and `"7"`
 * have the same one. Null holds nothing and stays; a digest stays too, so that hashing twice is
 * hashing once.
 */
const digestScalar = (slug: string, value: unknown): unknown =>
  value === null || value === undefined || isDigest(value)
    ? value
    : `sha256:${hash('sha256', `${slug}:${value}`)}`;

// The mode `preserve`: a digest in the shape of its plaintext. Each ASCII digit becomes a digit and
// each ASCII letter a letter of the same case; everything else, punctuation, spaces and all that is not
// ASCII, passes as it is. The digest is keyed by the slug and drawn from the whole value, so that equal
// plaintexts stay equal. It does not lead back to the plaintext, and short values may meet: there are
// only a thousand digests of three digits.

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

// The mode `round`: a number keeps so many decimals. Rounding is decimal, half away from zero, on the
// digits that JSON writes: 1.005 becomes 1.01, although the nearest double lies below it.

/** A number as a whole number of digits and a power of ten, `digits` times ten to minus `decimals`. */
type Decimal = { isNegative: boolean; digits: string; decimals: number };

const toDecimal = (number: number): Decimal => {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e(.+))?$/.exec(String(number)) ?? [];
  return {
    isNegative: sign === '-',
    digits: whole + fraction,
    decimals: fraction.length - Number(exponent),
  };
};

/** The number with at most so many decimals; one that has no more comes back as it is, -0 as 0. */
export const roundNumber = (number: number, decimals: number): number => {
  if (!Number.isFinite(number)) return number;
  const { isNegative, digits, decimals: held } = toDecimal(number);
  if (held <= decimals) return number + 0;
  const unit = 10n ** BigInt(held - decimals);
  const half = unit / 2n;
  const rounded = (BigInt(digits) + half) / unit;
  const size = Number(`${rounded}e-${decimals}`);
  return isNegative && size !== 0 ? -size : size;
};

/**
 * The value as it is kept in a field that is not dropped. Null stays null, booleans have no shape that
 * could be preserved and pass, and only numbers are rounded.
 */
export const redactScalar = (
  slug: string,
  policy: FieldPolicy | undefined,
  value: unknown,
): unknown => {
  if (policy?.mode === 'hash') return digestScalar(slug, value);
  if (policy?.mode === 'round' && typeof value === 'number') {
    return roundNumber(value, policy.decimals);
  }
  if (policy?.mode !== 'preserve') return value;
  if (typeof value === 'number') return preserveNumber(slug, value);
  return typeof value === 'string' ? preserveText(slug, value) : value;
};
