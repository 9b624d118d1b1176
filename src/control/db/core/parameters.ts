/**
 * Named parameters for statements: `:projectId` in a text becomes the `$2` that PostgreSQL takes. A cast (`::text`) is
 * not a parameter. A text has named parameters or numbered ones, not both.
 */

/** More keys than any statement ever gets. */
const mostKeys = 1_000_000;

/** Values by the names of parameters. Null is a value; undefined counts as missing. */
export type NamedValues = Readonly<Record<string, unknown>>;

/**
 * Pattern of a named parameter. It does not match after a colon, a word or a quote: those are casts, slices and times.
 */
const parameter = /(?<![:\w'"\\]):([a-z]\w*)/gi;

/**
 * Returns the text with numbered parameters, and their names in the order of their numbers. The names are empty if the
 * text numbers its parameters itself.
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
 * Builds an `unnest` of parallel arrays, from a list such as `:ids::text[], :names::text[]`. Each array is hidden from
 * the planner by a subselect. If the planner sees the lengths, it prefers a custom plan at each execution, and
 * planning costs a statement of several parts more than executing it.
 */
export const rowsOf = (arrays: string): string => {
  const hidden = arrays.split(',').map((array) => `(select ${array.trim()})`);
  return `unnest(${hidden.join(', ')})`;
};

/**
 * Builds the same source for rows that are each looked up by a key. The planner cannot see the limit, so it estimates
 * a tenth of the default of ten rows, and looks up one row by an index. With the default it would scan a table that
 * was small when planned, and keep that plan while the table grows.
 */
export const keysOf = (arrays: string): string =>
  `(select * from ${rowsOf(arrays)} limit (select ${mostKeys}))`;

/** Values of a statement: in the order of its numbers, or by name. */
export type Values = readonly unknown[] | NamedValues;

const isOrdered = (values: Values): values is readonly unknown[] => Array.isArray(values);

/** Returns the values in the order of the parameters. Throws if one is missing, which is an error of the caller. */
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
