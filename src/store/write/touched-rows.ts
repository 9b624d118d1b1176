/**
 * Tracks the rows written since the base, for a store on a file of base rows. This limits a session's memory: for each
 * written row SQLite copies, in the worst case, a page of its table and one of each of its indexes. The positions also
 * show where the state can differ from the file's, so that digests and copies cost only what was changed.
 *
 * A row that was changed back still counts, as its copied pages do, until the store is back at its base.
 */
import type { CatalogEntity } from '../tables/catalog.ts';
import type { GivenPositions } from './positions.ts';

export type TouchedRows = {
  /** Records a change of a row; must be called after each. `isMoved` returns true if its place in an index changed. */
  record(entity: CatalogEntity, position: number, isMoved: () => boolean): void;
  /** Returns true if a row is one of the base. */
  isOfBase(entity: CatalogEntity, position: number): boolean;
  /**
   * Returns the positions of base rows that may differ from the file's, including rows that were written before the
   * store was rolled back.
   */
  of(entity: string): ReadonlySet<number>;
  /** Returns the last position of a base row. */
  last(entity: string): number;
  /** Returns an upper bound of the pages that have been copied. */
  pages(): number;
  /** Records that the store is back at its base. */
  forget(): void;
  /** Records that a scan found all rolled-back rows equal to the file's. */
  settle(): void;
};

/**
 * Returns the number of trees that a row is in: its table, the two indexes of its key, those of its lists and
 * references.
 */
export const treesOf = ({ unique, references }: CatalogEntity): number =>
  3 + unique.length + references.length;

const nothing: ReadonlySet<number> = new Set();

/** Creates the tracker over a file of so many pages, whose rows end at the given positions. */
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
