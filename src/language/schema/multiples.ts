/**
 * Keyword `multipleOf`, computed in decimal as numbers are written. 19.99 is a multiple of 0.01, although a binary
 * division has a remainder.
 */
import { _, type CodeKeywordDefinition } from 'ajv/dist/2020.js';

/** A number as digits multiplied by a power of ten. */
type Decimal = { digits: bigint; exponent: number };

const decimalOf = (value: number): Decimal => {
  const [mantissa = '', power = '0'] = String(Math.abs(value)).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
};

/** Returns true if `value` is an integer multiple of `divisor`. Both must be finite, and `divisor` above 0. */
export const isMultipleOf = (value: number, divisor: number): boolean => {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [a, b] = [decimalOf(value), decimalOf(divisor)];
  const least = Math.min(a.exponent, b.exponent);
  const scaled = ({ digits, exponent }: Decimal): bigint =>
    digits * 10n ** BigInt(exponent - least);
  return scaled(a) % scaled(b) === 0n;
};

/** Keyword `multipleOf`, which replaces that of the validator. */
export const multipleOfKeyword: CodeKeywordDefinition = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  error: {
    message: ({ schema }) => `must be a multiple of ${schema}`,
    params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
  },
  code(cxt) {
    const test = cxt.gen.scopeValue('func', { ref: isMultipleOf });
    cxt.pass(_`${test}(${cxt.data}, ${cxt.schemaCode})`);
  },
};
