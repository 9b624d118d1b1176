/** Describes the type of a field in words for people. */
import { followReference } from '../../openapi/source.ts';
import { isTable } from '../../read/values.ts';
import { type FieldSource, itemsOf, typesWithoutNull } from './fields.ts';

/** Maximum number of values of an enumeration that are shown. */
const mostValues = 8;
const longestValues = 120;

const isNull = (schema: unknown): boolean => isTable(schema) && schema.type === 'null';

/**
 * Returns the schema that alone describes a value, without its alternative `null`; an empty schema if several describe
 * it.
 */
const soleSchema = (source: FieldSource, schemas: readonly unknown[]): Record<string, unknown> => {
  if (schemas.length !== 1) return {};
  const schema = followReference(schemas[0], source.definitions);
  const choices = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(choices)) return schema;
  const left = choices.filter((choice) => !isNull(choice));
  return left.length === 1 ? followReference(left[0], source.definitions) : schema;
};

const valuesIn = (schema: Record<string, unknown>): string | undefined => {
  const listed = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
  if (!Array.isArray(listed)) return undefined;
  const values = listed.filter((value) => value !== null);
  const words = values.slice(0, mostValues).map((value) => JSON.stringify(value));
  const text = [...words, ...(values.length > mostValues ? ['…'] : [])].join(' or ');
  return text.length > longestValues || text === '' ? undefined : text;
};

/**
 * Describes the types of a value, its format, and its possible values if they are few; for a list, also the type of its
 * items.
 */
export const typeWords = (source: FieldSource, schemas: readonly unknown[], depth = 0): string => {
  const types = typesWithoutNull(source, schemas);
  if (types.length === 5) return 'anything';
  const schema = soleSchema(source, schemas);
  const values = valuesIn(schema);
  if (values !== undefined) return values;
  const words = types.map((type) => {
    if (type === 'array') {
      return depth > 3
        ? 'list'
        : `list of ${typeWords(source, itemsOf(source, schemas), depth + 1)}`;
    }
    return type === 'string' && typeof schema.format === 'string'
      ? `string (${schema.format.slice(0, 40)})`
      : type;
  });
  return words.join(' or ') || 'null';
};

/** Returns the description that the schemas of a field have. */
export const descriptionOf = (source: FieldSource, schemas: readonly unknown[]): string => {
  for (const schema of schemas) {
    const target = followReference(schema, source.definitions);
    const own = isTable(schema) ? schema.description : undefined;
    const found = own ?? target.description;
    if (typeof found === 'string') return found;
  }
  return '';
};
