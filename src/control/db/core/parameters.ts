/**
 * Named parameters of statements: `:projectId` in a text becomes the `$2` that PostgreSQL requires. A cast (`::text`)
 * is not a parameter. A text may have named parameters or numbered ones, but not both.
 */

/** Number that is larger than the number of keys in any statement. */
const mostKeys = 1_000_000;

/** Values by the names of their parameters. Null is a value; undefined counts as missing. */
export type NamedValues = Readonly<Record<string, unknown>>;

/**
 * Pattern of a named parameter. It does not match after a colon, a word or a quote, because that is a cast, a slice of
 * an array or a time.
 */
const parameter = /(?<![:\w'"\\]):([a-z]\w*)/gi;

/**
 * Returns the text with numbered parameters, and the names of the parameters in the order of their numbers. There are
 * no names if the text has numbered parameters itself.
 */
export const readParameters = (text: string): { text: string; names: readonly string[] } => {
  const names: string[] = [];
  const numbered = text.replace(parameter, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  if (names.length > 0 && /\$\d/.test(text)) {
    throw new Error(`a statement numbers parameters and names them, too: ${text.slice(0, 80)}`);
  }
  return { text: numbered, names };
};

/**
 * Builds an `unnest` of parallel arrays from a list such as `:ids::text[], :names::text[]`. Each array is in a
 * subselect, which hides its length from the planner. If the planner sees the lengths, it prefers a custom plan at each
 * execution. For a statement of several parts, planning costs more than executing.
 */
export const rowsOf = (arrays: string): string => {
  const hidden = arrays.split(',').map((array) => `(select ${array.trim()})`);
  return `unnest(${hidden.join(', ')})`;
};

/**
 * Builds the `unnest` of `rowsOf` for rows that are each looked up by a key. A limit, whose value the planner cannot
 * see, makes the planner expect one row instead of ten, so that it plans to look up each row by an index. If it
 * expected ten rows, it would plan to scan a table that is small at the time, and use that plan while the table grows.
 */
export const keysOf = (arrays: string): string =>
  `(select * from ${rowsOf(arrays)} limit (select ${mostKeys}))`;

/** Values of a statement's parameters: in the order of their numbers, or by name. */
export type Values = readonly unknown[] | NamedValues;

const isOrdered = (values: Values): values is readonly unknown[] => Array.isArray(values);

/**
 * Returns the values in the order of the parameters. Throws if a value is missing, which is a mistake of the calling
 * code.
 */
export const valuesOf = (
  { name, names }: { name: string; names: readonly string[] },
  values: Values,
): unknown[] => {
  if (isOrdered(values)) return [...values];
  return names.map((each) => {
    const value = values[each];
    if (value === undefined) throw new Error(`the statement ${name} lacks :${each}`);
    return value;
  });
};
