/**
 * Bounds what one value can cost to check. Schemas that apply to the same value (through `$ref`,
 * `allOf` and the like) must neither refer to themselves in a circle nor multiply without end; a
 * schema may well refer to itself for a part of its value, as trees and comment threads do.
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

/** Refuses circles and excess, each at the definition or schema that has it. */
export const refuseEndlessWork = (
  definitions: ReadonlyMap<string, PlacedSchema>,
  roots: readonly PlacedSchema[],
): void => {
  const workByName = new Map<string, number>();
  const open = new Set<string>();

  const workOfDefinition = (name: string): number => {
    const known = workByName.get(name);
    const definition = definitions.get(name);
    if (known !== undefined || definition === undefined) return known ?? 0;
    if (open.has(name)) {
      const { place } = definition;
      const message = `the definition "${name}" refers to itself for the same value`;
      place.refuse('reference_cycle', message, 'refer to it from a property or a list item');
      return 0;
    }
    open.add(name);
    const work = workOf(definition.value);
    open.delete(name);
    workByName.set(name, work);
    return work;
  };

  /** How many schemas apply to a value for which `schema` holds. */
  const workOf = (schema: unknown): number => {
    if (!isTable(schema)) return 1;
    const target = definitionName(schema.$ref);
    return subschemasOf(schema)
      .filter(({ keyword }) => isInPlace(keyword))
      .reduce(
        (sum, part) => sum + workOf(part.schema),
        1 + (target ? workOfDefinition(target) : 0),
      );
  };

  const refuseExcess = (place: Place, schema: unknown): void => {
    if (!isTable(schema)) return;
    const work = workOf(schema);
    if (work > languageLimits.schemaWork) {
      const message = `${work} schemas apply to one value, more than ${languageLimits.schemaWork}`;
      place.refuse('schema_too_complex', message);
      return;
    }
    for (const part of subschemasOf(schema)) refuseExcess(place.at(...part.path), part.schema);
  };

  for (const name of definitions.keys()) workOfDefinition(name);
  for (const { place, value } of [...definitions.values(), ...roots]) refuseExcess(place, value);
};
