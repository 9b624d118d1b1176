/**
 * Schemas of single fields: complete for bodies, reduced to scalars for path and query arguments. There may be many
 * routes, so a long schema is never repeated in each of them.
 */
import type { EntityContract, FieldPath, JsonSchema } from '../contract.ts';
import { isTable } from '../read/values.ts';
import type { JsonType } from '../schema/analysis.ts';
import { propertyReference, toComponentSchema } from './component-names.ts';
import { followReference, type SchemaSource } from './source.ts';

/** Maximum length of a schema that each route with its field repeats, in characters of JSON. */
const longestRepeated = 2_000;

const typesOnly = (types: ReadonlySet<JsonType>): JsonSchema => {
  const listed = [...types].filter((type) => type !== 'integer' || !types.has('number'));
  return types.size === 7 ? {} : { type: listed };
};

/**
 * Returns the schema of an entity's field for the document. In place of a long schema, it returns a reference if the
 * field is a top-level one, and only the field's types if it is nested.
 */
export const fieldSchema = (
  source: SchemaSource,
  entity: EntityContract,
  path: FieldPath,
): unknown => {
  const { analysis, names, lengthOf } = source;
  const found = analysis.at(entity.schema, path);
  const length = found.reduce<number>((sum, schema) => sum + lengthOf(schema), 0);
  if (length > longestRepeated) {
    const [name = '', ...inner] = path;
    return inner.length > 0
      ? typesOnly(analysis.types(found))
      : propertyReference(names.entity.get(entity.name), name);
  }
  const schemas = found.map((schema) => toComponentSchema(schema, names));
  return schemas.length === 1 ? schemas[0] : schemas.length === 0 ? {} : { anyOf: schemas };
};

/** Keywords that apply only to numbers or texts. */
const scalarKeywords = [
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
] as const;

const isNull = (schema: unknown): boolean => isTable(schema) && schema.type === 'null';

/** Returns the other schema of a choice between a schema and `null`. */
const withoutNull = (schema: JsonSchema): unknown => {
  const choices = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(choices)) return schema;
  const left = choices.filter((choice) => !isNull(choice));
  return left.length === 1 ? left[0] : schema;
};

const isScalar = (value: unknown): boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** Returns the values that a schema lists, without null. */
const listedValues = (schema: JsonSchema): unknown[] => {
  const listed = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
  return Array.isArray(listed) ? listed.filter(isScalar) : [];
};

const scalarTypes = (types: ReadonlySet<JsonType>): JsonType[] =>
  (['string', 'integer', 'number', 'boolean'] as const).filter(
    (type) => types.has(type) && !(type === 'integer' && types.has('number')),
  );

/** Returns the schema of a parameter for a value with these schemas: its scalar types and their bounds, without null. */
export const scalarSchema = (source: SchemaSource, schemas: readonly unknown[]): JsonSchema => {
  const { analysis, contract, lengthOf } = source;
  const types = scalarTypes(analysis.types(schemas));
  if (types.length === 0 || types.length === 3) return { type: 'string' };
  const type = types.length === 1 ? types[0] : types;
  const [only, ...others] = schemas;
  if (others.length > 0) return { type };
  const target = followReference(only, contract.definitions);
  const schema = followReference(withoutNull(target), contract.definitions);
  const bounds = scalarKeywords.flatMap((keyword) =>
    Object.hasOwn(schema, keyword) ? [[keyword, schema[keyword]] as const] : [],
  );
  const values = lengthOf(schema) > longestRepeated ? [] : listedValues(schema);
  return { type, ...Object.fromEntries(bounds), ...(values.length > 0 ? { enum: values } : {}) };
};
