/**
 * Counts the rows of each entity; every transaction updates the counts. SQLite counts by reading each row; for a large
 * world that would take most of the time of rolling back to a mark.
 */
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';
import type { TouchedRow } from './write-set.ts';

/** Number of rows by entity. */
export type CountedRows = ReadonlyMap<string, number>;

export type RowCounts = {
  /** Applies the changes of a transaction. */
  apply(changed: readonly TouchedRow[]): void;
  save(): CountedRows;
  restore(saved: CountedRows): void;
  /** Returns the counts as of the end of the last transaction, in the contract's order. */
  all(): Record<string, number>;
  /** Returns the number of rows of one entity. */
  of(entity: string): number;
};

const countRows = (prepare: Statements, { table }: CatalogEntity): number =>
  Number(prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);

/** Creates the counts of the present rows; it counts only entities whose number of rows is not known. */
export const createRowCounts = (
  { entities }: Catalog,
  prepare: Statements,
  known: CountedRows | undefined,
): RowCounts => {
  const countOf = (entity: CatalogEntity) => known?.get(entity.name) ?? countRows(prepare, entity);
  let counts = new Map(entities.map((entity) => [entity.name, countOf(entity)]));
  return {
    apply(changed) {
      for (const { entity, before, after } of changed) {
        const more = Number(after !== undefined) - Number(before !== undefined);
        counts.set(entity.name, (counts.get(entity.name) ?? 0) + more);
      }
    },
    save: () => new Map(counts),
    restore(saved) {
      counts = new Map(saved);
    },
    all: () => Object.fromEntries(counts),
    of: (entity) => counts.get(entity) ?? 0,
  };
};
