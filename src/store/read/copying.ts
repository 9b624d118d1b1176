/**
 * Reads rows for callers that keep a copy of an entity: all rows of the entity with their positions, and single rows by
 * position to update the copy. The size is available before any row is read.
 */
import type { Catalog } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';

/** A row as its payload text. */
export type PositionedRow = { position: number; payload: string };

export type CopyReader = {
  /** Returns the size of all rows of the entity in bytes; undefined if there are more than `mostRows` rows. */
  sizeOf(entity: string, mostRows: number): number | undefined;
  /** Returns all rows of the entity, in the order of insertion. */
  rowsOf(entity: string): PositionedRow[];
  /** Returns the row at a position; undefined if no row is there any more. */
  rowAt(entity: string, position: number): string | undefined;
};

export const createCopyReader = (catalog: Catalog, prepare: Statements): CopyReader => ({
  sizeOf(name, mostRows) {
    const { table } = catalog.entity(name);
    const lengths = `SELECT octet_length(payload) AS n FROM ${table} LIMIT ?`;
    const found = prepare(`SELECT count(*) AS count, sum(n) AS bytes FROM (${lengths})`).get(
      mostRows + 1,
    );
    return Number(found?.count) > mostRows ? undefined : Number(found?.bytes ?? 0);
  },
  rowsOf(name) {
    const { table, position } = catalog.entity(name);
    const text = `SELECT ${position} AS position, payload FROM ${table} ORDER BY ${position}`;
    return prepare(text).all() as PositionedRow[];
  },
  rowAt(name, at) {
    const { table, position } = catalog.entity(name);
    const text = `SELECT payload FROM ${table} WHERE ${position} = ?`;
    return prepare(text).get(at)?.payload as string | undefined;
  },
});
