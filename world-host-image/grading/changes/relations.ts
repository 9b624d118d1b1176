/** How the rows of two entities are related, by the foreign keys that the world declares. */
import type { EntityContract, Row } from '#language/contract.ts';

type Entities = ReadonlyMap<string, Pick<EntityContract, 'primaryKey' | 'relationships'>>;

export type Relation = {
  /** The entity that the check is about. */
  entity: string;
  /** What must hold of its rows for them to be related to this one; undefined where it is related to none. */
  conditionsOf(row: Row): Row | undefined;
};

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));

/** The values of some fields of a row under the names of others. */
const conditions = (row: Row, from: readonly string[], to: readonly string[]): Row | undefined => {
  const values = from.map((field) => row[field]);
  if (values.some((value) => value === null || value === undefined)) return undefined;
  return Object.fromEntries(to.map((field, index) => [field, values[index]]));
};

/** The first foreign key between the two, or the one of the fields `by`; undefined where there is none. */
export const findRelation = (
  entities: Entities,
  entity: string,
  related: { entity: string; by?: readonly string[] | undefined },
): Relation | undefined => {
  const [one, other] = [entities.get(entity), entities.get(related.entity)];
  if (one === undefined || other === undefined) return undefined;
  const isMeant = (fields: readonly string[]) =>
    related.by === undefined || isSame(fields, related.by);
  // Relationships of a linked world name its entities as they are called there.
  const isTarget = (name: string, target: string): boolean =>
    name === target || name.endsWith(`.${target}`);
  const child = other.relationships.find(
    ({ fields, target }) => isTarget(entity, target) && isMeant(fields),
  );
  if (child !== undefined) {
    return { entity, conditionsOf: (row) => conditions(row, child.fields, one.primaryKey) };
  }
  const parent = one.relationships.find(
    ({ fields, target }) => isTarget(related.entity, target) && isMeant(fields),
  );
  if (parent === undefined) return undefined;
  return { entity, conditionsOf: (row) => conditions(row, other.primaryKey, parent.fields) };
};
