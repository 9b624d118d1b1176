/** Keys of `[redact]`: the fields of rows that are redacted before they are stored, with the mode for each. */
import { distinct, filledText, integer, listOf, mapOf } from '../../read/kinds.ts';
import { defaulted, described, type TableOf } from '../../read/table.ts';

const names = distinct(listOf(filledText()));

export const redactKeys = {
  hash: described(
    'Fields kept as sha256:<64 hex> of the slug and the value: exact lookups and joins still work.',
    defaulted(names, []),
  ),
  drop: described('Fields that are removed from a row.', defaulted(names, [])),
  preserve: described(
    'Fields kept as a digest of the same shape: length, digits and case stay. It looks like plaintext, so it is not checked.',
    defaulted(names, []),
  ),
  round: described(
    'Number fields, by bare name, and the decimals that are kept of them.',
    defaulted<Map<string, number>>(mapOf(integer(0, 10)), new Map()),
  ),
};
export type RedactTable = TableOf<typeof redactKeys>;
