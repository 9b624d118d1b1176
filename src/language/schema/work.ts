/**
 * Bounds what one value can cost to check. Schemas that apply to the same value (through `$ref`,
 * `allOf` and the like) must neither refer to themselves in a circle, nor form long chains, nor multiply
 * without end; a schema may well refer to itself for a part of its value, as trees and comment threads
 * do.
 */
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { isTable } from '../read/values.ts';
import { keywords, subschemasOf } from './keywords.ts';

type PlacedSchema = Placed<JsonSchema>;

const definitionPrefix = '#/$defs/';

/** The definition that a resolved reference names. */
export const definitionName = (reference: unknown): string | undefined =>
  typeof reference === 'string' && reference.startsWith(definitionPrefix)
    ? reference.slice(definitionPrefix.length)
    : undefined;

const isInPlace = (keyword: string): boolean => keywords.get(keyword)?.isInPlace === true;

/** How many schemas apply to a value, and how many references lead to one another at most. */
type Work = { schemas: number; chain: number };

/** Refuses circles and excess, each at the definition or schema that has it. */
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
      const message = `the definition "${name}" refers to itself for the same value`;
      place.refuse('reference_cycle', message, 'refer to it from a property or a list item');
      return none;
    }
    open.add(name);
    const { schemas, chain } = workOf(definition.value);
    open.delete(name);
    const work = { schemas, chain: chain + 1 };
    workByName.set(name, work);
    return work;
  };

  /** What it takes to check a value for which `schema` holds. */
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
    return `${chain} references lead to one another for one value, more than ${referenceChain}`;
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
