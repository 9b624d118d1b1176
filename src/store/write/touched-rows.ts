/**
 * Tracks, for a store on a base file, which rows of the file were written. This limits a session's memory: for each
 * written row SQLite copies, in the worst case, one page of its table and one page of each of its indexes. The state
 * can differ from the file's only at the positions of these rows, so that digests and copies cost only what was
 * changed.
 *
 * A row that was changed back still counts until the store is back at its base, because its copied pages still take
 * memory.
 */
import type { CatalogEntity } from '../tables/catalog.ts';
import type { GivenPositions } from './positions.ts';

export type TouchedRows = {
  /**
   * Records a change of a row; must be called after each change. `isMoved` returns true if the row's place in an index
   * changed.
   */
  record(entity: CatalogEntity, position: number, isMoved: () => boolean): void;
  /** Returns true if the position is that of a row of the base file. */
  isOfBase(entity: CatalogEntity, position: number): boolean;
  /**
   * Returns the positions of base rows that may differ from the file's, including rows that were written before the
   * store was rolled back.
   */
  of(entity: string): ReadonlySet<number>;
  /** Returns the last position of a base row. */
  last(entity: string): number;
  /** Returns an upper bound of the number of pages that SQLite has copied. */
  pages(): number;
  /** Records that the store was rolled back to its base. */
  forget(): void;
  /** Records that a scan found all rolled-back rows equal to the file's. */
  settle(): void;
};

/**
 * Returns the number of trees (tables and indexes) that a row is in: its table, the two indexes of its key, and those
 * of its unique lists and references.
 */
export const treesOf = ({ unique, references }: CatalogEntity): number =>
  3 + unique.length + references.length;

const nothing: ReadonlySet<number> = new Set();

/**
 * Creates the tracker for a file of `basePages` pages; `lasts` has the last position of each entity's rows in the file.
 */
export const createTouchedRows = (basePages: number, lasts: GivenPositions): TouchedRows => {
  const touched = new Map<string, Set<number>>([...lasts].map(([name]) => [name, new Set()]));
  const earlier = new Map<string, Set<number>>([...lasts].map(([name]) => [name, new Set()]));
  let pages = 0;

  const last: TouchedRows['last'] = (name) => lasts.get(name) ?? 0;

  return {
    record(entity, position, isMoved) {
      const known = touched.get(entity.name) as Set<number>;
      const isOfBase = position <= last(entity.name);
      if ((isOfBase && !known.has(position)) || isMoved()) pages += treesOf(entity);
      if (isOfBase) known.add(position);
    },
    isOfBase: ({ name }, position) => position <= last(name),
    of: (name) => new Set([...(touched.get(name) ?? nothing), ...(earlier.get(name) ?? nothing)]),
    last,
    pages: () => Math.min(pages, basePages),
    forget() {
      for (const [name, positions] of touched) {
        for (const position of positions) earlier.get(name)?.add(position);
        positions.clear();
      }
      pages = 0;
    },
    settle() {
      for (const positions of earlier.values()) positions.clear();
    },
  };
};

/** Tracker of a store in memory, which has no base file. */
export const noTouchedRows: TouchedRows = {
  record: () => undefined,
  isOfBase: () => false,
  of: () => nothing,
  last: () => 0,
  pages: () => 0,
  forget: () => undefined,
  settle: () => undefined,
};
