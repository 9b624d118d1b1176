/**
 * Cursors: opaque texts that say where a page starts. A cursor means "after" or "before" a position in insertion order
 * (`src/store/write/positions.ts`). Rows that are inserted or deleted between two pages therefore neither hide nor
 * repeat other rows. A checksum over the operation detects mistyped cursors and cursors of another route. It does not
 * protect against forged cursors, which would gain a client nothing.
 */
import { crc32 } from 'node:zlib';

/** Start of a page: the rows after a position, or the nearest rows before it. */
export type Anchor = { side: 'after' | 'before'; position: number };

/** Position after all rows. */
export const endPosition = Number.MAX_SAFE_INTEGER;

const letters = { after: 'a', before: 'b' } as const;

const checkSum = (operation: string, anchor: string): string =>
  crc32(`${operation} ${anchor}`).toString(36);

/** Returns the cursor for an anchor in the rows of an operation's route. */
export const writeCursor = (operation: string, { side, position }: Anchor): string => {
  const anchor = `${letters[side]}${position}`;
  return Buffer.from(`${anchor}.${checkSum(operation, anchor)}`, 'latin1').toString('base64url');
};

/** Returns the anchor of a cursor; undefined if `writeCursor` did not make it for this operation. */
export const readCursor = (operation: string, cursor: string): Anchor | undefined => {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, letter, digits] = /^([ab])(\d{1,16})\./.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const anchor: Anchor = { side: letter === 'a' ? 'after' : 'before', position: Number(digits) };
  return writeCursor(operation, anchor) === cursor ? anchor : undefined;
};
