/**
 * Cursors: where a page begins, as an opaque text. It says "after" or "before" a position in the order
 * of insertion (`src/store/write/positions.ts`), so rows that come and go between two pages neither hide nor
 * repeat others. A check sum over the operation makes a cursor of another route, or a mistyped one, a
 * broken one; it is no defence against someone who makes cursors up, who gains nothing by it.
 */
import { crc32 } from 'node:zlib';

/** What a page hangs on: a side of a position. `before` means the rows nearest to it. */
export type Anchor = { side: 'after' | 'before'; position: number };

/** Before this position lie all rows. */
export const endPosition = Number.MAX_SAFE_INTEGER;

const letters = { after: 'a', before: 'b' } as const;

const checkSum = (operation: string, anchor: string): string =>
  crc32(`${operation} ${anchor}`).toString(36);

/** The cursor of an anchor among the rows of an operation's route. */
export const writeCursor = (operation: string, { side, position }: Anchor): string => {
  const anchor = `${letters[side]}${position}`;
  return Buffer.from(`${anchor}.${checkSum(operation, anchor)}`, 'latin1').toString('base64url');
};

/** The anchor that a cursor stands for; undefined when `writeCursor` did not make it. */
export const readCursor = (operation: string, cursor: string): Anchor | undefined => {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, letter, digits] = /^([ab])(\d{1,16})\./.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const anchor: Anchor = { side: letter === 'a' ? 'after' : 'before', position: Number(digits) };
  return writeCursor(operation, anchor) === cursor ? anchor : undefined;
};
