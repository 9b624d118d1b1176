/** What the modes make of a single value: a text, a number, a boolean or null. */
import { digestScalar } from './digest.ts';
import { preserveNumber, preserveText } from './preserve.ts';
import { roundNumber } from './round.ts';
import type { FieldPolicy } from './rules.ts';

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
