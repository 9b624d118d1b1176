/**
 * Bounds how many keywords and subschemas one validator holds inside one another. The code of a
 * validator nests by one level for each, whether they stand beside or inside one another; a definition
 * has a validator of its own.
 */
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import type { Placed } from '../read/kinds.ts';
import { isTable } from '../read/values.ts';
import { subschemasOf } from './keywords.ts';

const spanOf = (schema: unknown): number => {
  if (!isTable(schema)) return 1;
  const parts = subschemasOf(schema);
  const widest = parts.reduce((most, part) => Math.max(most, spanOf(part.schema)), 0);
  return Object.keys(schema).length + parts.length + widest;
};

/** Refuses schemas that hold too much, each as a whole. */
export const refuseWideSchemas = (schemas: readonly Placed<JsonSchema>[]): void => {
  for (const { place, value } of schemas) {
    const span = spanOf(value);
    if (span <= languageLimits.schemaSpan) continue;
    const message = `${span} keywords and subschemas stand beside and inside one another, more than ${languageLimits.schemaSpan}`;
    place.refuse('schema_too_complex', message, 'put parts of it into $defs of their own');
  }
};
