/**
 * Cursors of pages of rows: the position of the last row that was shown, and how many rows came before the next. A
 * version never changes, so both stay true, and the page after is found without a look at the rows before it.
 */

/** Where a page begins. */
export type RowPlace = { offset: number; after?: number | undefined };

const form = /^(-?\d{1,16})\.(\d{1,16})$/;

export const writeCursor = ({ after, offset }: { after: number; offset: number }): string =>
  Buffer.from(`${after}.${offset}`).toString('base64url');

/** What a cursor says; undefined when it is none. */
export const readCursor = (cursor: string): RowPlace | undefined => {
  const [, after, offset] = form.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const place = { after: Number(after), offset: Number(offset) };
  return Object.values(place).every(Number.isSafeInteger) ? place : undefined;
};
