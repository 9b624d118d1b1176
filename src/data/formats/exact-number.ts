/**
 * Compares decimal texts with the doubles into which JSON parses them, to find whether reading a text as a number
 * changes it.
 */

type Digits = { sign: string; digits: string; exponent: number };

const written = /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/;

/** Splits a decimal text into its significant digits and the power of ten of the last one. */
const digitsOf = (text: string): Digits | undefined => {
  const [all, sign = '', whole = '', fraction = '', power = '0'] = written.exec(text) ?? [];
  if (all === undefined) return undefined;
  const significant = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = significant.replace(/0+$/, '');
  const exponent = Number(power) - fraction.length + significant.length - digits.length;
  if (digits === '') return { sign: '', digits, exponent: 0 };
  return { sign: sign === '-' ? '-' : '', digits, exponent };
};

const isSame = (one: Digits, other: Digits | undefined): boolean =>
  other !== undefined &&
  one.sign === other.sign &&
  one.digits === other.digits &&
  one.exponent === other.exponent;

/** Returns true for a number that the store keeps exactly: finite, and below 2^53 if it is whole. */
const isKept = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

/** Returns the number that JSON writes with exactly the digits of the text; undefined when there is none. */
export const exactNumber = (text: string): number | undefined => {
  const value = Number(text);
  const digits = digitsOf(text);
  if (digits === undefined || !isKept(value)) return undefined;
  return isSame(digits, digitsOf(String(value))) ? value : undefined;
};

/** Maximum number of digits with which a double is written out for a comparison. */
const mostDigits = 100;

/**
 * Returns true when a number text has digits that its double lacks. A text that a program wrote for a double loses
 * none, even with more digits than needed (`52.520006600000002`).
 */
export const losesDigits = (text: string): boolean => {
  const value = Number(text);
  const digits = digitsOf(text);
  if (digits === undefined || !Number.isFinite(value)) return true;
  if (/^[-+]?\d+$/.test(text)) return !Number.isSafeInteger(value);
  const { length } = digits.digits;
  if (length === 0) return false;
  return length > mostDigits || !isSame(digits, digitsOf(value.toPrecision(length)));
};
