/**
 * Parameters of statements by their names: `:projectId` in a text instead of `$2`, which is what PostgreSQL takes.
 * A cast (`::text`) is none. A text has named parameters or numbered ones, not both.
 */

/** More than any statement is given. */
const mostKeys = 1_000_000;

/** Values by the names of parameters; null is a value, and undefined is none. */
export type NamedValues = Readonly<Record<string, unknown>>;

/** Not what follows a colon, a word or a quote: those are casts, slices and times. */
const parameter = /(?<![:\w'"\\]):([a-z]\w*)/gi;

/** The text with numbered parameters, and the name of each in their order; none when it numbers them itself. */
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
 * The rows that arrays make side by side, from a list such as `:ids::text[], :names::text[]`. The planner does not
 * see how long they are: where it does, it takes a plan for that very length to be worth making at each
 * execution, which costs a statement of several parts more than all that it does.
 */
export const rowsOf = (arrays: string): string => {
  const hidden = arrays.split(',').map((array) => `(select ${array.trim()})`);
  return `unnest(${hidden.join(', ')})`;
};

/**
 * The same of rows that each have something found for them by a key. The planner takes them for one row, as it takes
 * a limit that it does not see for a tenth: it looks for each in an index then. Taken for ten, they are looked for by
 * reading a whole table that was small when the plan was made, and that plan is kept while the table grows.
 */
export const keysOf = (arrays: string): string =>
  `(select * from ${rowsOf(arrays)} limit (select ${mostKeys}))`;

/** Values of a statement: in the order of its numbers, or by name. */
export type Values = readonly unknown[] | NamedValues;

const isOrdered = (values: Values): values is readonly unknown[] => Array.isArray(values);

/** The values in the order of the parameters. Throws when one of them is missing: a caller forgot it. */
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
