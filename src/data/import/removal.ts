/**
 * Removes rows that have the key or unique values of another row, or dangling references; then the rows that refer to
 * them. When a merged row is removed, the base row with its key is restored, and imported rows that took the unique
 * values of that base row are removed, too. An import must not remove a row of the base: if a base row would be left
 * with a broken reference, the whole import is refused.
 */
import { toPointer } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import { jsonPath, quoteName, quoteText } from '#language/sql/ddl.ts';
import { valueAt } from '#store/read/filter.ts';
import type { Catalog, CatalogEntity } from '#store/tables/catalog.ts';
import { fieldsOfKey, keyFrom } from '#store/tables/keys.ts';
import { describeTaken, isTaken } from '#store/write/collisions.ts';
import { describeDangling } from '#store/write/references.ts';
import type { Arrivals } from './arrivals.ts';
import type { ImportDatabase } from './database.ts';
import { faultOf, type RowFault, showKey } from './faults.ts';
import { insertSql, type Landing } from './landing.ts';
import type { Refusals } from './refusals.ts';
import type { StateSum } from './state-sum.ts';

/** Fault of a row that is already in its table. */
export type LateFault = Pick<RowFault, 'field' | 'pointer' | 'detail'>;

export type Removal = {
  /** Removes the row at a position. */
  remove(
    entity: CatalogEntity,
    position: number,
    faultIn: (row: Row, key: string) => LateFault,
  ): void;
  /** Removes or restores rows that depend on removed ones, until none is left. */
  settle(): void;
};

export type RemovalParts = {
  catalog: Catalog;
  database: ImportDatabase;
  landing: Landing;
  arrivals: Arrivals;
  refusals: Refusals;
  sum: StateSum;
};

type Stored = { key: string; payload: string };
type Gone = { id: number; entity: string; position: number; key: string };

const rowsAtOnce = 1_000;

type FaultIn = Parameters<Removal['remove']>[2];

/** Returns a row of a table with its fault; undefined when it was already removed. */
export const findFault = (
  { prepare }: Pick<ImportDatabase, 'prepare'>,
  { table, position: name }: CatalogEntity,
  position: number,
  faultIn: FaultIn,
): (Stored & { row: Row; late: LateFault }) | undefined => {
  const text = `SELECT _key AS key, payload FROM main.${table} WHERE ${name} = ?`;
  const found = prepare(text).get(position) as Stored | undefined;
  if (found === undefined) return undefined;
  const row = JSON.parse(found.payload) as Row;
  return { ...found, row, late: faultIn(row, found.key) };
};

/** Returns the fault of a row that refers to no row of the target. */
export const danglingFault =
  (fields: readonly string[], target: string) =>
  (row: Row): LateFault => ({
    field: fields[0] ?? null,
    pointer: toPointer(fields.slice(0, 1)),
    detail: describeDangling(fields, keyFrom(row, fields) ?? '[]', target),
  });

/** Returns the fault of a row whose unique values another row has. */
export const takenFault =
  (paths: readonly string[][]) =>
  (row: Row): LateFault => ({
    field: paths[0]?.[0] ?? null,
    pointer: toPointer(paths[0] ?? []),
    detail: describeTaken(paths, row),
  });

export const createRemoval = (parts: RemovalParts): Removal => {
  const { catalog, database, landing, arrivals, refusals, sum } = parts;
  const { prepare } = database;

  const remove: Removal['remove'] = (entity, position, faultIn) => {
    const { name, table } = entity;
    const found = findFault(database, entity, position, faultIn);
    if (found === undefined) return; // it was already removed for another reason
    const { key, payload, late } = found;
    const primaryKey = showKey(fieldsOfKey(entity, key), entity.primaryKey);
    const fault = faultOf(late.detail, { ...late, entity: name, primaryKey });
    const lines = landing.arrivalsAt(entity, position);
    if (lines.length === 0) {
      refusals.addFatal({ chunk: null, index: null }, fault);
      return;
    }
    for (const line of lines) refusals.add(arrivals.placeOf(line), fault);
    prepare(`DELETE FROM main.${table} WHERE ${entity.position} = ?`).run(position);
    sum.remove(entity, key, payload);
    landing.countOut(entity, lines.length);
    prepare('INSERT INTO scratch.gone (entity, position, key) VALUES (?, ?, ?)').run(
      name,
      position,
      key,
    );
  };

  /** Removes imported rows whose key or unique values equal those of a row of the base that is to be restored. */
  const removeCompeting = (entity: CatalogEntity, payload: string, key: string): void => {
    const keyPaths = entity.primaryKey.map((field) => [field]);
    for (const paths of [keyPaths, ...entity.unique]) {
      const same = paths.map(
        (path) => `${valueAt(entity, path)} = json_extract(?, ${quoteText(jsonPath(path))})`,
      );
      const text = `SELECT ${entity.position} AS position FROM main.${entity.table} WHERE _key <> ? AND ${same.join(' AND ')}`;
      const taker = prepare(text).get(key, ...paths.map(() => payload));
      if (taker !== undefined) remove(entity, Number(taker.position), takenFault(paths));
    }
  };

  /**
   * Returns true if the table still has a row with the key of the removed row, so that only a repetition was removed.
   */
  const isThere = ({ table }: CatalogEntity, key: string): boolean =>
    prepare(`SELECT 1 FROM main.${table} WHERE _key = ?`).get(key) !== undefined;

  const restore = (entity: CatalogEntity, key: string): boolean => {
    const original = landing.takeBack(entity, key);
    if (original === undefined) return false;
    const { position, payload } = original;
    const insert = (): unknown => prepare(insertSql(entity)).run(position, key, payload);
    try {
      insert();
    } catch (error) {
      if (!isTaken(error)) throw error;
      removeCompeting(entity, payload, key);
      insert();
    }
    sum.add(entity, key, payload);
    return true;
  };

  const removeDependents = (entity: CatalogEntity, key: string): void => {
    for (const { entity: name, fields } of entity.dependents) {
      const child = catalog.entity(name);
      const same = fields
        .map((field, index) => `${quoteName(field)} = json_extract(?1, '$[${index}]')`)
        .join(' AND ');
      const page = prepare(
        `SELECT ${child.position} AS position FROM main.${child.table} WHERE ${same} AND ${child.position} > ?2 ORDER BY ${child.position} LIMIT ${rowsAtOnce}`,
      );
      for (let after = Number.MIN_SAFE_INTEGER; ; ) {
        const found = page.all(key, after);
        for (const { position } of found) {
          after = Number(position);
          remove(child, after, danglingFault(fields, entity.name));
        }
        if (found.length < rowsAtOnce) break;
      }
    }
  };

  return {
    remove,
    settle() {
      const next = 'SELECT id, entity, position, key FROM scratch.gone ORDER BY id LIMIT 1';
      for (;;) {
        const gone = prepare(next).get() as Gone | undefined;
        if (gone === undefined) return;
        prepare('DELETE FROM scratch.gone WHERE id = ?').run(gone.id);
        const entity = catalog.entity(gone.entity);
        if (isThere(entity, gone.key) || restore(entity, gone.key)) continue;
        removeDependents(entity, gone.key);
      }
    },
  };
};
