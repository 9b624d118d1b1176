/**
 * Builds rows from the values of their columns, for results of thousands of rows. An object written as one literal
 * takes a quarter of the time of one filled property by property, as the driver does it. So a function with that
 * literal is compiled once for each statement. The names in it are column names from this program's own SQL.
 */
type Make = (values: readonly unknown[]) => unknown;

const makers = new WeakMap<object, Make>();

const write = (names: readonly string[]): Make => {
  const members = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  return new Function('values', `return { ${members.join(', ')} };`) as Make;
};

/** Returns the function that builds the rows of a statement; the columns are in the order of the values. */
export const makerOf = (statement: object, columns: readonly { name: string }[]): Make => {
  const made = makers.get(statement) ?? write(columns.map(({ name }) => name));
  makers.set(statement, made);
  return made;
};
