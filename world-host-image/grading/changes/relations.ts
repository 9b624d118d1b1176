/** Finds how the rows of two entities are related, by the relationships that the world declares. */
import type { EntityContract, Row } from '#language/contract.ts';
import { findRelation as findDeclared } from '#language/relations.ts';

type Entities = ReadonlyMap<string, Pick<EntityContract, 'primaryKey' | 'relationships'>>;

export type Relation = {
  /** Entity whose rows the check counts. */
  entity: string;
  /**
   * Returns the conditions for the rows of `entity` that are related to the given row; undefined if there can be none.
   */
  conditionsOf(row: Row): Row | undefined;
  /** Returns the conditions in the opposite direction: for the rows that are related to a given row of `entity`. */
  conditionsOfRelated(row: Row): Row | undefined;
};

const tie = (pairs: [string, unknown][]): Row | undefined => {
  const isTied = pairs.every(([, value]) => value !== null && value !== undefined);
  return isTied ? Object.fromEntries(pairs) : undefined;
};

/**
 * Returns the relationship between two entities; with `by`, the relationship that uses these fields. Undefined if there
 * is none.
 */
export const findRelation = (
  entities: Entities,
  entity: string,
  related: { entity: string; by?: readonly string[] | undefined },
): Relation | undefined => {
  const [one, other] = [entities.get(entity), entities.get(related.entity)];
  if (one === undefined || other === undefined) return undefined;
  const found = findDeclared(
    { ...one, name: entity },
    { ...other, name: related.entity },
    related.by,
  );
  if ('fault' in found) return undefined;
  return {
    entity,
    conditionsOf: (row) => tie(found.relation.map(({ from, to }) => [from, row[to]])),
    conditionsOfRelated: (row) => tie(found.relation.map(({ from, to }) => [to, row[from]])),
  };
};
