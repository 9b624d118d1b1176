/**
 * Removes nulls that mean "absent". Generated clients send null for members that their callers omit. If the schema of a
 * member does not accept null, the member counts as absent. Values without a fixed schema (rows, inputs of tools,
 * metadata) stay unchanged.
 */
import { own } from '#domain/json.ts';

type Members = Record<string, unknown>;

/** Returns true if the schema accepts null. */
const takesNull = ({ type, anyOf, enum: words, const: constant }: Members): boolean => {
  if (Array.isArray(anyOf)) return anyOf.some((branch) => takesNull(branch as Members));
  if (Array.isArray(words)) return words.includes(null);
  if (constant !== undefined) return constant === null;
  return type === undefined || [type].flat().includes('null');
};

type Schema = {
  anyOf?: Members[];
  properties?: Record<string, Members>;
  additionalProperties?: unknown;
  items?: Members;
};

const branchesOf = (schema: Members): Schema[] => {
  const { anyOf } = schema as Schema;
  return anyOf === undefined ? [schema as Schema] : anyOf.flatMap(branchesOf);
};

/**
 * Returns a schema that accepts whatever any of the given schemas accepts; undefined if one of them accepts anything.
 */
const joined = (schemas: readonly (Members | undefined)[]): Members | undefined => {
  const known = schemas.filter((schema) => schema !== undefined);
  if (known.length < schemas.length || known.length === 0) return undefined;
  return known.length === 1 ? known[0] : { anyOf: known };
};

/**
 * Returns the schema of an object's member; undefined if any value is allowed. Branches that allow no such member are
 * ignored.
 */
const memberOf = (branches: readonly Schema[], name: string): Members | undefined =>
  joined(
    branches
      .filter(
        ({ properties = {}, additionalProperties }) =>
          additionalProperties !== false || Object.hasOwn(properties, name),
      )
      .map(({ properties = {} }) => own(properties, name)),
  );

/**
 * Returns a copy of the value without nulls that mean "absent", at each level that the schema describes. If the value
 * itself is null, returns null.
 */
export const withoutNulls = (schema: Members | undefined, value: unknown): unknown => {
  if (schema === undefined || typeof value !== 'object' || value === null) return value;
  const branches = branchesOf(schema);
  if (Array.isArray(value)) {
    const lists = branches.filter((branch) => (branch as Members).type === 'array');
    const items = joined(lists.map((branch) => branch.items));
    return items === undefined ? value : value.map((item) => withoutNulls(items, item));
  }
  const objects = branches.filter(({ properties }) => properties !== undefined);
  const isFree = branches.some(
    (branch) => (branch as Members).type === 'object' && branch.properties === undefined,
  );
  if (objects.length === 0 || isFree) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const described = memberOf(objects, name);
      const isAbsent = member === null && described !== undefined && !takesNull(described);
      return isAbsent ? [] : [[name, withoutNulls(described, member)]];
    }),
  );
};
