/**
 * Determines the mapped fields that a query filters by. Each of them has an index: one from the contract, or one that
 * is built when a query filters by the field for the first time.
 */
import type { Contract, EntityContract, Row } from '#language/contract.ts';

/** Smallest number of rows for which an index is built; fewer rows are scanned in a few milliseconds. */
const leastRows = 20_000;

/** Returns the fields with which an index of the store begins. */
const indexedFields = ({ primaryKey, unique, relationships }: EntityContract): Set<string> =>
  new Set([
    ...primaryKey.slice(0, 1),
    ...unique.flatMap(([first]) => (first?.length === 1 ? first : [])),
    ...relationships.flatMap(({ fields }) => fields.slice(0, 1)),
  ]);

/** Returns the fields of an entity that the links of its world map to fields of other worlds. */
export const mappedFields = ({ dependencies }: Contract, entity: string): string[] =>
  dependencies.flatMap(({ entities }) =>
    entities.filter((mapping) => mapping.entity === entity).map(({ field }) => field),
  );

export type QueriedRows = {
  contract: Pick<Contract, 'entities'>;
  entity: string;
  rowCount: number;
  where: Row;
  /** Fields of the entity that a mapping, in either direction, connects to fields of another world. */
  mapped: readonly string[];
};

/** Returns the mapped fields that the query filters by and that have no index yet. */
export const fieldsToIndex = ({
  contract,
  entity: name,
  rowCount,
  where,
  mapped,
}: QueriedRows): string[] => {
  const entity = contract.entities.find((one) => one.name === name);
  if (entity === undefined || rowCount < leastRows) return [];
  const indexed = indexedFields(entity);
  return [...new Set(mapped)].filter((field) => Object.hasOwn(where, field) && !indexed.has(field));
};
