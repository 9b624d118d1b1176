/**
 * How rows get into their tables, whatever the mode: rows of the base first, then those of the import. What
 * becomes of a row later, and which lines it is from, is asked here by its position.
 */
import type { CatalogEntity } from '#store/tables/catalog.ts';
import type { ImportDatabase } from './database.ts';
import type { RowFault } from './faults.ts';
import type { ReadRow } from './rows.ts';
import type { StateSum } from './state-sum.ts';

export type BaseRow = { position: number; payload: string };

export type Landing = {
  /** Takes a row that was read; a fault when the contract does not. */
  take(read: ReadRow, arrival: number): RowFault | undefined;
  /** Rows that were taken. */
  taken(): number;
  /** Fills what has not been filled yet, the tables of other entities too. To be called once, after the last row. */
  finish(): void;
  /** The lines that made the row at a position what it is, in order; none for a row of the base. */
  arrivalsAt(entity: CatalogEntity, position: number): number[];
  /** The row of the base that comes back when the one that has its key is taken out. */
  takeBack(entity: CatalogEntity, key: string): BaseRow | undefined;
  /** Rows of the import that are in the entity's table. */
  landed(entity: CatalogEntity): number;
  /** That some of them were taken out again. */
  countOut(entity: CatalogEntity, rows: number): void;
  /** Whether any row of the table is not as it is in the base. */
  isChanged(entity: CatalogEntity): boolean;
  /** Whether rows of the base are not in the table. */
  isReplaced(entity: CatalogEntity): boolean;
  /** How many rows of the tree the table begins with. */
  treeRows(entity: CatalogEntity): number;
};

export type LandingParts = {
  database: ImportDatabase;
  sum: StateSum;
  treeRows: Readonly<Record<string, number>>;
};

/** Copies all rows of the base's table, unless they are there. */
export const copyBase = (
  { prepare, base }: ImportDatabase,
  { table, position }: CatalogEntity,
): void => {
  if (base !== 'base') return;
  const columns = `${position}, _key, payload`;
  const text = `INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM base.${table} ORDER BY ${position}`;
  prepare(text).run();
};

/** The last position of the base's table, 0 when it has none. */
export const lastOfBase = (
  { prepare, base }: ImportDatabase,
  { table, position }: CatalogEntity,
): number => {
  if (base === null) return 0;
  const text = `SELECT coalesce(max(${position}), 0) AS n FROM ${base}.${table}`;
  return Number(prepare(text).get()?.n);
};

export const insertSql = ({ table, position }: CatalogEntity): string =>
  `INSERT INTO main.${table} (${position}, _key, payload) VALUES (?, ?, ?)`;
