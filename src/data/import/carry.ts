/**
 * Rows of a version carried into the version that is made of another tree: those that did not come from its tree stay,
 * and rows of the new tree come first. It goes from file to file, so memory does not depend on how many rows there are. Rows
 * of an entity that the new contract has as it was are copied by SQLite; others are held to the new contract one by one.
 * The first row that it does not allow ends it.
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

/** What rows are held to: of a contract, what says how they are kept. */
type RowContract = Pick<Contract, 'entities' | 'definitions'>;

export type CarryPlan = {
  /** Of the version to come. */
  contract: RowContract;
  /** Rows of its tree, by entity, which fit it. */
  treeRows: Readonly<Record<string, readonly Row[]>>;
  /** Entities of which the rows of the tree are left out. */
  replaced: readonly string[];
  base: {
    contract: RowContract;
    /** Its snapshot as an unpacked SQLite file, which is only read. */
    file: string;
    /** How many rows of each entity, the first ones, came from its tree. */
    treeRows: Readonly<Record<string, number>>;
  };
  /** A folder of its own; what lies there is removed first. */
  folder: string;
};

/** A row that the version to come does not allow. */
export type CarryRefusal = {
  entity: string;
  /** What is wrong with it, and where in the row. */
  detail: string;
  pointer: string;
  /** The fields of its primary key as it has them; none where its entity is no more. */
  key: Row;
  /** Its place in the tree's list of the entity; null for a row that is kept. */
  treeIndex: number | null;
};

export type CarryOutcome =
  | {
      kind: 'carried';
      snapshot: ImportedSnapshot;
      entityCounts: Record<string, number>;
      /** How many rows of the tree each entity begins with. */
      treeRows: Record<string, number>;
      /** Rows of the base that were carried, and rows of the tree that gave way to them. */
      keptRows: number;
      leftOutRows: number;
    }
  | { kind: 'refused'; row: CarryRefusal };

type Stored = { position: number; key: string; payload: string };

/** The rows of an entity: where those of the base that are kept begin, and the tree's that come before them. */
type Share = {
  entity: CatalogEntity;
  before: CatalogEntity | undefined;
  /** Whether rows that fitted fit, under the same keys. */
  isSame: boolean;
  /** The position of the base's last row that came from its tree; those behind it are kept. */
  cutoff: number;
  /** Rows of the tree with their places in its list. */
  ofTree: { row: Row; at: number }[];
  keptRows: number;
};

/** Thrown for the row that ends it. */
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

/** Takes the base's rows of its tree out of the sum; answers the position of the last of them. */
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

/** Rows of the tree but those that have the key of a kept one: what was imported stays as it was. */
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

/** Refuses rows of an entity that the new contract has not; lets go of those of the tree. */
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

/** The key of a row that fits; throws `Refused`. */
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

/** What stands in its table may have been moved there from another place: rows of the tree come first. */
const refusing = ({ database }: Carry, shares: readonly Share[]): Removal => ({
  remove(entity, position, faultIn) {
    const found = findFault(database, entity, position, faultIn);
    if (found === undefined) throw new Error(`${entity.name} has no row at ${position}`);
    const share = shares.find((each) => each.entity === entity);
    throw refusalIn(entity, found.row, share?.ofTree[position - 1]?.at ?? null, found.late);
  },
  settle: () => undefined,
});

/** All rows are new to their tables, and of two that repeat one another the first stays. */
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

/** Carries rows. Throws `invalid` where they take more bytes than a world's database, or than this one may have. */
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
    const message = `the world's rows take more than ${mebibytes} MiB with those that are kept`;
    throw new AppError('invalid', message, { cause: error });
  } finally {
    database.close();
  }
};
