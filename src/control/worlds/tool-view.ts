/** A world's tools as clients see them: each schema stands for itself, with the shapes it refers to. */
import type { Static } from 'typebox';
import type { Contract, JsonSchema } from '#language/contract.ts';
import type { ToolView } from '#wire/public-api/session.ts';

const localReference = /^#\/\$defs\/(.+)$/;

/** Adds the names of `$defs` that a schema refers to, directly or through others. */
const gatherReferences = (
  value: unknown,
  definitions: Contract['definitions'],
  names: Set<string>,
): void => {
  if (typeof value !== 'object' || value === null) return;
  for (const [keyword, inner] of Object.entries(value)) {
    const name = keyword === '$ref' ? localReference.exec(String(inner))?.[1] : undefined;
    if (name === undefined) {
      gatherReferences(inner, definitions, names);
    } else if (!names.has(name)) {
      names.add(name);
      gatherReferences(definitions[name], definitions, names);
    }
  }
};

const standAlone = (schema: JsonSchema, definitions: Contract['definitions']): JsonSchema => {
  const names = new Set<string>();
  gatherReferences(schema, definitions, names);
  if (names.size === 0) return schema;
  const used = [...names].sort().map((name) => [name, definitions[name]]);
  return { ...schema, $defs: Object.fromEntries(used) };
};

/** The tools of a contract, in its order. */
export const viewTools = ({ tools, definitions }: Contract): Static<typeof ToolView>[] =>
  tools.map(({ name, description, input, output }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: standAlone(input, definitions),
    outputSchema: standAlone(output, definitions),
  }));
