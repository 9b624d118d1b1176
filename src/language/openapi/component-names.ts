/**
 * Names of schemas in an OpenAPI document. `components` allows only letters, digits, `.`, `-` and `_`, and entities and
 * definitions share one table of names. An entity keeps its name. A definition of a sibling file is named
 * `<file>.<name>`. If a name is taken, a number is appended.
 */

import { escapeSegment } from '#domain/json.ts';
import type { Contract, JsonSchema } from '../contract.ts';
import { isTable } from '../read/values.ts';
import { definitionName, keywords } from '../schema/keywords.ts';

export type ComponentNames = {
  entity: ReadonlyMap<string, string>;
  definition: ReadonlyMap<string, string>;
  /**
   * Names of components, by entity, that have the entity's fields and require none; for bodies with only some fields.
   */
  fields: ReadonlyMap<string, string>;
};

const legalName = (name: string): string =>
  name.replace('.json:', '.').replaceAll(/[^A-Za-z0-9._-]/g, '_');

export const nameComponents = ({
  entities,
  definitions,
}: Pick<Contract, 'entities' | 'definitions'>): ComponentNames => {
  const taken = new Set<string>();
  const claim = (wanted: string): string => {
    let name = wanted;
    for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
    taken.add(name);
    return name;
  };
  return {
    entity: new Map(entities.map(({ name }) => [name, claim(legalName(name))])),
    definition: new Map(Object.keys(definitions).map((name) => [name, claim(legalName(name))])),
    fields: new Map(entities.map(({ name }) => [name, claim(`${legalName(name)}.fields`)])),
  };
};

export const componentReference = (name: string | undefined): JsonSchema =>
  name === undefined ? {} : { $ref: `#/components/schemas/${name}` };

/** Returns a reference to the schema of a property of a component. */
export const propertyReference = (name: string | undefined, property: string): JsonSchema =>
  name === undefined
    ? {}
    : {
        $ref: `#/components/schemas/${name}/properties/${encodeURIComponent(escapeSegment(property))}`,
      };

/**
 * Returns the schema with its references changed to point to `components`. Values such as those of `const` stay as they
 * are.
 */
export const toComponentSchema = (schema: unknown, names: ComponentNames): unknown => {
  if (!isTable(schema)) return schema;
  const inner = (held: unknown): unknown => toComponentSchema(held, names);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, held]) => {
      const holds = keywords.get(keyword)?.holds;
      const target = keyword === '$ref' ? definitionName(held) : undefined;
      if (target !== undefined)
        return [keyword, componentReference(names.definition.get(target)).$ref ?? held];
      if (holds === 'one') return [keyword, inner(held)];
      if (holds === 'list' && Array.isArray(held)) return [keyword, held.map(inner)];
      if (holds !== 'map' || !isTable(held)) return [keyword, held];
      const parts = Object.entries(held).map(([name, part]) => [name, inner(part)]);
      return [keyword, Object.fromEntries(parts)];
    }),
  );
};
