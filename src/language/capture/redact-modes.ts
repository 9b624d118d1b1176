/**
 * Applies each mode of a redaction policy to a single scalar. `redact-rules.ts` decides which mode a field has;
 * `redact.ts` walks the rows.
 */
import { hash } from 'node:crypto';
import type { FieldPolicy } from './redact-rules.ts';

// Mode `hash`: a value becomes `sha256:<64 hex>`, the SHA-256 of `<slug>:<value>`. Equal plaintexts have equal digests
// under one slug, so exact look-ups and joins still work; under another slug the digests differ.

const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** Returns true if a value has the form that `hash` writes. The plaintext cannot be recovered. */
export const isDigest = (value: unknown): boolean =>
  typeof value === 'string' && digestPattern.test(value);

/**
 * Returns the digest of a text, exactly as given, or of a number or boolean as JSON writes it: `7` and `"7"` have the
 * same digest. Null stays null. A value that is already a digest stays, too, so that hashing is idempotent.
 */
const digestScalar = (slug: string, value: unknown): unknown =>
  value === null || value === undefined || isDigest(value)
    ? value
    : `sha256:${hash('sha256', `${slug}:${value}`)}`;

// Mode `preserve`: a digest in the shape of its plaintext. Each ASCII digit becomes a digit and each ASCII letter a
// letter of the same case; punctuation, spaces and all non-ASCII characters stay. The digest is keyed by the slug and
// derived from the whole value, so that equal plaintexts stay equal. The plaintext cannot be recovered. Short values
// may collide: there are only a thousand digests of three digits.

/** Code of the first character of an alphabet within ASCII, and the number of its characters. */
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

/** Replaces the digits and letters of a text by others, which are drawn from a stream that the seed determines. */
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

/** Returns the digest of a text for mode `preserve`; it has the same length and shape as the text. */
export const preserveText = (slug: string, text: string): string =>
  replaceCharacters(text, `${slug}:${text}`);

const shapeOf = (number: string): string => number.replace(/\d/g, '0');

const maxDraws = 200;

/**
 * Returns the digest of a number for mode `preserve`. It has the same sign and exponent as the number, as many digits
 * before and after the point, and it is an exact integer if the number is one. Digits are drawn until all of this is
 * true, which takes one draw or two. At the very end of the range, no other number may have this shape; the digest may
 * then be 0. A number and its text have different digests, because the digest of a text may begin with a zero.
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

// Mode `round`: a number keeps a given number of decimals. Rounding is decimal, half away from zero, on the digits
// that JSON writes: 1.005 becomes 1.01, although the nearest double lies below it.

/** A number as an integer and a power of ten: `digits` times 10 to the power of -`decimals`. */
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

/**
 * Rounds a number to at most `decimals` decimals. A number with no more decimals is returned unchanged, except that -0
 * becomes 0.
 */
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
 * Returns the stored form of a value in a field that is not dropped. Null stays null. Booleans stay under `preserve`,
 * because they have no shape. Values other than numbers are not rounded.
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
