/**
 * Checks, by the schema, which paths can have a value in the rows of an entity. Any other path is a misspelt name; a
 * query by it would silently find nothing.
 *
 * Results are cached, since the same few queries recur.
 */
import type { FieldPath, JsonSchema } from '#language/contract.ts';
import { languageLimits } from '#language/limits.ts';
import type { Analysis } from '#language/schema/analysis.ts';
import { findMissingField } from '#language/schema/missing-field.ts';
import { isAddressable } from '#language/sql/ddl.ts';

/** Returns the fault of a path, for a refusal; undefined when a row can have a value there. */
export type FieldCheck = (path: FieldPath) => string | undefined;

/** Maximum number of cached paths, because clients can invent any number of paths. */
const mostKnown = 1_000;
const mostShownChars = 200;

const faultOf = (analysis: Analysis, schema: JsonSchema, path: FieldPath): string | undefined => {
  const shown = (fields: FieldPath): string => fields.join('.').slice(0, mostShownChars);
  if (path.length === 0) return 'an empty path names no field';
  if (path.length > languageLimits.depth || !isAddressable(path)) {
    return `"${shown(path)}" is not a path of fields`;
  }
  const missing = findMissingField(analysis, schema, path);
  if (missing === undefined) return undefined;
  const hint = missing.hint === undefined ? '' : `; ${missing.hint}`;
  return `there is no field "${shown(missing.path)}"${hint}`;
};

/** Creates the check of an entity's paths. */
export const createFieldCheck = (analysis: Analysis, schema: JsonSchema): FieldCheck => {
  const known = new Map<string, string | undefined>();
  return (path) => {
    const key = path.length === 1 ? (path[0] ?? '') : JSON.stringify(path);
    if (known.has(key)) return known.get(key);
    const fault = faultOf(analysis, schema, path);
    if (known.size < mostKnown) known.set(key, fault);
    return fault;
  };
};
