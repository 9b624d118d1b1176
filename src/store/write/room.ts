/**
 * Room in a world's database, looked for before each write. SQLite, when a write finds it full, takes back
 * all that happened since the outermost savepoint, and the marks with it: so its own limit lies beyond this
 * one, where no write gets to.
 */
import { maxStoreBytes, pageBytes } from '../tables/open.ts';
import type { Statements } from '../tables/statements.ts';
import type { TouchedRows } from './touched-rows.ts';

export type Room = {
  /** Takes room for a record of so many bytes in so many trees (a table, an index); false without it. */
  take(bytes: number, trees: number): boolean;
  /** Looks anew, for rows may have come back that were gone. */
  measure(): void;
};

/** What a tree may take beside the record itself, where its pages are split. */
const pagesOfSplits = 8;

/** More pages than a record can take. */
const pagesOf = (bytes: number, trees: number): number =>
  trees * (Math.ceil((1.1 * bytes) / pageBytes) + pagesOfSplits);

/** Beside the pages of a file that the store is upon, with those of them that it has copied. */
export const createRoom = (
  prepare: Statements,
  touched: Pick<TouchedRows, 'pages'>,
  {
    maxBytes = maxStoreBytes,
    basePages = 0,
  }: { maxBytes?: number | undefined; basePages?: number | undefined },
): Room => {
  const maxPages = basePages + Math.floor(maxBytes / pageBytes);
  let left = 0;
  const measure = (): void => {
    const pages = Number(prepare('PRAGMA page_count').get()?.page_count) + touched.pages();
    left = maxPages - pages + Number(prepare('PRAGMA freelist_count').get()?.freelist_count);
  };
  return {
    take(bytes, trees) {
      const pages = pagesOf(bytes, trees);
      // What was taken was more than was used.
      if (pages > left) measure();
      if (pages > left) return false;
      left -= pages;
      return true;
    },
    measure,
  };
};
