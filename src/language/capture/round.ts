/**
 * The mode `round`: a number keeps so many decimals. Rounding is decimal, half away from zero, on the
 * digits that JSON writes: 1.005 becomes 1.01, although the nearest double lies below it.
 */

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
