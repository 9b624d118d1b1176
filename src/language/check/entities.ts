/**
 * Checks entities: the schema of a row, its key, and its references. Each entity is first checked by itself.
 * Relationships are checked when the keys of all entities are known.
 */
import { own, toPointer } from '#domain/json.ts';
import type { EntityContract, FieldPath, JsonSchema } from '../contract.ts';
import { parseFieldPath } from '../field-path.ts';
import type { EntityTable, RelationshipTable, WorldDeclaration } from '../files/world-json.ts';
import { languageLimits } from '../limits.ts';
import type { Placed } from '../read/kinds.ts';
import { acceptFieldName, refuseCaseTwins } from '../read/names.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import type { Tree } from '../read/tree.ts';
import { isTable } from '../read/values.ts';
import { analysisOf, columnType, scalarType } from '../schema/analysis.ts';
import { definitionName } from '../schema/keywords.ts';
import { createLibrary, type Library } from '../schema/library.ts';
import { isAddressable } from '../sql/ddl.ts';
import { findEntity, findField, type Model } from './model.ts';

const notes = new Set(['title', 'description', '$comment', 'examples', 'deprecated']);

/** Follows references to the schema that describes the row itself. */
const followRoot = (place: Place, schema: JsonSchema, library: Library): Placed<JsonSchema> => {
  const seen = new Set<string>();
  let root = { place, value: schema };
  for (;;) {
    const name = definitionName(root.value.$ref);
    const target = name === undefined || seen.has(name) ? undefined : library.definition(name);
    if (name === undefined || target === undefined) return root;
    const beside = Object.keys(root.value).find((key) => key !== '$ref' && !notes.has(key));
    if (beside !== undefined) {
      const message = `the keyword "${beside}" is not allowed next to $ref: a row shape is either written out or a reference`;
      root.place.at(beside).refuse('composed_root', message);
    }
    seen.add(name);
    root = target;
  }
};

const checkRoot = ({ place, value: root }: Placed<JsonSchema>): void => {
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    if (!Object.hasOwn(root, keyword)) continue;
    const message = `a row shape must not have "${keyword}" at its root`;
    place
      .at(keyword)
      .refuse('composed_root', message, 'write the fields out, or use $ref for them');
  }
  if (root.type !== 'object') {
    place.at('type').refuse('not_closed', 'the type of a row shape must be "object"');
  }
  if (root.additionalProperties !== false) {
    const message = 'a row shape must have "additionalProperties": false';
    place.at('additionalProperties').refuse('not_closed', message);
  }
  if (Object.hasOwn(root, 'patternProperties')) {
    const message = 'a row shape must name its fields, so it must not have "patternProperties"';
    place.at('patternProperties').refuse('not_closed', message);
  }
};

const checkFields = (place: Place, properties: JsonSchema): void => {
  const names = Object.keys(properties);
  for (const name of names) acceptFieldName(place.at(name), name);
  refuseCaseTwins((name) => place.at(name), names);
  if (names.length > languageLimits.fieldsPerEntity) {
    const message = `there are ${names.length} fields, more than ${languageLimits.fieldsPerEntity}`;
    place.refuse('too_many', message);
  }
};

const checkPrimaryKey = (
  place: Place,
  fields: readonly string[],
  root: JsonSchema,
  model: Model,
): void => {
  const properties = isTable(root.properties) ? root.properties : {};
  const required = Array.isArray(root.required) ? root.required : [];
  for (const [index, field] of fields.entries()) {
    const at = place.at(index);
    const schema = own(properties, field);
    if (schema === undefined) {
      const hint = suggestName(field, Object.keys(properties));
      at.refuse('unknown_field', `the row shape has no top-level field "${field}"`, hint);
      continue;
    }
    const types = model.types([schema]);
    const isPlain = types?.size === 1 && (types.has('string') || types.has('integer'));
    if (types !== undefined && !isPlain) {
      const message = `the key field "${field}" must be a string or an integer, and must not allow null`;
      at.refuse('bad_primary_key', message);
    }
    if (!required.includes(field)) {
      at.refuse('bad_primary_key', `the key field "${field}" must be listed in "required"`);
    }
  }
};

const readUniqueKey = (
  place: Place,
  written: string,
  entity: EntityContract,
  model: Model,
): FieldPath | undefined => {
  if (!written.startsWith('/') && written.includes('.')) {
    const pointer = toPointer(written.split('.'));
    const message = `"${written}" is a dotted path, but a nested value is named by a JSON pointer`;
    place.refuse('bad_unique', message, `write "${pointer}"`);
    return undefined;
  }
  const field = findField(place, written, entity, model);
  if (field === undefined) return undefined;
  const types = model.types(field.schemas);
  const isScalar = types === undefined || scalarType(types) !== undefined;
  if (isScalar && isAddressable(field.path)) return field.path;
  const why = isScalar
    ? 'its path contains ", \\ or NUL'
    : 'its values are not scalars of one type';
  place.refuse('bad_unique', `"${written}" cannot be indexed: ${why}`);
  return undefined;
};

const readUnique = (
  table: EntityTable,
  entity: EntityContract,
  model: Model,
): EntityContract['unique'] => {
  const seen = new Set([JSON.stringify(entity.primaryKey.map((field) => [field]))]);
  return table.unique.map(({ place, value }) => {
    const paths = value.flatMap((written, index) => {
      const path = readUniqueKey(place.at(index), written, entity, model);
      return path === undefined ? [] : [path];
    });
    const list = JSON.stringify(paths);
    if (seen.has(list) && paths.length === value.length) {
      place.refuse('duplicate', `${value.join(', ')} is already a unique list or the primary key`);
    }
    seen.add(list);
    return paths;
  });
};

/** Returns true if a field can have the key of another entity as its value; null is not considered. */
const fitsKey = (
  schemas: readonly unknown[],
  keySchemas: readonly unknown[],
  model: Model,
): boolean => {
  const types = model.types(schemas);
  const keyTypes = model.types(keySchemas);
  if (types === undefined || keyTypes === undefined) return true;
  const type = scalarType(types);
  return type !== undefined && type === scalarType(keyTypes);
};

const checkRelationship = (
  place: Place,
  { fields, target: targetName }: RelationshipTable,
  entity: EntityContract,
  model: Model,
): void => {
  const found = fields.filter((field, index) => {
    const path = parseFieldPath(field);
    if (path?.length === 1) return findField(place.at('fields', index), field, entity, model);
    const message = `"${field}" is not a top-level field`;
    place.at('fields', index).refuse('bad_relationship', message);
    return false;
  });
  const target = findEntity(place.at('target'), targetName, model);
  if (target === undefined || found.length < fields.length) return;
  const key = target.primaryKey;
  if (key.length === 0) return;
  if (key.length !== fields.length) {
    const message = `${fields.join(', ')} cannot refer to the key of ${target.name}, which has other fields: ${key.join(', ')}`;
    place.at('fields').refuse('bad_relationship', message);
    return;
  }
  for (const [index, field] of fields.entries()) {
    const keyField = key[index] ?? '';
    const schemas = model.analysis.at(entity.schema, [field]);
    const keySchemas = model.analysis.at(target.schema, [keyField]);
    if (keySchemas.length === 0 || fitsKey(schemas, keySchemas, model)) continue;
    const message = `"${field}" does not have the type of ${target.name}.${keyField}, which it refers to`;
    place.at('fields', index).refuse('bad_relationship', message);
  }
};

const checkRelationships = (table: EntityTable, entity: EntityContract, model: Model): void => {
  const seen = new Set<string>();
  for (const { place, value } of table.relationships) {
    const tuple = JSON.stringify(value.fields);
    if (seen.has(tuple)) {
      const message = `the fields ${value.fields.join(', ')} already refer to an entity in another relationship`;
      place.at('fields').refuse('bad_relationship', message);
    }
    seen.add(tuple);
    checkRelationship(place, value, entity, model);
  }
};

const createEntity = (
  name: string,
  table: EntityTable,
  root: Placed<JsonSchema>,
  { analysis }: Model,
): EntityContract => {
  checkRoot(root);
  const properties = isTable(root.value.properties) ? root.value.properties : {};
  checkFields(root.place.at('properties'), properties);
  return {
    name,
    schema: root.value,
    primaryKey: table.primary_key,
    unique: [],
    relationships: table.relationships.map(({ value: { fields, target } }) => ({ fields, target })),
    columns: Object.entries(properties).flatMap(([field, schema]) => {
      const type = columnType(analysis.types([schema]));
      return type === undefined ? [] : [{ name: field, type }];
    }),
  };
};

/** Returns true if an entity is within the limits on keys and relationships, each of which costs the store an index. */
const isWithinLimits = (place: Place, { unique, relationships }: EntityTable): boolean => {
  const accept = (key: string, count: number, most: number): boolean => {
    if (count <= most) return true;
    place.at(key).refuse('too_many', `there are ${count} in "${key}", more than ${most}`);
    return false;
  };
  const { uniquePerEntity, relationshipsPerEntity } = languageLimits;
  const isUniqueFine = accept('unique', unique.length, uniquePerEntity);
  return accept('relationships', relationships.length, relationshipsPerEntity) && isUniqueFine;
};

/** Returns true if all entities together are within the limit. */
const areWithinLimits = (world: WorldDeclaration): boolean => {
  const count = [...world.entities.values()].reduce(
    (sum, { value }) => sum + value.unique.length + value.relationships.length,
    0,
  );
  if (count <= languageLimits.constraints) return true;
  const message = `the entities have ${count} unique lists and relationships, more than ${languageLimits.constraints}`;
  world.place.at('entities').refuse('too_many', message);
  return false;
};

/** Schemas of the tools. They are put into the same library as those of entities, so that all share definitions. */
export type ToolSchemas = Map<string, { input: JsonSchema; output: JsonSchema }>;

/** Returns true if the data model has problems; problems of tools do not count. */
export const hasProblems = ({ problems }: Tree): boolean =>
  problems.anyBelow((path) => path.startsWith('schema/'), ['/$defs', '/x-svc/entities']);

/** Puts all schemas of the world into a library, and returns the data model. */
export const buildModel = (
  world: WorldDeclaration,
  tree: Tree,
): { model: Model; toolSchemas: ToolSchemas } => {
  const library = createLibrary(tree, world.definitions);
  const take = (schema: Placed<unknown> | undefined): JsonSchema =>
    schema === undefined ? {} : library.take(schema.place, schema.value);
  const taken = [...world.entities].map(([name, { place, value }]) => ({
    name,
    place,
    table: value,
    schema: take(value.schema),
  }));
  const toolSchemas: ToolSchemas = new Map(
    [...world.tools].map(([name, { value }]) => [
      name,
      { input: take(value.input), output: take(value.output) },
    ]),
  );
  const definitions = library.finish();
  const isTyped = !hasProblems(tree);
  const analysis = analysisOf(definitions);
  const entities = new Map<string, EntityContract>();
  const model: Model = {
    definitions,
    entities,
    analysis,
    types: (schemas) => (isTyped ? analysis.types(schemas) : undefined),
  };
  for (const { name, place, table, schema } of taken) {
    if (table.schema === undefined) continue;
    const root = followRoot(table.schema.place, schema, library);
    checkPrimaryKey(place.at('primary_key'), table.primary_key, root.value, model);
    entities.set(name, createEntity(name, table, root, model));
  }
  if (!areWithinLimits(world)) return { model, toolSchemas };
  for (const { name, place, table } of taken) {
    const entity = entities.get(name);
    if (entity === undefined || !isWithinLimits(place, table)) continue;
    entity.unique = readUnique(table, entity, model);
    checkRelationships(table, entity, model);
  }
  return { model, toolSchemas };
};
