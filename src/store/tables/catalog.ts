/**
 * Catalog: the contract's entities as the store needs them, found by name, with column types, and with relationships
 * listed at both ends. It is built once, when a store opens.
 */
import type { ColumnType, Contract, EntityContract, FieldPath } from '#language/contract.ts';
import { createAnalysis } from '#language/schema/analysis.ts';
import { positionName, quoteName } from '#language/sql/ddl.ts';
import { StoreRefusal } from '../refusal.ts';
import { createFieldCheck, type FieldCheck } from './fields.ts';

/** A numbered field that distinguishes rows with the same values in all other fields of a key. */
export type Sequence = {
  field: string;
  /** Other fields of the key, sorted by name. */
  within: FieldPath[];
  /** Foreign key that the fields `within` form; undefined if they form none. */
  owner: { fields: string[]; target: string } | undefined;
};

/**
 * A foreign key. `isCyclic` is true if the target refers back, directly or through other entities. Rows may then refer
 * to one another in a cycle, and the row that is written first refers to a row that is still missing. So only at the
 * end of a transaction is it certain that a row is missing.
 */
export type EntityReference = { fields: string[]; target: string; isCyclic: boolean };

export type CatalogEntity = {
  name: string;
  /** Name of the table, quoted for SQL. */
  table: string;
  /** Column with a row's position in the order of insertion; its name differs from those of all fields. */
  position: string;
  primaryKey: string[];
  unique: EntityContract['unique'];
  columns: ReadonlyMap<string, ColumnType>;
  /** Fields that are numbered within other fields, according to the primary key and the unique lists. */
  sequences: readonly Sequence[];
  /** Checks whether rows can have a value at a path, see `FieldCheck`. */
  checkPath: FieldCheck;
  /** Foreign keys of this entity. */
  references: EntityReference[];
  /** Foreign keys of any entity that refer to this one. */
  dependents: { entity: string; fields: string[] }[];
  /**
   * Sequences of other entities that are numbered within a row of this one, with the fields that refer to the key of
   * this entity.
   */
  counts: { entity: string; sequence: Sequence; fields: string[]; key: string[] }[];
};

export type Catalog = {
  /** Entities in the contract's order. */
  entities: readonly CatalogEntity[];
  /** Returns the entity of a name. Throws `StoreRefusal` of kind `unknown_entity`. */
  entity(name: string): CatalogEntity;
};

const ownerOf = (
  { relationships }: Pick<EntityContract, 'relationships'>,
  within: readonly FieldPath[],
): Sequence['owner'] =>
  relationships.find(
    ({ fields }) =>
      fields.length === within.length &&
      within.every((path) => path.length === 1 && fields.includes(path[0] ?? '')),
  );

/**
 * Returns the sequences of an entity. A number that is part of a foreign key is left out, because it is counted where
 * the referenced row is.
 */
const sequencesOf = ({
  columns,
  primaryKey,
  relationships,
  unique,
}: EntityContract): Sequence[] => {
  const numbers = columns.filter(({ type }) => type !== 'TEXT').map(({ name }) => name);
  const references = new Set(relationships.flatMap(({ fields }) => fields));
  const keys = [primaryKey.map((field) => [field]), ...unique];
  return keys.flatMap((paths) =>
    paths.flatMap((path) => {
      const [field = ''] = path;
      const isNumber = path.length === 1 && numbers.includes(field) && !references.has(field);
      if (!isNumber || paths.length === 1) return [];
      const others = paths
        .filter((other) => other !== path)
        .map((other) => [other.join('.'), other] as const);
      const within = others.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, other]) => other);
      return [{ field, within, owner: ownerOf({ relationships }, within) }];
    }),
  );
};

/** Returns the names of the entities to which an entity refers, directly or through others. */
const reachedFrom = ({ entities }: Pick<Contract, 'entities'>, name: string): Set<string> => {
  const targets = new Map(
    entities.map((entity) => [entity.name, entity.relationships.map(({ target }) => target)]),
  );
  const reached = new Set<string>();
  const left = [name];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const target of targets.get(next) ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      left.push(target);
    }
  }
  return reached;
};

const referencesOf = (
  contract: Pick<Contract, 'entities'>,
  { name, relationships }: EntityContract,
): EntityReference[] =>
  relationships.map(({ fields, target }) => {
    const isCyclic = target === name || reachedFrom(contract, target).has(name);
    return { fields, target, isCyclic };
  });

const dependentsOf = (
  contract: Pick<Contract, 'entities'>,
  target: string,
): CatalogEntity['dependents'] =>
  contract.entities.flatMap((entity) =>
    entity.relationships
      .filter((relationship) => relationship.target === target)
      .map(({ fields }) => ({ entity: entity.name, fields })),
  );

type OwnSequences = ReadonlyMap<string, readonly Sequence[]>;

const countsOf = (
  sequences: OwnSequences,
  { name, primaryKey: key }: EntityContract,
): CatalogEntity['counts'] =>
  [...sequences].flatMap(([entity, own]) =>
    own.flatMap((sequence) => {
      const { owner } = sequence;
      return owner?.target === name ? [{ entity, sequence, fields: owner.fields, key }] : [];
    }),
  );

export const createCatalog = (contract: Pick<Contract, 'entities' | 'definitions'>): Catalog => {
  const analysis = createAnalysis(contract.definitions);
  const sequences: OwnSequences = new Map(
    contract.entities.map((entity) => [entity.name, sequencesOf(entity)]),
  );
  const byName = new Map<string, CatalogEntity>(
    contract.entities.map((entity) => [
      entity.name,
      {
        name: entity.name,
        table: quoteName(entity.name),
        position: positionName(entity).name,
        primaryKey: entity.primaryKey,
        unique: entity.unique,
        sequences: sequences.get(entity.name) ?? [],
        columns: new Map(entity.columns.map(({ name, type }) => [name, type])),
        checkPath: createFieldCheck(analysis, entity.schema),
        references: referencesOf(contract, entity),
        dependents: dependentsOf(contract, entity.name),
        counts: countsOf(sequences, entity),
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
