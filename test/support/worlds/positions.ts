/**
 * Reads positions in tests: the places of pointers as `line:column`, and all values of a document and of an outline by
 * their pointers.
 */
import { escapeSegment } from '#domain/json.ts';
import { createLocate, type Outline } from '#language/read/positions.ts';
import { isTable } from '#language/read/values.ts';

/** Returns the positions of pointers in a text; a pointer that ends with `!` means its key. */
export const locateIn =
  (scan: Parameters<typeof createLocate>[1]) =>
  (text: string, ...pointers: string[]): (string | undefined)[] => {
    const spots = pointers.map((pointer) => ({
      pointer: pointer.replace(/!$/, ''),
      isKey: pointer.endsWith('!'),
    }));
    const positions = createLocate(text, scan)(spots);
    return positions.map((position) => position && `${position.line}:${position.column}`);
  };

/** Returns every value of a document by its pointer. */
export const valuesOf = (value: unknown, pointer = ''): [pointer: string, value: unknown][] => [
  [pointer, value],
  ...(Array.isArray(value) || isTable(value) ? Object.entries(value) : []).flatMap(([key, part]) =>
    valuesOf(part, `${pointer}/${escapeSegment(key)}`),
  ),
];

/** Returns every place of an outline by its pointer. */
export const outlinesOf = (
  outline: Outline,
  pointer = '',
): [pointer: string, outline: Outline][] => [
  [pointer, outline],
  ...[...outline.parts].flatMap(([name, part]) =>
    outlinesOf(part, `${pointer}/${escapeSegment(name)}`),
  ),
];
