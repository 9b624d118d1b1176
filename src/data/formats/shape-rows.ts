/**
 * Rows shaped for a world: fields that their entity does not have are left out, and the policy of the world redacts
 * what it names. What was done is counted, for whoever wants to know what became of their rows.
 */

import { redactRow } from '#language/capture/redact.ts';
import type { Contract, RedactPolicy, Row } from '#language/contract.ts';
import { columnsOf } from './table-columns.ts';

/** What became of rows, in numbers of rows, fields and values. */
export type ShapeCounts = {
  read: number;
  rows: number;
  unknownFields: number;
  redacted: { dropped: number; hashed: number; preserved: number; rounded: number };
};

export type Shaping = {
  counts: ShapeCounts;
  /** Names of fields that were left out, the first few. */
  unknown: Set<string>;
  /** `preserved`: fields that were preserved before; doing it again would change them. */
  shape(entity: string, row: Row, preserved?: readonly string[]): Row;
};

const mostNamed = 5;

/**
 * Creates a shaping; without a policy nothing is redacted. `otherFields: 'keep'` leaves fields in that the entity does not
 * have, for the contract to judge.
 */
export const createShaping = (
  contract: Contract,
  policy: RedactPolicy | null,
  otherFields?: 'keep',
): Shaping => {
  const fields = new Map(
    contract.entities.map(({ name }) => [
      name,
      new Set(columnsOf(contract, name).map((column) => column.name)),
    ]),
  );
  const redacted = { dropped: 0, hashed: 0, preserved: 0, rounded: 0 };
  const counts: ShapeCounts = { read: 0, rows: 0, unknownFields: 0, redacted };
  const unknown = new Set<string>();
  const policies = new Map<string, RedactPolicy>();
  const without = (of: RedactPolicy, preserved: readonly string[]): RedactPolicy => {
    if (preserved.length === 0) return of;
    const key = JSON.stringify(preserved);
    const left = of.preserve.filter((name) => !preserved.includes(name));
    const known = policies.get(key) ?? { ...of, preserve: left };
    policies.set(key, known);
    return known;
  };
  const redact = (row: Row, preserved: readonly string[]): Row => {
    if (policy === null) return row;
    const done = redactRow(without(policy, preserved), row);
    for (const name of ['dropped', 'hashed', 'preserved', 'rounded'] as const) {
      redacted[name] += done.counts[name];
    }
    return done.row;
  };
  const keepKnown = (known: ReadonlySet<string> | undefined, row: Row): Row => {
    const left = Object.keys(row).filter((name) => known?.has(name) !== true);
    if (left.length === 0 || otherFields === 'keep') return row;
    counts.unknownFields += left.length;
    for (const name of left) if (unknown.size < mostNamed) unknown.add(name);
    const gone = new Set(left);
    return Object.fromEntries(Object.entries(row).filter(([name]) => !gone.has(name)));
  };
  return {
    counts,
    unknown,
    // What is dropped counts as that, whether or not the entity has it.
    shape: (entity, row, preserved = []) => keepKnown(fields.get(entity), redact(row, preserved)),
  };
};
