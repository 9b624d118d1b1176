/**
 * Carries the rows of a version into a new version with another tree. Rows of the new tree come first, then the rows of
 * the base that did not come from the base's own tree. Rows are copied from file to file, so memory does not depend on
 * their number. If an entity is unchanged in the new contract, SQLite copies its rows; other rows are checked one by
 * one. The first row that the new contract refuses ends the carry.
 */
import { rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '#domain/error.ts';
import type { Contract, Row } from '#language/contract.ts';
import { createRowChecker, type RowChecker } from '#language/schema/checkers.ts';
import { makeFolders } from '#runtime/folders.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { type Catalog, type CatalogEntity, createCatalog } from '#store/tables/catalog.ts';
import { keyFrom, keyOf } from '#store/tables/keys.ts';
import { writeSummary } from '#store/tables/open.ts';
import { createStatements } from '#store/tables/statements.ts';
import { isFull } from '#store/write/collisions.ts';
import { createKeptNumbers } from '#store/write/kept-numbers.ts';
import { type HeldLanding, holdConstraints } from './constraints.ts';
import { type ImportDatabase, openImportDatabase } from './database.ts';
import { insertSql } from './landing.ts';
import { importLimits } from './limits.ts';
import type { ImportedSnapshot } from './plan.ts';
import { findFault, type Removal } from './removal.ts';
import { packSnapshotFile } from './snapshot-file.ts';
import { createStateSum, type StateSum } from './state-sum.ts';

/** Part of a contract that decides how rows are stored. */
type RowContract = Pick<Contract, 'entities' | 'definitions'>;

export type CarryPlan = {
  /** Contract of the new version. */
  contract: RowContract;
  /** Rows of the new tree by entity, already valid by its contract. */
  treeRows: Readonly<Record<string, readonly Row[]>>;
  /** Entities for which the rows of the new tree are left out. */
  replaced: readonly string[];
  base: {
    contract: RowContract;
    /** Snapshot of the base as an unpacked SQLite file, which is only read. */
    file: string;
    /** Number of rows by entity that came from the base's tree. They are the first rows of each entity. */
    treeRows: Readonly<Record<string, number>>;
  };
  /** Folder that only this carry uses; its contents are removed first. */
  folder: string;
};

/** A row that the new version does not allow. */
export type CarryRefusal = {
  entity: string;
  /** Fault of the row, and the place of the fault in the row. */
  detail: string;
  pointer: string;
  /** Primary-key fields of the row with their values; empty if the new contract lacks the entity. */
  key: Row;
  /** Index of the row in the new tree's list of the entity; null for a kept row of the base. */
  treeIndex: number | null;
};

export type CarryOutcome =
  | {
      kind: 'carried';
      snapshot: ImportedSnapshot;
      entityCounts: Record<string, number>;
      /** Number of rows by entity that come from the new tree. They are the first rows of each entity. */
      treeRows: Record<string, number>;
      /** Number of base rows that were kept, and of tree rows that were left out because a kept row has their key. */
      keptRows: number;
      leftOutRows: number;
    }
  | { kind: 'refused'; row: CarryRefusal };

type Stored = { position: number; key: string; payload: string };

/** Rows of one entity in the new version: first those of the new tree, then the kept rows of the base. */
type Share = {
  entity: CatalogEntity;
  before: CatalogEntity | undefined;
  /** True if the entity is the same in both contracts, so that rows stay valid under the same keys. */
  isSame: boolean;
  /** Position of the base's last row that came from its tree; rows after it are kept. */
  cutoff: number;
  /** Rows of the new tree, each with its index in the tree's list. */
  ofTree: { row: Row; at: number }[];
  keptRows: number;
};

/** Thrown for the row that ends the carry. */
class Refused extends Error {
  readonly row: CarryRefusal;
  constructor(row: CarryRefusal) {
    super(row.detail);
    this.row = row;
  }
}

const columnsOf = ({ position }: CatalogEntity): string =>
  `${position} AS position, _key AS key, payload`;

const keptOf = (
  { db }: ImportDatabase,
  { before, cutoff }: Pick<Share, 'before' | 'cutoff'>,
): Iterable<Stored> => {
  if (before === undefined) return [];
  const { table, position } = before;
  const text = `SELECT ${columnsOf(before)} FROM base.${table} WHERE ${position} > ? ORDER BY ${position}`;
  return db.prepare(text).iterate(cutoff) as Iterable<unknown> as Iterable<Stored>;
};

/** Removes the base's tree rows from the state sum; returns the position of the last of them. */
const leaveTreeOut = (
  { db }: ImportDatabase,
  before: CatalogEntity,
  rows: number,
  sum: StateSum,
): number => {
  const text = `SELECT ${columnsOf(before)} FROM base.${before.table} ORDER BY ${before.position} LIMIT ?`;
  let cutoff = 0;
  for (const found of db.prepare(text).iterate(rows) as Iterable<unknown> as Iterable<Stored>) {
    cutoff = found.position;
    sum.remove(before, found.key, found.payload);
  }
  return cutoff;
};

const hasKept = (
  { prepare }: ImportDatabase,
  { table, position }: CatalogEntity,
  cutoff: number,
): boolean =>
  prepare(`SELECT 1 FROM base.${table} WHERE ${position} > ? LIMIT 1`).get(cutoff) !== undefined;

/** Returns the tree's rows except those whose key a kept row has: imported rows stay as they were. */
const givingWay = (
  database: ImportDatabase,
  { entity, before, cutoff }: Pick<Share, 'entity' | 'before' | 'cutoff'>,
  rows: Share['ofTree'],
): Share['ofTree'] => {
  if (before === undefined || rows.length === 0) return rows;
  const keys = new Map(rows.map(({ row, at }) => [keyOf(entity, row), at]));
  const taken = new Set<number>();
  if (isDeepStrictEqual(entity.primaryKey, before.primaryKey)) {
    const text = `SELECT 1 FROM base.${before.table} WHERE _key = ? AND ${before.position} > ?`;
    const find = database.db.prepare(text);
    for (const [key, at] of keys) if (find.get(key, cutoff) !== undefined) taken.add(at);
  } else {
    for (const { payload } of keptOf(database, { before, cutoff })) {
      const at = keys.get(keyFrom(JSON.parse(payload), entity.primaryKey) ?? '');
      if (at !== undefined) taken.add(at);
    }
  }
  return rows.filter(({ at }) => !taken.has(at));
};

type Carry = {
  plan: CarryPlan;
  database: ImportDatabase;
  catalog: Catalog;
  checker: RowChecker;
  sum: StateSum;
};

/** Handles an entity that the new contract lacks: throws `Refused` if it has kept rows, and drops those of the tree. */
const leaveEntityOut = ({ plan, database, catalog, sum }: Carry, before: CatalogEntity): void => {
  const cutoff = leaveTreeOut(database, before, plan.base.treeRows[before.name] ?? 0, sum);
  if (!hasKept(database, before, cutoff)) return;
  const known = catalog.entities.map(({ name }) => name).join(', ');
  const detail = `the world has no entity "${before.name}"; it has ${known}`;
  throw new Refused({ entity: before.name, detail, pointer: '', key: {}, treeIndex: null });
};

const shareOf = (
  { plan, database, sum }: Carry,
  entity: CatalogEntity,
  before: CatalogEntity | undefined,
): Share => {
  const { contract, base, replaced, treeRows } = plan;
  const declared = ({ entities }: RowContract) => entities.find(({ name }) => name === entity.name);
  const isSame =
    isDeepStrictEqual(declared(contract), declared(base.contract)) &&
    isDeepStrictEqual(contract.definitions, base.contract.definitions);
  const cutoff =
    before === undefined ? 0 : leaveTreeOut(database, before, base.treeRows[before.name] ?? 0, sum);
  const all = (treeRows[entity.name] ?? []).map((row, at) => ({ row, at }));
  const ofTree = replaced.includes(entity.name)
    ? []
    : givingWay(database, { entity, before, cutoff }, all);
  return { entity, before, isSame, cutoff, ofTree, keptRows: 0 };
};

const refusalIn = (
  entity: CatalogEntity,
  row: Row,
  treeIndex: number | null,
  { detail, pointer }: { detail: string; pointer?: string | null | undefined },
): Refused => {
  const key = Object.fromEntries(entity.primaryKey.map((field) => [field, row[field]]));
  return new Refused({ entity: entity.name, detail, pointer: pointer ?? '', key, treeIndex });
};

/** Checks a row and returns its key; throws `Refused`. */
const fittingKey = (
  { checker }: Carry,
  { entity }: Share,
  row: Row,
  treeIndex: number | null,
): string => {
  const [first, ...others] = checker.check(entity.name, row);
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    const fault = { pointer: first.pointer, detail: `${first.detail}${more}` };
    throw refusalIn(entity, row, treeIndex, fault);
  }
  try {
    return keyOf(entity, row);
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    throw refusalIn(entity, row, treeIndex, error);
  }
};

const copyKept = ({ database }: Carry, { entity, before, cutoff, ofTree }: Share): number => {
  if (before === undefined) return 0;
  const text = `INSERT INTO main.${entity.table} (${entity.position}, _key, payload)
    SELECT ${before.position} + ?, _key, payload FROM base.${before.table}
    WHERE ${before.position} > ? ORDER BY ${before.position}`;
  return Number(database.db.prepare(text).run(ofTree.length - cutoff, cutoff).changes);
};

const checkKept = (carry: Carry, share: Share): number => {
  const { database, sum } = carry;
  const { entity, before, ofTree } = share;
  const insert = database.db.prepare(insertSql(entity));
  let rows = 0;
  for (const { key: oldKey, payload } of keptOf(database, share)) {
    const row = JSON.parse(payload) as Row;
    const key = fittingKey(carry, share, row, null);
    rows += 1;
    insert.run(ofTree.length + rows, key, payload);
    if (key === oldKey) continue;
    sum.remove(before ?? entity, oldKey, payload);
    sum.add(entity, key, payload);
  }
  return rows;
};

const fill = (carry: Carry, share: Share): Share => {
  const { database, sum } = carry;
  const { entity, ofTree } = share;
  const insert = database.db.prepare(insertSql(entity));
  for (const [index, { row, at }] of ofTree.entries()) {
    const key = fittingKey(carry, share, row, at);
    const payload = JSON.stringify(row);
    insert.run(index + 1, key, payload);
    sum.add(entity, key, payload);
  }
  const keptRows = share.isSame ? copyKept(carry, share) : checkKept(carry, share);
  return { ...share, keptRows };
};

/**
 * Creates a `Removal` that refuses a row instead of removing it. The position of a kept row differs from its position
 * in the base, because rows of the tree come first.
 */
const refusing = ({ database }: Carry, shares: readonly Share[]): Removal => ({
  remove(entity, position, faultIn) {
    const found = findFault(database, entity, position, faultIn);
    if (found === undefined) throw new Error(`${entity.name} has no row at ${position}`);
    const share = shares.find((each) => each.entity === entity);
    throw refusalIn(entity, found.row, share?.ofTree[position - 1]?.at ?? null, found.late);
  },
  settle: () => undefined,
});

/** Landing in which every row is new to its table. Of rows with the same key or unique values, the first one stays. */
const landing: HeldLanding = {
  arrivalsAt: () => [],
  isChanged: () => true,
  isReplaced: () => true,
};

const carryInto = async (carry: Carry): Promise<CarryOutcome> => {
  const { plan, database, catalog, sum } = carry;
  const before = createCatalog(plan.base.contract);
  const isThere = (name: string) => catalog.entities.some((entity) => entity.name === name);
  for (const entity of before.entities) if (!isThere(entity.name)) leaveEntityOut(carry, entity);
  const shares = catalog.entities.map((entity) => {
    const found = before.entities.find(({ name }) => name === entity.name);
    return fill(carry, shareOf(carry, entity, found));
  });
  const removal = refusing(carry, shares);
  holdConstraints({ contract: plan.contract, catalog, database, landing, removal });
  createKeptNumbers(database.db, createStatements(database.db));
  const entries = (of: (share: Share) => number): Record<string, number> =>
    Object.fromEntries(shares.map((share) => [share.entity.name, of(share)]));
  const treeRows = entries(({ ofTree }) => ofTree.length);
  const entityCounts = entries(({ ofTree, keptRows }) => ofTree.length + keptRows);
  writeSummary(database.db, { sum: sum.value(), counts: entityCounts });
  database.db.exec('COMMIT');
  database.close();
  const totalOf = (counts: Iterable<number>) => [...counts].reduce((all, count) => all + count, 0);
  const given = totalOf(Object.values(plan.treeRows).map((rows) => rows.length));
  return {
    kind: 'carried',
    snapshot: await packSnapshotFile(database.file, plan.folder, sum.value()),
    entityCounts,
    treeRows,
    keptRows: totalOf(shares.map(({ keptRows }) => keptRows)),
    leftOutRows: given - totalOf(Object.values(treeRows)),
  };
};

/**
 * Carries the rows. Throws `invalid` if they take more than `mostBytes` bytes, or more than a world's database may
 * have.
 */
export const carryRows = async (
  plan: CarryPlan,
  mostBytes: number = importLimits.storeBytes,
): Promise<CarryOutcome> => {
  const { contract, base, folder } = plan;
  await rm(folder, { recursive: true, force: true });
  await makeFolders(folder, { mode: 0o700 });
  const storeBytes = Math.min(importLimits.storeBytes, mostBytes);
  const database = openImportDatabase({
    contract,
    base: base.file,
    isGrown: false,
    folder,
    storeBytes,
  });
  const [catalog, checker] = [createCatalog(contract), createRowChecker(contract)];
  try {
    return await carryInto({ plan, database, catalog, checker, sum: createStateSum(database) });
  } catch (error) {
    if (error instanceof Refused) return { kind: 'refused', row: error.row };
    if (!isFull(error) || !database.hasLessThan(importLimits.lineBytes)) throw error;
    const mebibytes = Math.floor(storeBytes / 2 ** 20);
    const message = `the rows of the new tree and the kept rows together take more than ${mebibytes} MiB`;
    throw new AppError('invalid', message, { cause: error });
  } finally {
    database.close();
  }
};
