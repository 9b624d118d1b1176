/**
 * Assigns positions of new rows in the order of insertion. SQLite alone would reuse the position of a deleted last row,
 * and a client that pages by position would mistake the new row for a row that it has seen.
 */
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import type { Statements } from '../tables/statements.ts';

/** Last position assigned, by entity. */
export type GivenPositions = ReadonlyMap<string, number>;

export type Positions = {
  /** Returns a position after all positions that rows of the entity ever had. */
  next(entity: CatalogEntity): number;
  save(): GivenPositions;
  /** Restores saved positions: rows inserted afterwards get the same positions as after the save. */
  restore(saved: GivenPositions): void;
};

const largest = (prepare: Statements, { table, position }: CatalogEntity): number =>
  Number(prepare(`SELECT coalesce(max(${position}), 0) AS n FROM ${table}`).get()?.n);

/** Creates the positions, which continue after those of the present rows. */
export const createPositions = ({ entities }: Catalog, prepare: Statements): Positions => {
  let given = new Map(entities.map((entity) => [entity.name, largest(prepare, entity)]));
  return {
    next(entity) {
      const position = (given.get(entity.name) ?? 0) + 1;
      given.set(entity.name, position);
      return position;
    },
    save: () => new Map(given),
    restore(saved) {
      given = new Map(saved);
    },
  };
};
