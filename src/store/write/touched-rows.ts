/**
 * What was written since the base, of a store upon a file of base rows. It bounds the memory that a session
 * takes: for each row that is written SQLite copies a page of its table and one of each of its indexes, in the
 * worst case. And the positions tell where the state can differ from the file's, so that it is proved, and
 * copied, at the cost of what was changed.
 *
 * What is as it was again counts on, as its pages do, until the store is back at its base.
 */
import type { CatalogEntity } from '../tables/catalog.ts';
import type { GivenPositions } from './positions.ts';

export type TouchedRows = {
  /** To be called after each change of a row. `isMoved`: it stands elsewhere in its indexes. */
  record(entity: CatalogEntity, position: number, isMoved: () => boolean): void;
  /** Whether a row is of the base. */
  isOfBase(entity: CatalogEntity, position: number): boolean;
  /** Positions of base rows that may not be as in the file; also of those before the store was taken back. */
  of(entity: string): ReadonlySet<number>;
  /** The last position of a base row. */
  last(entity: string): number;
  /** Pages that have been copied, at most. */
  pages(): number;
  /** The store is back at its base. */
  forget(): void;
  /** All that is as in the file has been found to be. */
  settle(): void;
};

/** The trees that a row is in: its table, the two indexes of its key, those of its lists and references. */
export const treesOf = ({ unique, references }: CatalogEntity): number =>
  3 + unique.length + references.length;

const nothing: ReadonlySet<number> = new Set();

/** Over a file of so many pages, whose rows end at the positions given. */
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

/** Of a store in memory, of which all is its own. */
export const noTouchedRows: TouchedRows = {
  record: () => undefined,
  isOfBase: () => false,
  of: () => nothing,
  last: () => 0,
  pages: () => 0,
  forget: () => undefined,
  settle: () => undefined,
};
