/**
 * Tracks the free space of a world's database, which is checked before each write. If a write finds the database full,
 * SQLite rolls back everything since the outermost savepoint, including marks. So SQLite's own limit is higher than the
 * limit here, and no write reaches it.
 */
import { maxStoreBytes, pageBytes } from '../tables/open.ts';
import type { Statements } from '../tables/statements.ts';
import type { TouchedRows } from './touched-rows.ts';

export type FreeSpace = {
  /**
   * Reserves space for a record of `bytes` bytes in `trees` trees (tables or indexes); returns false if there is too
   * little space.
   */
  take(bytes: number, trees: number): boolean;
  /** Measures the free space again, because a rollback may have restored rows. */
  measure(): void;
};

/** Maximum number of pages that a tree may need in addition to the record itself, if its pages are split. */
const pagesOfSplits = 8;

/** Returns an upper bound of the number of pages that a record takes. */
const pagesOf = (bytes: number, trees: number): number =>
  trees * (Math.ceil((1.1 * bytes) / pageBytes) + pagesOfSplits);

/**
 * Creates the tracker. The limit excludes the pages of a base file, but includes the pages that the store has copied
 * from the file.
 */
export const createFreeSpace = (
  prepare: Statements,
  touched: Pick<TouchedRows, 'pages'>,
  {
    maxBytes = maxStoreBytes,
    basePages = 0,
  }: { maxBytes?: number | undefined; basePages?: number | undefined },
): FreeSpace => {
  const maxPages = basePages + Math.floor(maxBytes / pageBytes);
  let left = 0;
  const measure = (): void => {
    const pages = Number(prepare('PRAGMA page_count').get()?.page_count) + touched.pages();
    left = maxPages - pages + Number(prepare('PRAGMA freelist_count').get()?.freelist_count);
  };
  return {
    take(bytes, trees) {
      const pages = pagesOf(bytes, trees);
      // Reservations exceed actual use, so a new measurement may find more space.
      if (pages > left) measure();
      if (pages > left) return false;
      left -= pages;
      return true;
    },
    measure,
  };
};
