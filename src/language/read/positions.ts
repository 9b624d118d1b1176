/**
 * Where the values of a document stand in its text. A notation's scanner draws an outline of a text,
 * and problems look their pointers up in it: once for each file, and only when something was refused.
 *
 * Lines and columns count from 1; columns count UTF-16 code units, as editors and parsers do.
 */
import type { Span } from './json-text.ts';
import { parsePointer } from './pointer.ts';

/** A value's place in a text, with the places of its parts. */
export type Outline = {
  value: Span;
  /** Absent for items of lists and for the whole document. */
  key?: Span;
  parts: Map<string, Outline>;
};

/** The pointers that are asked for, as a tree; a scanner may leave all others out. */
export type Wanted = Map<string, Wanted>;

export type Position = { line: number; column: number };

/** What is asked for: the value at a pointer, or its key. */
export type Spot = { pointer: string; isKey: boolean };

/** Answers the positions of spots, in their order; undefined where only the whole file fits. */
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

/** The outline at a pointer, or else of the nearest value around it. */
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
 * The offset to show for a spot. A value that goes over several lines is shown by its key, as its
 * bracket alone says little; so is a table that something is missing in. What is missing in the
 * document itself has no offset.
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

/** Turns offsets into lines and columns. */
const createLineIndex = (text: string): ((offset: number) => Position) => {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
};

/** The position of an offset in a text. */
export const positionAt = (text: string, offset: number): Position => createLineIndex(text)(offset);

/** Looks spots up in a text by the scanner of its notation. */
export const createLocate =
  (text: string, scan: (text: string, wanted: Wanted) => Outline): Locate =>
  (spots) => {
    const root = scan(text, wantedOf(spots.map(({ pointer }) => pointer)));
    const toPosition = createLineIndex(text);
    return spots.map((spot) => {
      const offset = offsetOf(text, root, spot);
      return offset === undefined ? undefined : toPosition(offset);
    });
  };
