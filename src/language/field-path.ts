/**
 * Parses and follows paths to a field of a row or a body. In a world's files, in `where` of calls and in user code, a
 * path is written `a.b.c` or `/a/b/c`.
 */
import { parsePointer } from '#domain/json.ts';
import type { FieldPath, Row } from './contract.ts';
import { languageLimits } from './limits.ts';

/** Returns the segments of `a.b.c` or `/a/b/c`; undefined for any other text. */
export const parseFieldPath = (written: string): FieldPath | undefined => {
  const path = written.startsWith('/') ? parsePointer(written) : written.split('.');
  return path.includes('') || path.length > languageLimits.depth ? undefined : path;
};

/** Parses any text as a path, like `parseFieldPath`. A malformed text becomes the path of a field that no row has. */
export const readFieldPath = (written: string): FieldPath =>
  parseFieldPath(written) ?? written.split('.');

const isField = Object.prototype.propertyIsEnumerable;

/**
 * Returns the value at a path; undefined if there is none. The items of a list are found by their indexes; a list has
 * no field `length`.
 */
export const valueAtPath = (root: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>((value, segment) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return isField.call(value, segment) ? (value as Row)[segment] : undefined;
  }, root);

/** Writes a value at a path of a row; creates missing objects on the path. */
export const assignPath = (row: Row, path: FieldPath, value: unknown): void => {
  const [segment, ...rest] = path;
  if (segment === undefined) return;
  if (rest.length === 0) {
    row[segment] = value;
    return;
  }
  const inner = Object.hasOwn(row, segment) ? row[segment] : undefined;
  if (typeof inner !== 'object' || inner === null) row[segment] = {};
  assignPath(row[segment] as Row, rest, value);
};
