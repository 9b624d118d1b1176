/**
 * The contract's entities as the store looks them up: by name, with column types at hand and with
 * relationships seen from both ends. Built once when a store opens.
 */
import type { ColumnType, Contract, EntityContract } from '#language/contract.ts';
import { positionName, quoteName } from '#language/ddl.ts';
import { createAnalysis } from '#language/schema/analysis.ts';
import { createFieldCheck, type FieldCheck } from './fields.ts';
import { StoreRefusal } from './refusal.ts';

export type CatalogEntity = {
  name: string;
  /** The table's name, quoted for SQL. */
  table: string;
  /** The table's name for the position of a row in the order of insertion; no field has it. */
  position: string;
  primaryKey: string[];
  unique: EntityContract['unique'];
  columns: ReadonlyMap<string, ColumnType>;
  /** Tells paths that lead nowhere. */
  checkPath: FieldCheck;
  /** Foreign keys of this entity. */
  references: { fields: string[]; target: string }[];
  /** Foreign keys of any entity that point here. */
  dependents: { entity: string; fields: string[] }[];
};

export type Catalog = {
  /** In the contract's order. */
  entities: readonly CatalogEntity[];
  /** Throws `StoreRefusal` of kind `unknown_entity`. */
  entity(name: string): CatalogEntity;
};

const dependentsOf = (
  contract: Pick<Contract, 'entities'>,
  target: string,
): CatalogEntity['dependents'] =>
  contract.entities.flatMap((entity) =>
    entity.relationships
      .filter((relationship) => relationship.target === target)
      .map(({ fields }) => ({ entity: entity.name, fields })),
  );

export const createCatalog = (contract: Pick<Contract, 'entities' | 'definitions'>): Catalog => {
  const analysis = createAnalysis(contract.definitions);
  const byName = new Map<string, CatalogEntity>(
    contract.entities.map((entity) => [
      entity.name,
      {
        name: entity.name,
        table: quoteName(entity.name),
        position: positionName(entity).name,
        primaryKey: entity.primaryKey,
        unique: entity.unique,
        columns: new Map(entity.columns.map(({ name, type }) => [name, type])),
        checkPath: createFieldCheck(analysis, entity.schema),
        references: entity.relationships,
        dependents: dependentsOf(contract, entity.name),
      },
    ]),
  );
  return {
    entities: [...byName.values()],
    entity(name) {
      const found = byName.get(name);
      if (found === undefined) {
        const detail = `the world has no entity "${name}"; it has ${[...byName.keys()].join(', ')}`;
        throw new StoreRefusal({ entity: name, kind: 'unknown_entity', detail });
      }
      return found;
    },
  };
};
