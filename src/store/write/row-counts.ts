/**
 * How many rows each entity has, kept up with every transaction: SQLite counts by looking at each row,
 * which for a large world would be most of the time that going back to a mark takes.
 */
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';
import type { TouchedRow } from './write-set.ts';

/** Rows by entity. */
export type CountedRows = ReadonlyMap<string, number>;

export type RowCounts = {
  /** Follows what a transaction did. */
  apply(changed: readonly TouchedRow[]): void;
  save(): CountedRows;
  restore(saved: CountedRows): void;
  /** As of the end of the last transaction, in the contract's order. */
  all(): Record<string, number>;
  /** Of one entity. */
  of(entity: string): number;
};

const countRows = (prepare: Statements, { table }: CatalogEntity): number =>
  Number(prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);

/** Begins with the rows that are there now, of which only those that are not known are looked at. */
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
