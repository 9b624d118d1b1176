/**
 * Checks foreign keys when a transaction ends, only for the rows that it changed. If the caller requests it, a row is
 * checked when it is written.
 *
 * SQLite checks deferred foreign keys only when the outermost transaction commits, and a store's never does (its marks
 * are savepoints). So each changed row is checked at both ends: a written row must find its parents, a removed row must
 * leave no dependents behind.
 */
import { toPointer } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import { quoteName } from '#language/sql/ddl.ts';
import { StoreRefusal } from '../refusal.ts';
import type { Catalog, CatalogEntity, EntityReference } from '../tables/catalog.ts';
import { describeKey, keyFrom } from '../tables/keys.ts';
import type { Statements } from '../tables/statements.ts';
import type { TouchedRow } from './write-set.ts';

/** Returns the text of a refusal of a row whose foreign key refers to no row of the target. */
export const describeDangling = (
  fields: readonly string[],
  parentKey: string,
  target: string,
): string => `${describeKey(fields, parentKey)} refers to ${target}, which has no such row`;

type WrittenRow = { entity: CatalogEntity; key: string; row: Row; old: Row | undefined };

const checkKeys = (
  catalog: Catalog,
  prepare: Statements,
  references: readonly EntityReference[],
  { entity, key, row, old }: WrittenRow,
): void => {
  for (const { fields, target } of references) {
    const parentKey = keyFrom(row, fields);
    if (parentKey === undefined) continue;
    if (old !== undefined && keyFrom(old, fields) === parentKey) continue;
    const parent = catalog.entity(target);
    if (prepare(`SELECT 1 FROM ${parent.table} WHERE _key = ?`).get(parentKey)) continue;
    throw new StoreRefusal({
      entity: entity.name,
      kind: 'missing_reference',
      key,
      field: fields[0],
      pointer: toPointer(fields.slice(0, 1)),
      detail: describeDangling(fields, parentKey, target),
      problems: fields.map((field) => ({
        pointer: toPointer([field]),
        detail: `refers to ${target}, which has no such row`,
      })),
    });
  }
};

const checkParents = (catalog: Catalog, prepare: Statements, touched: TouchedRow): void => {
  const { entity, before, after, key } = touched;
  if (after === undefined || entity.references.length === 0) return;
  const row = JSON.parse(after) as Row;
  const old = before === undefined ? undefined : (JSON.parse(before) as Row);
  checkKeys(catalog, prepare, entity.references, { entity, key, row, old });
};

/** Throws `StoreRefusal` if a row that is not written yet refers to a missing row that must exist first. */
export const checkParentsNow = (
  catalog: Catalog,
  prepare: Statements,
  written: WrittenRow,
): void => {
  const references = written.entity.references.filter(({ isCyclic }) => !isCyclic);
  checkKeys(catalog, prepare, references, written);
};

const checkDependents = (catalog: Catalog, prepare: Statements, touched: TouchedRow): void => {
  const { entity, key } = touched;
  if (touched.after !== undefined) return;
  for (const { entity: name, fields } of entity.dependents) {
    const child = catalog.entity(name);
    // Extracted from the key's JSON, since binding would change texts with an unpaired surrogate.
    const condition = fields
      .map((field, index) => `${quoteName(field)} = json_extract(?1, '$[${index}]')`)
      .join(' AND ');
    const found = prepare(`SELECT _key FROM ${child.table} WHERE ${condition} LIMIT 1`).get(key);
    if (found === undefined) continue;
    const keyText = describeKey(child.primaryKey, found._key as string);
    throw new StoreRefusal({
      entity: entity.name,
      kind: 'referenced',
      key,
      detail: `${describeKey(entity.primaryKey, key)} is still referred to by ${name} (${keyText}); delete its dependents first`,
    });
  }
};

/** Throws `StoreRefusal` for the first changed row that leaves a foreign key dangling. */
export const checkReferences = (
  catalog: Catalog,
  prepare: Statements,
  changed: readonly TouchedRow[],
): void => {
  for (const touched of changed) {
    checkParents(catalog, prepare, touched);
    checkDependents(catalog, prepare, touched);
  }
};
