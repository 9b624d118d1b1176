/** Finds how the rows of two entities are related, by the relationships that the world declares. */
import type { EntityContract, Row } from '#language/contract.ts';
import { findRelation as findDeclared } from '#language/relations.ts';

type Entities = ReadonlyMap<string, Pick<EntityContract, 'primaryKey' | 'relationships'>>;

export type Relation = {
  /** Entity that the check is about. */
  entity: string;
  /** Returns the conditions under which its rows are related to this one; undefined if this one is related to none. */
  conditionsOf(row: Row): Row | undefined;
  /** Returns the conditions for the related rows of a row that the check is about, the opposite direction. */
  conditionsOfRelated(row: Row): Row | undefined;
};

const tie = (pairs: [string, unknown][]): Row | undefined => {
  const isTied = pairs.every(([, value]) => value !== null && value !== undefined);
  return isTied ? Object.fromEntries(pairs) : undefined;
};

/** Returns the relationship between the two entities, or the one with the fields `by`; undefined if there is none. */
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
