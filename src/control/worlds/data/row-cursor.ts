/**
 * Cursor into the rows of a version: the position of the last row shown, and the offset of the next row. A version
 * never changes, so both stay valid, and the next page is found without reading the rows before it.
 */

/** Start of a page: the offset of its first row, and the position of the row before it, if known. */
export type RowPlace = { offset: number; after?: number | undefined };

const form = /^(-?\d{1,16})\.(\d{1,16})$/;

export const writeCursor = ({ after, offset }: { after: number; offset: number }): string =>
  Buffer.from(`${after}.${offset}`).toString('base64url');

/** Parses a cursor. Returns undefined if the text is no cursor. */
export const readCursor = (cursor: string): RowPlace | undefined => {
  const [, after, offset] = form.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const place = { after: Number(after), offset: Number(offset) };
  return Object.values(place).every(Number.isSafeInteger) ? place : undefined;
};
