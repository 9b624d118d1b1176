/**
 * Determines the mapped fields that a query filters by. Such fields have an index: one of the contract's, or one that
 * is built when a query first filters by them.
 */
import type { Contract, EntityContract, Row } from '#language/contract.ts';

/** Least number of rows for an index; fewer rows are scanned in some milliseconds. */
const leastRows = 20_000;

/** Returns the fields that an index of the store begins with. */
const indexedFields = ({ primaryKey, unique, relationships }: EntityContract): Set<string> =>
  new Set([
    ...primaryKey.slice(0, 1),
    ...unique.flatMap(([first]) => (first?.length === 1 ? first : [])),
    ...relationships.flatMap(({ fields }) => fields.slice(0, 1)),
  ]);

/** Returns the fields of an entity that its world's links map to fields of other worlds. */
export const mappedFields = ({ dependencies }: Contract, entity: string): string[] =>
  dependencies.flatMap(({ entities }) =>
    entities.filter((mapping) => mapping.entity === entity).map(({ field }) => field),
  );

export type QueriedRows = {
  contract: Pick<Contract, 'entities'>;
  entity: string;
  rowCount: number;
  where: Row;
  /** Fields of the entity that a mapping connects to fields of another world, in either direction. */
  mapped: readonly string[];
};

/** Returns the fields that the query filters by, that are mapped, and that have no index yet. */
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
