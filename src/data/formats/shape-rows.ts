/**
 * Shapes rows for a world: fields that their entity lacks are left out, and the world's redaction policy is applied.
 * The changes are counted, so that the user can see them.
 */

import { redactRow } from '#language/capture/redact.ts';
import type { Contract, RedactPolicy, Row } from '#language/contract.ts';
import { columnsOf } from './table-columns.ts';

/** Counts of the rows, fields and values that were read, left out or redacted. */
export type ShapeCounts = {
  read: number;
  rows: number;
  unknownFields: number;
  redacted: { dropped: number; hashed: number; preserved: number; rounded: number };
};

export type Shaping = {
  counts: ShapeCounts;
  /** Names of the first few fields that were left out. */
  unknown: Set<string>;
  /**
   * Shapes a row. `preserved` names the fields to which the policy's `preserve` was already applied; applying it again
   * would change them.
   */
  shape(entity: string, row: Row, preserved?: readonly string[]): Row;
};

const mostNamed = 5;

/**
 * Creates a shaper; without a policy it redacts nothing. With `otherFields: 'keep'` it keeps fields that the entity
 * lacks, so that the contract accepts or refuses them.
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
    // A dropped field counts as dropped, whether or not the entity has it.
    shape: (entity, row, preserved = []) => keepKnown(fields.get(entity), redact(row, preserved)),
  };
};
