/** How the rows of two entities are related, by the relationships that the world declares. */
import type { EntityContract, Row } from '#language/contract.ts';
import { findRelation as findDeclared } from '#language/relations.ts';

type Entities = ReadonlyMap<string, Pick<EntityContract, 'primaryKey' | 'relationships'>>;

export type Relation = {
  /** The entity that the check is about. */
  entity: string;
  /** What must hold of its rows for them to be related to this one; undefined where it is related to none. */
  conditionsOf(row: Row): Row | undefined;
  /** The other way: what must hold of the related rows of a row that the check is about. */
  conditionsOfRelated(row: Row): Row | undefined;
};

const tie = (pairs: [string, unknown][]): Row | undefined => {
  const isTied = pairs.every(([, value]) => value !== null && value !== undefined);
  return isTied ? Object.fromEntries(pairs) : undefined;
};

/** The relationship between the two, or the one of the fields `by`; undefined where there is none. */
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
