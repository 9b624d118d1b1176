/**
 * Landing: puts the rows of an import into their tables, after the rows of the base. Each import mode has its own. For
 * later steps, it returns the lines of the import that made the row at a position.
 */
import type { CatalogEntity } from '#store/tables/catalog.ts';
import type { ImportDatabase } from './database.ts';
import type { RowFault } from './faults.ts';
import type { ReadRow } from './rows.ts';
import type { StateSum } from './state-sum.ts';

export type BaseRow = { position: number; payload: string };

export type Landing = {
  /** Inserts a row that was read; returns a fault when the contract refuses it. */
  take(read: ReadRow, arrival: number): RowFault | undefined;
  /** Returns the number of rows that were accepted. */
  taken(): number;
  /**
   * Fills the tables that are not filled yet, including those of entities without imported rows. Must be called once,
   * after the last row.
   */
  finish(): void;
  /** Returns the numbers of the lines that made the row at a position, in order; empty for a row of the base. */
  arrivalsAt(entity: CatalogEntity, position: number): number[];
  /**
   * Returns the base row that is restored when the imported row with its key is removed; undefined if there is none.
   */
  takeBack(entity: CatalogEntity, key: string): BaseRow | undefined;
  /** Returns the number of rows of the import in the entity's table. */
  landed(entity: CatalogEntity): number;
  /** Subtracts removed rows from the number that `landed` returns. */
  countOut(entity: CatalogEntity, rows: number): void;
  /** Returns true if any row of the table differs from the base. */
  isChanged(entity: CatalogEntity): boolean;
  /** Returns true if the table lacks rows of the base. */
  isReplaced(entity: CatalogEntity): boolean;
  /** Returns the number of rows from the tree, which are the first rows of the table. */
  treeRows(entity: CatalogEntity): number;
};

export type LandingParts = {
  database: ImportDatabase;
  sum: StateSum;
  treeRows: Readonly<Record<string, number>>;
};

/** Copies all rows of a table of the base snapshot into the new file. Does nothing if they were copied before. */
export const copyBase = (
  { prepare, base }: ImportDatabase,
  { table, position }: CatalogEntity,
): void => {
  if (base !== 'base') return;
  const columns = `${position}, _key, payload`;
  const text = `INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM base.${table} ORDER BY ${position}`;
  prepare(text).run();
};

/** Returns the last position of the base's table, 0 when it has none. */
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
