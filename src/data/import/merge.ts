/**
 * Merges rows (mode `merge`): an imported row whose key exists replaces top-level fields of the existing row. Imported
 * rows are held in a scratch table until all are read, because several may change one row. A changed row of the tree
 * moves behind all others, so that the unchanged rows of the tree stay first. Other rows keep their positions.
 */
import type { Row } from '#language/contract.ts';
import type { RowChecker } from '#language/schema/checkers.ts';
import type { Catalog, CatalogEntity } from '#store/tables/catalog.ts';
import { keyFrom } from '#store/tables/keys.ts';
import type { ImportDatabase } from './database.ts';
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
 * Returns SQL for a page of an entity's merged rows, after the last row of the page before. The unary plus stops SQLite
 * from using the index of keys. With that index it would find and sort all rows of the entity for each page.
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

/** Creates the access to the table of merged rows, with a prepared statement for each use. */
const createMergedRows = ({ db, prepare, base }: ImportDatabase) => {
  const find = prepare('SELECT id, payload FROM scratch.merged WHERE entity = ? AND key = ?');
  const insert = prepare(
    'INSERT INTO scratch.merged (entity, key, payload, base) VALUES (?, ?, ?, ?) RETURNING id',
  );
  const update = prepare('UPDATE scratch.merged SET payload = ? WHERE id = ?');
  const arrive = prepare('INSERT INTO scratch.arrived (merged, arrival) VALUES (?, ?)');
  const settle = prepare('UPDATE scratch.merged SET position = ? WHERE id = ?');
  return {
    find: ({ name }: CatalogEntity, key: string): Merged | undefined =>
      find.get(name, key) as Merged | undefined,
    /**
     * Inserts a merged row and returns its id. `at` is the position of the base row with its key; null if there is
     * none.
     */
    insert: ({ name }: CatalogEntity, key: string, payload: string, at: number | null): number =>
      Number(insert.get(name, key, payload, at)?.id),
    update: (id: number, payload: string): void => void update.run(payload, id),
    /** Records that a line of the import changed the row. */
    arrive: (id: number, arrival: number): void => void arrive.run(id, arrival),
    settle: (id: number, position: number): void => void settle.run(position, id),
    /** Clears the position of a merged row, so that the row is not written into its table. */
    unsettle: ({ name }: CatalogEntity, key: string): void => {
      prepare('UPDATE scratch.merged SET position = NULL WHERE entity = ? AND key = ?').run(
        name,
        key,
      );
    },
    arrivalsAt({ name }: CatalogEntity, position: number): number[] {
      const text = `SELECT arrival FROM scratch.merged m JOIN scratch.arrived a ON a.merged = m.id
        WHERE m.entity = ? AND m.position = ? ORDER BY arrival`;
      return prepare(text)
        .all(name, position)
        .map(({ arrival }) => Number(arrival));
    },
    /** Returns the merged rows of an entity in batches, in the order of their first lines. */
    *all(entity: CatalogEntity): Generator<Settled> {
      const page = db.prepare(mergedPageSql(entity, base !== null));
      for (let after = 0; ; ) {
        const rows = page.all(entity.name, after) as Settled[];
        yield* rows;
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.id;
      }
    },
  };
};

/** Writes the rows of an entity into its table: those of the base, with merged payloads, then the rows that moved or are new. */
const fillTable = ({ db, prepare, base }: ImportDatabase, entity: CatalogEntity): void => {
  const { name, table, position } = entity;
  if (base !== null) {
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

/** Adds `count` to the count of a name; a name without a count starts at 0. */
const addTo = (counts: Map<string, number>, name: string, count: number): void => {
  counts.set(name, (counts.get(name) ?? 0) + count);
};

export const createMerge = (parts: MergeParts): Landing => {
  const { catalog, checker, database, sum, treeRows } = parts;
  const { db, prepare, base: baseName } = database;
  const rows = createMergedRows(database);
  const landed = new Map<string, number>();
  const moved = new Map<string, number>();
  let taken = 0;

  const originalOf = ({ table, position }: CatalogEntity, key: string): BaseRow | undefined => {
    if (baseName === null) return undefined;
    const text = `SELECT ${position} AS position, payload FROM base.${table} WHERE _key = ?`;
    return prepare(text).get(key) as BaseRow | undefined;
  };

  /** Assigns positions to rows that differ from the base, and updates the state sum. */
  const place = (entity: CatalogEntity): void => {
    const treeEnd = lastOfTree(parts, entity);
    let next = lastOfBase(database, entity);
    for (const { id, key, payload, base, old } of rows.all(entity)) {
      if (payload === old) continue;
      if (old !== null) sum.remove(entity, key, old);
      sum.add(entity, key, payload);
      const isOfTree = base !== null && base <= treeEnd;
      if (isOfTree) addTo(moved, entity.name, 1);
      const position = base === null || isOfTree ? next + 1 : base;
      next = Math.max(next, position);
      rows.settle(id, position);
    }
  };

  return {
    take({ entity, row: patch, payload: own }, arrival) {
      const key = keyFrom(patch, entity.primaryKey);
      if (key === undefined) return keyFault(entity, patch);
      const known = rows.find(entity, key);
      const original = known === undefined ? originalOf(entity, key) : undefined;
      const before = known?.payload ?? original?.payload;
      const row: Row = before === undefined ? patch : { ...JSON.parse(before), ...patch };
      const fault = shapeFault(entity, row, checker.check(entity.name, row));
      if (fault !== undefined) return fault;
      const payload = before === undefined ? own : JSON.stringify(row);
      const id = known?.id ?? rows.insert(entity, key, payload, original?.position ?? null);
      if (known !== undefined) rows.update(id, payload);
      rows.arrive(id, arrival);
      addTo(landed, entity.name, 1);
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
        fillTable(database, entity);
      }
      db.exec('CREATE INDEX scratch.merged_position ON merged (entity, position)');
    },
    arrivalsAt: rows.arrivalsAt,
    takeBack(entity, key) {
      rows.unsettle(entity, key);
      const original = originalOf(entity, key);
      if (original !== undefined && original.position <= lastOfTree(parts, entity)) {
        addTo(moved, entity.name, -1);
      }
      return original;
    },
    landed: ({ name }) => landed.get(name) ?? 0,
    countOut: ({ name }, count) => addTo(landed, name, -count),
    isChanged: ({ name }) => landed.has(name),
    isReplaced: () => false,
    treeRows: ({ name }) => (treeRows[name] ?? 0) - (moved.get(name) ?? 0),
  };
};
