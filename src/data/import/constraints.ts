/**
 * Checks the constraints between rows when all rows are in their tables: keys and values of unique lists must be
 * unique, and every reference must find its row. Indexes are created first. SQLite finds the rows that an index refuses
 * by sorting, with memory that does not depend on the number of rows.
 *
 * Of several rows with the same key or unique values, the row of the base stays, or else the first row.
 */

import { toPointer } from '#domain/json.ts';
import type { Contract, EntityContract } from '#language/contract.ts';
import {
  createIndexSql,
  indexesOf,
  keyIndexOf,
  quoteName,
  type TableIndex,
} from '#language/sql/ddl.ts';
import type { Catalog, CatalogEntity } from '#store/tables/catalog.ts';
import { describeTakenKey, isTaken } from '#store/write/collisions.ts';
import type { ImportDatabase } from './database.ts';
import type { Landing } from './landing.ts';
import { danglingFault, type LateFault, type Removal, takenFault } from './removal.ts';

/** Part of a landing that decides which of several conflicting rows comes first. */
export type HeldLanding = Pick<Landing, 'arrivalsAt' | 'isChanged' | 'isReplaced'>;

export type ConstraintParts = {
  contract: Pick<Contract, 'entities'>;
  catalog: Catalog;
  database: ImportDatabase;
  landing: HeldLanding;
  removal: Removal;
};

type Repeat = { leader: number; position: number };

/**
 * Returns a row's rank: rows of the base come before all others, and those of the import in the order of their lines.
 */
const rankIn = (landing: HeldLanding, entity: CatalogEntity, position: number): number =>
  landing.arrivalsAt(entity, position)[0] ?? -1;

const removeRepeats = (
  { database, landing, removal }: ConstraintParts,
  entity: CatalogEntity,
  index: TableIndex,
  fault: (row: Record<string, unknown>, key: string) => LateFault,
): void => {
  const { db } = database;
  const { table, position } = entity;
  const terms = index.terms.join(', ');
  const present = index.terms.map((term) => `${term} IS NOT NULL`).join(' AND ');
  db.exec('DELETE FROM scratch.repeats');
  db.exec(`INSERT INTO scratch.repeats (leader, position)
    SELECT leader, position FROM (
      SELECT ${position} AS position, min(${position}) OVER same AS leader, count(*) OVER same AS size
      FROM main.${table} INDEXED BY ${index.name} WHERE ${present} WINDOW same AS (PARTITION BY ${terms})
    ) WHERE size > 1 ORDER BY leader, position`);
  let leader: number | undefined;
  let best = { position: 0, rank: 0 };
  const repeats = db
    .prepare('SELECT leader, position FROM scratch.repeats ORDER BY rowid')
    .iterate();
  for (const repeat of repeats as Iterable<unknown> as Iterable<Repeat>) {
    const rank = rankIn(landing, entity, repeat.position);
    const found = { position: repeat.position, rank };
    if (repeat.leader !== leader) {
      leader = repeat.leader;
      best = found;
      continue;
    }
    const [stays, goes] = rank < best.rank ? [found, best] : [best, found];
    best = stays;
    removal.remove(entity, goes.position, fault);
  }
};

const createUnique = (
  parts: ConstraintParts,
  entity: CatalogEntity,
  index: TableIndex,
  fault: (row: Record<string, unknown>, key: string) => LateFault,
): void => {
  const { db } = parts.database;
  try {
    db.exec(createIndexSql(entity, index));
  } catch (error) {
    if (!isTaken(error)) throw error;
    db.exec(createIndexSql(entity, { ...index, isUnique: false }));
    removeRepeats(parts, entity, index, fault);
    db.exec(`DROP INDEX main.${index.name}`);
    db.exec(createIndexSql(entity, index));
  }
};

const takenKeyFault =
  (entity: CatalogEntity) =>
  (_row: unknown, key: string): LateFault => {
    const [field = ''] = entity.primaryKey;
    return { field, pointer: toPointer([field]), detail: describeTakenKey(entity, key) };
  };

const createIndexes = (parts: ConstraintParts, declared: EntityContract): void => {
  const entity = parts.catalog.entity(declared.name);
  const [keys, ...others] = indexesOf(declared);
  const lists = others.filter(({ isUnique }) => isUnique);
  for (const index of [keyIndexOf(declared), ...(keys === undefined ? [] : [keys])]) {
    createUnique(parts, entity, index, takenKeyFault(entity));
  }
  for (const [at, index] of lists.entries()) {
    createUnique(parts, entity, index, takenFault(declared.unique[at] ?? []));
  }
  for (const index of others.filter(({ isUnique }) => !isUnique)) {
    parts.database.db.exec(createIndexSql(entity, index));
  }
};

type Relationship = EntityContract['relationships'][number];

/** Returns the index that begins with the fields of a relationship. */
const indexOn = (declared: EntityContract, { fields }: Relationship): TableIndex | undefined =>
  indexesOf(declared).find(({ isUnique, terms }) => {
    const isOver = fields.every((field, at) => terms[at] === quoteName(field));
    return isOver && (!isUnique || terms[0] === quoteName(declared.primaryKey[0] ?? ''));
  });

const removeDangling = (
  { catalog, database, removal }: ConstraintParts,
  declared: EntityContract,
  relationship: Relationship,
): void => {
  const { db } = database;
  const { fields, target } = relationship;
  const child = catalog.entity(declared.name);
  const parent = catalog.entity(target);
  const index = indexOn(declared, relationship);
  const present = fields.map((field) => `c.${quoteName(field)} IS NOT NULL`).join(' AND ');
  const same = fields
    .map((field, at) => `p.${quoteName(parent.primaryKey[at] ?? '')} = c.${quoteName(field)}`)
    .join(' AND ');
  db.exec('DELETE FROM scratch.dangling');
  db.exec(`INSERT INTO scratch.dangling (position)
    SELECT c.${child.position} FROM main.${child.table} c ${index === undefined ? '' : `INDEXED BY ${index.name}`}
    WHERE ${present} AND NOT EXISTS (SELECT 1 FROM main.${parent.table} p WHERE ${same})
    ORDER BY c.${child.position}`);
  const found = db.prepare('SELECT position FROM scratch.dangling ORDER BY rowid').iterate();
  for (const { position } of found) {
    removal.remove(child, Number(position), danglingFault(fields, target));
  }
};

/** Creates all indexes, and removes the rows that break a constraint. */
export const holdConstraints = (parts: ConstraintParts): void => {
  const { catalog, contract, landing, removal } = parts;
  for (const entity of contract.entities) createIndexes(parts, entity);
  removal.settle();
  for (const entity of contract.entities) {
    for (const relationship of entity.relationships) {
      const isTouched =
        landing.isChanged(catalog.entity(entity.name)) ||
        landing.isReplaced(catalog.entity(relationship.target));
      if (isTouched) removeDangling(parts, entity, relationship);
    }
  }
  removal.settle();
};
