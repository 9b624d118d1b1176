/**
 * Adds the changes that a task allows in addition to those that its checks require, such as changes that the world
 * itself makes. An allowance covers rows that match it now, and deleted rows that matched it before. With `fields` it
 * covers only updates of these fields, otherwise every change.
 */
import type { Row } from '#language/contract.ts';
import { readFieldPath } from '#language/field-path.ts';
import type { ChangedState } from './changed-rows.ts';
import { type Claims, touchedPaths } from './claims.ts';

export type Allowance = {
  entity: string;
  fields?: readonly string[] | undefined;
  where?: Row | undefined;
};

/** Returns the name that reports use for an allowance; it contains the index of the allowance in the task. */
const nameOf = (index: number): string => `changes.allow[${index}]`;

const isOneOf = ({ after }: { after: string | null }) => (after === null ? 'before' : 'after');

/**
 * Adds claims for the allowed changes. Throws `StoreRefusal` if a condition names something that the world does not
 * have.
 */
export const claimAllowed = (
  { entities }: Pick<ChangedState, 'entities'>,
  allow: readonly Allowance[],
  claims: Claims,
): void => {
  for (const [number, { entity: name, fields, where = {} }] of allow.entries()) {
    const entity = entities.get(name);
    if (entity === undefined) continue;
    const matching = {
      before: entity.matching('before', where),
      after: entity.matching('after', where),
    };
    const paths = fields?.map(readFieldPath);
    for (const [index, row] of entity.rows.entries()) {
      if (!matching[isOneOf(row)].has(index)) continue;
      if (paths === undefined) {
        claims.add(row, nameOf(number), 'all');
      } else if (row.change === 'updated') {
        const touched = touchedPaths(row, paths);
        if (touched.length > 0) claims.add(row, nameOf(number), touched);
      }
    }
  }
};
