/**
 * Limits on schemas, so that no author's schema exhausts the stack or runs without end: their nesting depth, the size
 * of one schema, and the number of schemas that apply to one value.
 */
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { isTable } from '../read/values.ts';
import { definitionName, keywords, subschemasOf } from './keywords.ts';

// Limit on the cost of validating one value. Schemas that apply to the same value (through `$ref`, `allOf` and the
// like) must not form cycles or long chains, or multiply without end. A schema may refer to itself for a part of its
// value, as trees and comment threads do.

type PlacedSchema = Placed<JsonSchema>;

const isInPlace = (keyword: string): boolean => keywords.get(keyword)?.isInPlace === true;

/** Number of schemas that apply to a value, and length of the longest chain of references among them. */
type Work = { schemas: number; chain: number };

/** Refuses cycles of definitions and exceeded limits, each at the definition or schema that causes it. */
export const refuseEndlessWork = (
  definitions: ReadonlyMap<string, PlacedSchema>,
  roots: readonly PlacedSchema[],
): void => {
  const workByName = new Map<string, Work>();
  const open = new Set<string>();

  const workOfDefinition = (name: string): Work => {
    const known = workByName.get(name);
    const definition = definitions.get(name);
    const none = { schemas: 0, chain: 0 };
    if (known !== undefined || definition === undefined) return known ?? none;
    if (open.has(name)) {
      const { place } = definition;
      const message = `the definition "${name}" refers to itself for the same value, so checking a value would never end`;
      place.refuse(
        'reference_cycle',
        message,
        'refer to the definition from a property or a list item',
      );
      return none;
    }
    open.add(name);
    const { schemas, chain } = workOf(definition.value);
    open.delete(name);
    const work = { schemas, chain: chain + 1 };
    workByName.set(name, work);
    return work;
  };

  /** Returns the work of validating a value against a schema. */
  const workOf = (schema: unknown): Work => {
    if (!isTable(schema)) return { schemas: 1, chain: 0 };
    const target = definitionName(schema.$ref);
    const parts = subschemasOf(schema)
      .filter(({ keyword }) => isInPlace(keyword))
      .map((part) => workOf(part.schema));
    const all = target === undefined ? parts : [workOfDefinition(target), ...parts];
    return {
      schemas: all.reduce((sum, { schemas }) => sum + schemas, 1),
      chain: all.reduce((most, { chain }) => Math.max(most, chain), 0),
    };
  };

  const faultOf = ({ schemas, chain }: Work): string | undefined => {
    const { schemaWork, referenceChain } = languageLimits;
    if (schemas > schemaWork)
      return `${schemas} schemas apply to one value, more than ${schemaWork}`;
    if (chain <= referenceChain) return undefined;
    return `a chain of ${chain} references applies to one value, more than ${referenceChain}`;
  };

  const refuseExcess = (place: Place, schema: unknown): void => {
    if (!isTable(schema)) return;
    const fault = faultOf(workOf(schema));
    if (fault !== undefined) {
      place.refuse('schema_too_complex', fault);
      return;
    }
    for (const part of subschemasOf(schema)) refuseExcess(place.at(...part.path), part.schema);
  };

  for (const name of definitions.keys()) workOfDefinition(name);
  for (const { place, value } of [...definitions.values(), ...roots]) refuseExcess(place, value);
};

// Limit on the nesting depth of schemas, with references followed. Validators are compiled by recursion over them, so
// a long enough chain of definitions would exhaust the stack.
//
// Definitions that refer to one another in a cycle count as one, as deep as all of them together: no path through them
// can be longer.

type Outline = { depth: number; references: Set<string> };

/** Returns the nesting depth of a schema by itself, and the definitions to which it refers. */
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
 * Returns the definition below which schemas nest deepest, and that depth. Tarjan's algorithm finds the cycles, each
 * after all definitions to which it refers, so that one pass adds up the depths.
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

// Limit on the nested keywords and subschemas of one validator. The code of a validator nests by one level for each,
// whether they are beside or inside one another; a definition has a validator of its own.

const spanOf = (schema: unknown): number => {
  if (!isTable(schema)) return 1;
  const parts = subschemasOf(schema);
  const widest = parts.reduce((most, part) => Math.max(most, spanOf(part.schema)), 0);
  return Object.keys(schema).length + parts.length + widest;
};

/** Refuses each schema that is too large as a whole. */
export const refuseWideSchemas = (schemas: readonly Placed<JsonSchema>[]): void => {
  for (const { place, value } of schemas) {
    const span = spanOf(value);
    if (span <= languageLimits.schemaSpan) continue;
    const message = `the schema has ${span} keywords and subschemas, more than ${languageLimits.schemaSpan}`;
    place.refuse('schema_too_complex', message, 'move parts of the schema into $defs');
  }
};
