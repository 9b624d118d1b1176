/**
 * Translates SQLite's refusals of a write: finds which key or unique list a row collides on. SQLite names only an
 * index, so the list is found by queries after the write has failed.
 */
import { toPointer } from '#domain/json.ts';
import type { FieldPath, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { jsonPath, quoteText } from '#language/sql/ddl.ts';
import { valueAt } from '../read/filter.ts';
import { type RefusedPlace, StoreRefusal } from '../refusal.ts';
import type { CatalogEntity } from '../tables/catalog.ts';
import { describeKey } from '../tables/keys.ts';
import type { Statements } from '../tables/statements.ts';

/** SQLite's extended result codes of the failures that a write can have. */
const sqliteCodes = { full: 13, primaryKey: 1555, unique: 2067 } as const;

const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined;

/** Returns true if a write failed because the database has reached its size limit. */
export const isFull = (error: unknown): boolean => codeOf(error) === sqliteCodes.full;

/** Returns the text of a refusal of a row whose key another row has. */
export const describeTakenKey = ({ primaryKey }: CatalogEntity, key: string): string =>
  `a row with ${describeKey(primaryKey, key)} exists`;

/** Returns the text of a refusal of a row whose values of a unique list another row has. */
export const describeTaken = (paths: readonly FieldPath[], row: Row): string => {
  const words = paths.map((path) => `${path.join('.')} ${JSON.stringify(valueAtPath(row, path))}`);
  return `another row has ${words.join(', ')}`;
};

/** Returns true if a write failed because a unique index already has the value. */
export const isTaken = (error: unknown): boolean =>
  codeOf(error) === sqliteCodes.primaryKey || codeOf(error) === sqliteCodes.unique;

/** Returns the fault of a field whose value another row has. */
const takenPlace = (path: FieldPath, fields: number): RefusedPlace => ({
  pointer: toPointer(path),
  detail:
    fields === 1
      ? 'is taken by another row'
      : 'is taken by another row, together with the other fields of the key',
});

const keyTaken = (entity: CatalogEntity, key: string): StoreRefusal => {
  const { primaryKey } = entity;
  const [field = ''] = primaryKey;
  const detail = describeTakenKey(entity, key);
  const pointer = toPointer([field]);
  const problems = primaryKey.map((name) => takenPlace([name], primaryKey.length));
  const facts = { entity: entity.name, kind: 'duplicate', key, field, pointer, detail } as const;
  return new StoreRefusal({ ...facts, problems });
};

const uniqueTaken = (
  entity: CatalogEntity,
  prepare: Statements,
  row: Row,
  key: string,
): StoreRefusal | undefined => {
  const payload = JSON.stringify(row);
  for (const paths of entity.unique) {
    const same = paths.map(
      (path) => `${valueAt(entity, path)} = json_extract(?, ${quoteText(jsonPath(path))})`,
    );
    const text = `SELECT 1 FROM ${entity.table} WHERE _key <> ? AND ${same.join(' AND ')}`;
    if (prepare(text).get(key, ...paths.map(() => payload)) === undefined) continue;
    return new StoreRefusal({
      entity: entity.name,
      kind: 'duplicate',
      key,
      field: paths[0]?.[0],
      pointer: toPointer(paths[0] ?? []),
      detail: describeTaken(paths, row),
      problems: paths.map((path) => takenPlace(path, paths.length)),
    });
  }
  return undefined;
};

/** Throws the refusal of a row for which the database has no space. */
export const refuseFull = (entity: CatalogEntity, key: string): never => {
  const detail = 'the world has reached its size limit; delete rows first';
  throw new StoreRefusal({ entity: entity.name, kind: 'full', key, detail });
};

/**
 * Throws the refusal of a change to a further row of a large world. Such a change copies pages of the base file, and
 * the session has reached its limit of copied pages.
 */
export const refuseCopy = (entity: CatalogEntity, key: string): never => {
  const detail =
    'the session has changed as many rows of this large world as it may; open another session';
  throw new StoreRefusal({ entity: entity.name, kind: 'full', key, detail });
};

/** Returns the refusal that describes a failed write of `row`; returns any other error unchanged. */
export const translateFailure = (
  error: unknown,
  entity: CatalogEntity,
  prepare: Statements,
  row: Row,
  key: string,
): unknown => {
  switch (codeOf(error)) {
    case sqliteCodes.primaryKey:
    case sqliteCodes.unique:
      return uniqueTaken(entity, prepare, row, key) ?? keyTaken(entity, key);
    default:
      return error;
  }
};
