/**
 * Bounds how deep schemas lie inside one another, references followed. Validators are compiled by
 * recursion over them, so a long enough chain of definitions would exhaust the stack.
 *
 * Definitions that refer to one another in a circle count as one, as deep as all of them together:
 * whatever way is taken through them, it cannot be longer.
 */
import type { JsonSchema } from '../contract.ts';
import { isTable } from '../read/values.ts';
import { subschemasOf } from './keywords.ts';
import { definitionName } from './work.ts';

type Outline = { depth: number; references: Set<string> };

/** How deep a schema is by itself, and which definitions it refers to. */
const outlineOf = (schema: unknown): Outline => {
  if (!isTable(schema)) return { depth: 1, references: new Set() };
  const name = definitionName(schema.$ref);
  const parts = subschemasOf(schema).map((part) => outlineOf(part.schema));
  return {
    depth: 1 + parts.reduce((most, { depth }) => Math.max(most, depth), 0),
    references: new Set([
      ...(name === undefined ? [] : [name]),
      ...parts.flatMap(({ references }) => [...references]),
    ]),
  };
};

/**
 * The definition below which schemas lie deepest, and how deep at most. Tarjan's algorithm finds the
 * circles, each after all that it leads to, so that one pass adds the depths up.
 */
export const deepestDefinition = (
  definitions: Readonly<Record<string, JsonSchema>>,
): { name: string; depth: number } | undefined => {
  const outlines = new Map(
    Object.entries(definitions).map(([name, schema]) => [name, outlineOf(schema)]),
  );
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const depths = new Map<string, number>();
  const open: string[] = [];
  let deepest: { name: string; depth: number } | undefined;

  const close = (name: string): void => {
    const circle = open.splice(open.lastIndexOf(name));
    const below = circle.flatMap((member) => [...(outlines.get(member)?.references ?? [])]);
    const inside = circle.reduce((sum, member) => sum + (outlines.get(member)?.depth ?? 0), 0);
    const depth = below.reduce((most, other) => Math.max(most, depths.get(other) ?? 0), 0) + inside;
    for (const member of circle) depths.set(member, depth);
    if (deepest === undefined || depth > deepest.depth) deepest = { name, depth };
  };
  const visit = (name: string): void => {
    const index = order.size;
    order.set(name, index);
    lowest.set(name, index);
    open.push(name);
    for (const other of outlines.get(name)?.references ?? []) {
      if (!outlines.has(other)) continue;
      if (!order.has(other)) visit(other);
      if (!depths.has(other)) {
        lowest.set(name, Math.min(lowest.get(name) ?? index, lowest.get(other) ?? index));
      }
    }
    if (lowest.get(name) === index) close(name);
  };
  for (const name of outlines.keys()) {
    if (!order.has(name)) visit(name);
  }
  return deepest;
};
