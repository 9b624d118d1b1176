/**
 * Nulls that stand for nothing. Clients of groups that are compatible with another service send null for what they
 * leave out; where the schema of a member has no null, such a member counts as absent.
 */

type Members = Record<string, unknown>;

/** Whether a schema takes null itself. */
const takesNull = ({ type, anyOf, enum: words }: Members): boolean => {
  if (Array.isArray(anyOf)) return anyOf.some((branch) => takesNull(branch as Members));
  if (Array.isArray(words)) return words.includes(null);
  return type === undefined || [type].flat().includes('null');
};

type Schema = { properties?: Record<string, Members>; items?: Members };

/** The value without them, at every level that the schema describes; the value itself stays as it is. */
export const withoutNulls = (schema: Members | undefined, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  const { properties = {}, items } = (schema ?? {}) as Schema;
  if (Array.isArray(value)) {
    return items === undefined ? value : value.map((item) => withoutNulls(items, item));
  }
  const schemaOf = (name: string): Members | undefined =>
    Object.hasOwn(properties, name) ? properties[name] : undefined;
  const isAbsent = (name: string, member: unknown): boolean => {
    const own = schemaOf(name);
    return member === null && own !== undefined && !takesNull(own);
  };
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !isAbsent(name, member))
      .map(([name, member]) => [name, withoutNulls(schemaOf(name), member)]),
  );
};
