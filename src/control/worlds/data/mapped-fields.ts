/**
 * Which fields a query asks by that worlds map to one another: these have an index, if not by the contract then one
 * that is made when a query first asks by it.
 */
import type { Contract, EntityContract, Row } from '#language/contract.ts';

/** Fewer rows are looked through in some milliseconds. */
const leastRows = 20_000;

/** Fields that an index of the store begins with. */
const indexedFields = ({ primaryKey, unique, relationships }: EntityContract): Set<string> =>
  new Set([
    ...primaryKey.slice(0, 1),
    ...unique.flatMap(([first]) => (first?.length === 1 ? first : [])),
    ...relationships.flatMap(({ fields }) => fields.slice(0, 1)),
  ]);

/** The fields of an entity that its world's links map to fields of others. */
export const mappedFields = ({ dependencies }: Contract, entity: string): string[] =>
  dependencies.flatMap(({ entities }) =>
    entities.filter((mapping) => mapping.entity === entity).map(({ field }) => field),
  );

export type AskedRows = {
  contract: Pick<Contract, 'entities'>;
  entity: string;
  rowCount: number;
  where: Row;
  /** Fields of the entity that stand for others, or others for them. */
  mapped: readonly string[];
};

/** The fields that the query asks by, are mapped and have no index yet. */
export const fieldsToIndex = ({
  contract,
  entity: name,
  rowCount,
  where,
  mapped,
}: AskedRows): string[] => {
  const entity = contract.entities.find((one) => one.name === name);
  if (entity === undefined || rowCount < leastRows) return [];
  const indexed = indexedFields(entity);
  return [...new Set(mapped)].filter((field) => Object.hasOwn(where, field) && !indexed.has(field));
};
