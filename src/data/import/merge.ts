/**
 * The mode `merge`: a row whose key exists replaces top-level fields of the row that has it. Rows of the import are
 * kept beside the tables until all are read, since several may change one row. A changed row of the tree moves behind
 * all others, so that the unchanged rows of the tree stay first; other rows keep their positions.
 */
import type { Row } from '#language/contract.ts';
import type { RowChecker } from '#language/schema/checkers.ts';
import type { Catalog, CatalogEntity } from '#store/tables/catalog.ts';
import { keyFrom } from '#store/tables/keys.ts';
import {
  type BaseRow,
  copyBase,
  insertSql,
  type Landing,
  type LandingParts,
  lastOfBase,
} from './landing.ts';
import { keyFault, shapeFault } from './rows.ts';

export type MergeParts = LandingParts & { catalog: Catalog; checker: RowChecker };

type Merged = { id: number; payload: string };
/** A merged row once all lines are read; `base` and `old` are the position and text of the base row with its key. */
type Settled = Merged & { key: string; base: number | null; old: string | null };

const rowsAtOnce = 1_000;

/** Returns the position of the last row that came from the tree. */
const lastOfTree = ({ database, treeRows }: LandingParts, entity: CatalogEntity): number => {
  const count = treeRows[entity.name] ?? 0;
  if (count === 0 || database.base === null) return 0;
  const { table, position } = entity;
  const text = `SELECT ${position} AS n FROM base.${table} ORDER BY ${position} LIMIT 1 OFFSET ?`;
  return Number(database.prepare(text).get(count - 1)?.n ?? lastOfBase(database, entity));
};

/**
 * Returns SQL for a page of an entity's merged rows, after one of them. The plus keeps SQLite from the index of keys,
 * with which it would find and sort all rows of the entity for each page.
 */
export const mergedPageSql = (
  { table, position }: Pick<CatalogEntity, 'table' | 'position'>,
  hasBase: boolean,
): string => {
  const old = hasBase ? `LEFT JOIN base.${table} b ON b.${position} = m.base` : '';
  const before = hasBase ? 'b.payload' : 'NULL';
  return `SELECT m.id AS id, m.key AS key, m.payload AS payload, m.base AS base, ${before} AS old
    FROM scratch.merged m ${old} WHERE +m.entity = ? AND m.id > ? ORDER BY m.id LIMIT ${rowsAtOnce}`;
};

export const createMerge = (parts: MergeParts): Landing => {
  const { catalog, checker, database, sum, treeRows } = parts;
  const { db, prepare } = database;
  const hasBase = database.base !== null;
  const landed = new Map<string, number>();
  const moved = new Map<string, number>();
  let taken = 0;

  const find = prepare('SELECT id, payload FROM scratch.merged WHERE entity = ? AND key = ?');
  const insert = prepare(
    'INSERT INTO scratch.merged (entity, key, payload, base) VALUES (?, ?, ?, ?) RETURNING id',
  );
  const update = prepare('UPDATE scratch.merged SET payload = ? WHERE id = ?');
  const arrive = prepare('INSERT INTO scratch.arrived (merged, arrival) VALUES (?, ?)');
  const settle = prepare('UPDATE scratch.merged SET position = ? WHERE id = ?');

  const originalOf = ({ table, position }: CatalogEntity, key: string): BaseRow | undefined => {
    if (!hasBase) return undefined;
    const text = `SELECT ${position} AS position, payload FROM base.${table} WHERE _key = ?`;
    return prepare(text).get(key) as BaseRow | undefined;
  };

  /** Returns the merged rows of an entity in batches, in the order of their first lines. */
  const merged = function* (entity: CatalogEntity): Generator<Settled> {
    const page = db.prepare(mergedPageSql(entity, hasBase));
    for (let after = 0; ; ) {
      const rows = page.all(entity.name, after) as Settled[];
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  };

  /** Assigns positions to rows that differ from the base, and updates the state sum. */
  const place = (entity: CatalogEntity): void => {
    const treeEnd = lastOfTree(parts, entity);
    let next = lastOfBase(database, entity);
    for (const { id, key, payload, base, old } of merged(entity)) {
      if (payload === old) continue;
      if (old !== null) sum.remove(entity, key, old);
      sum.add(entity, key, payload);
      const isOfTree = base !== null && base <= treeEnd;
      if (isOfTree) moved.set(entity.name, (moved.get(entity.name) ?? 0) + 1);
      const position = base === null || isOfTree ? next + 1 : base;
      next = Math.max(next, position);
      settle.run(position, id);
    }
  };

  const fill = (entity: CatalogEntity): void => {
    const { name, table, position } = entity;
    if (hasBase) {
      const text = `INSERT INTO main.${table} (${position}, _key, payload)
        SELECT b.${position}, b._key, coalesce(m.payload, b.payload) FROM base.${table} b
        LEFT JOIN scratch.merged m ON m.entity = ? AND m.key = b._key AND m.position IS NOT NULL
        WHERE m.id IS NULL OR m.position = b.${position} ORDER BY b.${position}`;
      prepare(text).run(name);
    }
    const added = `SELECT position, key, payload FROM scratch.merged
      WHERE entity = ? AND position IS NOT NULL AND position IS NOT base ORDER BY position`;
    db.prepare(`${insertSql(entity).replace(/VALUES .*$/, '')}${added}`).run(name);
  };

  return {
    take({ entity, row: patch, payload: own }, arrival) {
      const key = keyFrom(patch, entity.primaryKey);
      if (key === undefined) return keyFault(entity, patch);
      const known = find.get(entity.name, key) as Merged | undefined;
      const original = known === undefined ? originalOf(entity, key) : undefined;
      const before = known?.payload ?? original?.payload;
      const row: Row = before === undefined ? patch : { ...JSON.parse(before), ...patch };
      const fault = shapeFault(entity, row, checker.check(entity.name, row));
      if (fault !== undefined) return fault;
      const payload = before === undefined ? own : JSON.stringify(row);
      const id =
        known?.id ?? Number(insert.get(entity.name, key, payload, original?.position ?? null)?.id);
      if (known !== undefined) update.run(payload, id);
      arrive.run(id, arrival);
      landed.set(entity.name, (landed.get(entity.name) ?? 0) + 1);
      taken += 1;
      return undefined;
    },
    taken: () => taken,
    finish() {
      for (const entity of catalog.entities) {
        if (!landed.has(entity.name)) {
          copyBase(database, entity);
          continue;
        }
        place(entity);
        fill(entity);
      }
      db.exec('CREATE INDEX scratch.merged_position ON merged (entity, position)');
    },
    arrivalsAt({ name }, position) {
      const text = `SELECT arrival FROM scratch.merged m JOIN scratch.arrived a ON a.merged = m.id
        WHERE m.entity = ? AND m.position = ? ORDER BY arrival`;
      return prepare(text)
        .all(name, position)
        .map(({ arrival }) => Number(arrival));
    },
    takeBack(entity, key) {
      prepare('UPDATE scratch.merged SET position = NULL WHERE entity = ? AND key = ?').run(
        entity.name,
        key,
      );
      const original = originalOf(entity, key);
      if (original !== undefined && original.position <= lastOfTree(parts, entity)) {
        moved.set(entity.name, (moved.get(entity.name) ?? 0) - 1);
      }
      return original;
    },
    landed: ({ name }) => landed.get(name) ?? 0,
    countOut({ name }, rows) {
      landed.set(name, (landed.get(name) ?? 0) - rows);
    },
    isChanged: ({ name }) => landed.has(name),
    isReplaced: () => false,
    treeRows: ({ name }) => (treeRows[name] ?? 0) - (moved.get(name) ?? 0),
  };
};
