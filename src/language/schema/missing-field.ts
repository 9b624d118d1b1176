/**
 * Finds the first segment of a path that no value of a schema can have, and a hint at the name that was meant. The
 * caller words the problem.
 */
import type { FieldPath } from '../contract.ts';
import { suggestName } from '../read/suggest.ts';
import type { Analysis } from './analysis.ts';

type MissingField = {
  /** Path up to and including the missing segment. */
  path: FieldPath;
  /** Name to write instead of the missing segment; undefined if the existing names are unknown. */
  hint: string | undefined;
};

const hintFor = (
  analysis: Analysis,
  schema: unknown,
  before: FieldPath,
  segment: string,
): string | undefined => {
  const around = analysis.at(schema, before);
  const types = analysis.types(around);
  if (types.has('array') && !types.has('object')) {
    return `${before.join('.')} is a list; an item of it is ${[...before, '0'].join('.')}`;
  }
  const names = new Set(around.flatMap((part) => [...analysis.properties(part).keys()]));
  if (names.has(segment)) return 'no row can have the field, because its schema is false';
  return suggestName(segment, names);
};

/** Returns the missing segment of a path below values of a schema; undefined if every segment exists. */
export const findMissingField = (
  analysis: Analysis,
  schema: unknown,
  path: FieldPath,
): MissingField | undefined => {
  for (const [index, segment] of path.entries()) {
    const here = path.slice(0, index + 1);
    if (analysis.at(schema, here).length > 0) continue;
    return { path: here, hint: hintFor(analysis, schema, path.slice(0, index), segment) };
  }
  return undefined;
};
