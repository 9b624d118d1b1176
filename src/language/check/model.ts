/** Checked data model, on which the checks of routes, tools, tasks and rows are based. */

import type { EntityContract, FieldPath, JsonSchema } from '../contract.ts';
import { parseFieldPath } from '../field-path.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import type { Analysis, JsonType } from '../schema/analysis.ts';
import { findMissingField } from '../schema/missing-field.ts';

export type Model = {
  definitions: Record<string, JsonSchema>;
  /** Entities by name, in the order of the file. */
  entities: ReadonlyMap<string, EntityContract>;
  analysis: Analysis;
  /**
   * Returns the possible types of a value; undefined if one of its schemas was refused, because no type is known then.
   */
  types(schemas: readonly unknown[]): ReadonlySet<JsonType> | undefined;
};

/** A field that exists: its path in a row, and the schemas that may apply to its value. */
export type Field = { path: FieldPath; schemas: readonly unknown[] };

/** Returns the entity with a name; refuses the name if there is none. */
export const findEntity = (
  place: Place,
  name: string,
  model: Model,
): EntityContract | undefined => {
  const entity = model.entities.get(name);
  if (entity === undefined) {
    const hint = suggestName(name, model.entities.keys());
    place.refuse('unknown_entity', `the world has no entity "${name}"`, hint);
  }
  return entity;
};

type FieldFault = {
  code: 'bad_value' | 'unknown_field';
  message: string;
  hint: string | undefined;
};

/** Returns the field at a path of an entity's rows, or the fault of the path. */
export const lookUpField = (
  written: string,
  entity: Pick<EntityContract, 'name' | 'schema'>,
  analysis: Analysis,
): { field: Field } | { fault: FieldFault } => {
  const path = parseFieldPath(written);
  if (path === undefined) {
    const message = `${JSON.stringify(written.slice(0, 200))} is not a path of fields`;
    return { fault: { code: 'bad_value', message, hint: 'write a.b.c or /a/b/c' } };
  }
  const missing = findMissingField(analysis, entity.schema, path);
  if (missing === undefined) return { field: { path, schemas: analysis.at(entity.schema, path) } };
  const message = `${entity.name} has no field "${missing.path.join('.')}"`;
  return { fault: { code: 'unknown_field', message, hint: missing.hint } };
};

/** Returns the field at a path of an entity's rows; refuses the segment of the path that is at fault. */
export const findField = (
  place: Place,
  written: string,
  entity: EntityContract,
  model: Model,
): Field | undefined => {
  const found = lookUpField(written, entity, model.analysis);
  if ('field' in found) return found.field;
  const { code, message, hint } = found.fault;
  place.refuse(code, message, hint);
  return undefined;
};
