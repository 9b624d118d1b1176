/**
 * Schemas of single fields: whole, for bodies, and reduced to what a text can be, for arguments of the
 * path and the query.
 */
import type { EntityContract, FieldPath, JsonSchema } from '../contract.ts';
import { isTable } from '../read/values.ts';
import { toComponentSchema } from './component-names.ts';
import { followReference, type Source } from './source.ts';

/** Keywords that say something about a number or a text alone. */
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

/** The schema of an entity's field as a part of the document. */
export const fieldSchema = (
  { analysis, names }: Source,
  entity: EntityContract,
  path: FieldPath,
): unknown => {
  const schemas = analysis
    .at(entity.schema, path)
    .map((schema) => toComponentSchema(schema, names));
  return schemas.length === 1 ? schemas[0] : schemas.length === 0 ? {} : { anyOf: schemas };
};

const isNull = (schema: unknown): boolean => isTable(schema) && schema.type === 'null';

/** The one schema that is left when `null` is taken out of a choice. */
const withoutNull = (schema: JsonSchema): unknown => {
  const choices = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(choices)) return schema;
  const left = choices.filter((choice) => !isNull(choice));
  return left.length === 1 ? left[0] : schema;
};

const isScalar = (value: unknown): boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** What a value of these schemas is as a parameter: its scalar types and their bounds, without null. */
export const scalarSchema = (
  { analysis, contract: { definitions } }: Source,
  schemas: readonly unknown[],
): JsonSchema => {
  const found = analysis.types(schemas);
  if (found.has('number')) found.delete('integer');
  const types = (['string', 'integer', 'number', 'boolean'] as const).filter((type) =>
    found.has(type),
  );
  if (types.length === 0 || types.length === 4) return { type: 'string' };
  const type = types.length === 1 ? types[0] : types;
  const [only, ...others] = schemas;
  if (others.length > 0) return { type };
  const schema = followReference(withoutNull(followReference(only, definitions)), definitions);
  const bounds = scalarKeywords.flatMap((keyword) =>
    Object.hasOwn(schema, keyword) ? [[keyword, schema[keyword]] as const] : [],
  );
  const listed = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
  const values = Array.isArray(listed) ? listed.filter(isScalar) : [];
  return { type, ...Object.fromEntries(bounds), ...(values.length > 0 ? { enum: values } : {}) };
};
