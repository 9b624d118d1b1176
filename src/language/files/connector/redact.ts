/** Keys of `[redact]`: the fields of rows that are redacted before they are stored, with the mode for each. */
import { distinct, filledText, integer, listOf, mapOf } from '../../read/kinds.ts';
import { defaulted, described, type TableOf } from '../../read/table.ts';

const names = distinct(listOf(filledText()));

export const redactKeys = {
  hash: described(
    'Fields whose values are replaced by the digest sha256:<64 hex> of the slug and the value: exact lookups and joins still work.',
    defaulted(names, []),
  ),
  drop: described('Fields that are removed from a row.', defaulted(names, [])),
  preserve: described(
    'Fields whose values are replaced by a digest of the same shape: length, and which characters are digits or capitals, stay the same. Such a digest looks like plaintext, so "refuse" cannot check it.',
    defaulted(names, []),
  ),
  round: described(
    'Number fields, by bare name, each with the number of decimals to which it is rounded.',
    defaulted<Map<string, number>>(mapOf(integer(0, 10)), new Map()),
  ),
};
export type RedactTable = TableOf<typeof redactKeys>;
