/**
 * Reads a self-contained JSON Schema, which a client writes for its own values. It has the same keywords and limits as
 * the schemas of a world. Its definitions are in `$defs`, or in `definitions` as in older dialects.
 */
import type { JsonSchema } from '../contract.ts';
import type { Problem } from '../problem.ts';
import { createProblems } from '../read/place.ts';
import { openTree } from '../read/tree.ts';
import { isTable } from '../read/values.ts';
import { createLibrary, definitionTable } from './library.ts';
import { type CheckValue, createShapes } from './shapes.ts';

export type SchemaDocument =
  | { ok: true; check: CheckValue }
  | { ok: false; problems: readonly Problem[] };

/** Keywords whose values are not schemas, and contain none. */
const literal = new Set(['const', 'enum', 'default', 'examples']);
const older = '#/definitions/';

/** Rewrites references to `definitions` as references to `$defs`. */
const withPresentReferences = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withPresentReferences);
  if (!isTable(schema)) return schema;
  const entries = Object.entries(schema).map(([name, held]) => {
    if (name === '$ref' && typeof held === 'string' && held.startsWith(older)) {
      return [name, `#/$defs/${held.slice(older.length)}`];
    }
    return [name, literal.has(name) ? held : withPresentReferences(held)];
  });
  return Object.fromEntries(entries);
};

const split = (written: unknown): { schema: unknown; definitions: unknown } => {
  if (!isTable(written)) return { schema: written, definitions: {} };
  const { $schema: _, $id: __, $defs, definitions, ...schema } = written;
  if ($defs !== undefined || definitions === undefined) {
    return { schema, definitions: $defs ?? {} };
  }
  return {
    schema: withPresentReferences(schema),
    definitions: withPresentReferences(definitions),
  };
};

/** Reads a schema. It must not nest deeper than the JSON that the service accepts. */
export const readSchemaDocument = (written: unknown): SchemaDocument => {
  const problems = createProblems();
  const tree = openTree([], problems);
  if (tree === undefined) throw new Error('the schema checker refused an empty schema');
  const place = tree.place('schema/world.json');
  const { schema, definitions } = split(written);
  const library = createLibrary(tree, definitionTable(place.at('$defs'), definitions) ?? new Map());
  const taken: JsonSchema = library.take(place, schema);
  const shared = library.finish();
  const list = problems.list();
  if (list.length > 0) return { ok: false, problems: list };
  const check = createShapes(shared, new Map([['value', taken]])).get('value');
  if (check === undefined) throw new Error('internal error: no check was compiled for a schema');
  return { ok: true, check };
};
