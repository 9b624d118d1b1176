/**
 * Positions of a document's values in its text. For each notation, a scanner builds an outline of the text, and the
 * pointers of problems are looked up in the outline. This is done once for each file, and only if a problem was
 * reported.
 *
 * Lines and columns count from 1; columns count UTF-16 code units, as editors and parsers do.
 */

import { parsePointer } from '#domain/json.ts';
import type { Span } from './json-text.ts';

/** Position of a value in a text, with the positions of its parts. */
export type Outline = {
  value: Span;
  /** Position of the key; absent for items of lists and for the whole document. */
  key?: Span;
  parts: Map<string, Outline>;
};

/** Requested pointers as a tree; a scanner may skip all other values. */
export type Wanted = Map<string, Wanted>;

export type Position = { line: number; column: number };

/** A request for a position: that of the value at a pointer, or that of the value's key. */
export type Spot = { pointer: string; isKey: boolean };

/** Returns the positions of spots, in their order. A position is undefined if only the file as a whole can be named. */
export type Locate = (spots: readonly Spot[]) => (Position | undefined)[];

export const wantedOf = (pointers: Iterable<string>): Wanted => {
  const root: Wanted = new Map();
  for (const pointer of pointers) {
    let at = root;
    for (const segment of parsePointer(pointer)) {
      const next: Wanted = at.get(segment) ?? new Map();
      at.set(segment, next);
      at = next;
    }
  }
  return root;
};

/** Returns the outline at a pointer; if there is none, the outline of the nearest enclosing value. */
const nearest = (root: Outline, pointer: string): { outline: Outline; isExact: boolean } => {
  let outline = root;
  for (const segment of parsePointer(pointer)) {
    const part = outline.parts.get(segment);
    if (part === undefined) return { outline, isExact: false };
    outline = part;
  }
  return { outline, isExact: true };
};

/**
 * Returns the offset to show for a spot. A value that spans several lines is shown at its key, because its bracket
 * alone is uninformative; a table that lacks a member is also shown at its key. If the document itself lacks a member,
 * there is no offset.
 */
const offsetOf = (text: string, root: Outline, { pointer, isKey }: Spot): number | undefined => {
  const { outline, isExact } = nearest(root, pointer);
  if (outline === root && !isExact) return undefined;
  const { key, value } = outline;
  if (key === undefined) return value.start;
  const lineEnd = text.indexOf('\n', value.start);
  const isLong = lineEnd !== -1 && lineEnd < value.end;
  return (isKey && isExact) || isLong ? key.start : value.start;
};

/** Returns the lines and columns of offsets in a text, in one pass over it. */
const positionsAt = (text: string, offsets: readonly number[]): ReadonlyMap<number, Position> => {
  const positions = new Map<number, Position>();
  let line = 1;
  let start = 0;
  for (const offset of offsets.toSorted((a, b) => a - b)) {
    for (let end = text.indexOf('\n', start); end !== -1 && end < offset; ) {
      line += 1;
      start = end + 1;
      end = text.indexOf('\n', start);
    }
    positions.set(offset, { line, column: offset - start + 1 });
  }
  return positions;
};

/** Returns the position of an offset in a text. */
export const positionAt = (text: string, offset: number): Position =>
  positionsAt(text, [offset]).get(offset) ?? { line: 1, column: 1 };

/** Returns a function that finds the positions of spots in a text, with the scanner of the text's notation. */
export const createLocate =
  (text: string, scan: (text: string, wanted: Wanted) => Outline): Locate =>
  (spots) => {
    const root = scan(text, wantedOf(spots.map(({ pointer }) => pointer)));
    const offsets = spots.map((spot) => offsetOf(text, root, spot));
    const positions = positionsAt(
      text,
      offsets.filter((offset) => offset !== undefined),
    );
    return offsets.map((offset) => (offset === undefined ? undefined : positions.get(offset)));
  };
