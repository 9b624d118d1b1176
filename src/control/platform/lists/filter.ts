/**
 * Parses the parameter `filter`: a JSON list of `{type, column, operator, value, key?}`. A row must meet all entries of
 * the list. Each column stands for trusted SQL of this program; every value becomes a parameter. If a filter uses a
 * column, the separate query parameter for the same column is ignored.
 */
import { isObject } from '#domain/json.ts';
import { parseBoundMs } from '#observability/iso-time.ts';
import type { Condition } from '../../db/core/where.ts';
import { invalidParameter, type RawQuery, textIn } from './query.ts';

type Kind = 'text' | 'number' | 'time' | 'boolean' | 'list';

/**
 * SQL of a column that filters can use. A column of kind `byKey` has one value for each key, all of kind `held`; `of`
 * builds the condition on the value of one key.
 */
export type Column = { kind: Kind; sql: string } | { kind: 'byKey'; held: Kind; of: ByKey };

/**
 * Builds the condition that a row has the key with a matching value. `test` builds the comparison from the SQL of that
 * value.
 */
type ByKey = (key: string, test: (sql: string) => Condition) => Condition;

export type Columns = Readonly<Record<string, Column>>;

type Entry = { type: string; column: string; operator: string; value: unknown; key: string | null };

const mostEntries = 50;
const mostOptions = 1_000;

const refuse = (message: string) => invalidParameter('filter', message);

const readEntry = (given: unknown): Entry => {
  if (!isObject(given)) throw refuse('must be a list of objects');
  const { type, column, operator, value, key = null } = given;
  if (typeof type !== 'string' || typeof column !== 'string' || typeof operator !== 'string') {
    throw refuse('needs type, column and operator as strings in each entry');
  }
  if (key !== null && typeof key !== 'string') throw refuse('has a key that is no string');
  return { type, column, operator, value, key };
};

const readEntries = (text: string): Entry[] => {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw refuse('is not JSON');
  }
  if (!Array.isArray(given)) throw refuse('must be a list');
  if (given.length > mostEntries) throw refuse(`has more than ${mostEntries} entries`);
  return given.map(readEntry);
};

const clean = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

const textOf = ({ column, value }: Entry): string => {
  if (typeof value !== 'string') throw refuse(`on "${column}" needs a string as value`);
  return clean(value);
};

const numberOf = ({ column, value }: Entry): number => {
  if (typeof value !== 'number') throw refuse(`on "${column}" needs a number as value`);
  return value;
};

const optionsOf = ({ column, value }: Entry): string[] => {
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (!isList || value.length > mostOptions) {
    throw refuse(`on "${column}" needs a list of at most ${mostOptions} strings as value`);
  }
  return value.map(clean);
};

const unknownOperator = ({ type, operator }: Entry) =>
  refuse(`has the operator "${operator.slice(0, 40)}", which the type "${type}" does not know`);

const comparisons = ['=', '>', '<', '>=', '<='];

const compare = (entry: Entry, sql: string, value: unknown, cast: string): Condition => {
  const { operator } = entry;
  if (!comparisons.includes(operator)) throw unknownOperator(entry);
  return (bind) => `${sql} ${operator} ${bind(value)}::${cast}`;
};

const onText = (entry: Entry, sql: string): Condition => {
  const text = textOf(entry);
  switch (entry.operator) {
    case '=':
      return (bind) => `${sql} = ${bind(text)}`;
    case 'contains':
      return (bind) => `position(${bind(text)} in coalesce(${sql}, '')) > 0`;
    case 'does not contain':
      return (bind) => `position(${bind(text)} in coalesce(${sql}, '')) = 0`;
    case 'starts with':
      return (bind) => `starts_with(${sql}, ${bind(text)})`;
    case 'ends with':
      return (bind) => `right(${sql}, length(${bind(text)})) = ${bind(text)}`;
    default:
      throw unknownOperator(entry);
  }
};

const onOptions = (entry: Entry, sql: string): Condition => {
  const options = optionsOf(entry);
  if (entry.operator === 'any of') return (bind) => `${sql} = any(${bind(options)}::text[])`;
  if (entry.operator === 'none of') {
    return (bind) => `not coalesce(${sql} = any(${bind(options)}::text[]), false)`;
  }
  throw unknownOperator(entry);
};

const onList = (entry: Entry, sql: string): Condition => {
  const options = optionsOf(entry);
  switch (entry.operator) {
    case 'any of':
      return (bind) => `${sql} && ${bind(options)}::text[]`;
    case 'none of':
      return (bind) => `not coalesce(${sql} && ${bind(options)}::text[], false)`;
    case 'all of':
      return (bind) => `${sql} @> ${bind(options)}::text[]`;
    default:
      throw unknownOperator(entry);
  }
};

const onTime = (entry: Entry, sql: string): Condition => {
  const ms = parseBoundMs(entry.value);
  if (ms === undefined) throw refuse(`on "${entry.column}" needs an ISO 8601 time as value`);
  return compare(entry, sql, new Date(ms).toISOString(), 'timestamptz');
};

const onBoolean = (entry: Entry, sql: string): Condition => {
  const { value, operator, column } = entry;
  if (typeof value !== 'boolean') throw refuse(`on "${column}" needs true or false as value`);
  if (operator !== '=' && operator !== '<>') throw unknownOperator(entry);
  return (bind) => `coalesce(${sql}, false) ${operator} ${bind(value)}`;
};

const onNull = (entry: Entry, sql: string): Condition => {
  const { operator } = entry;
  if (operator !== 'is null' && operator !== 'is not null') throw unknownOperator(entry);
  return () => `${sql} ${operator}`;
};

/** Functions that build conditions, by the type of a filter entry, each with the kinds of columns that it supports. */
const types: Readonly<Record<string, [Kind[], (entry: Entry, sql: string) => Condition]>> = {
  datetime: [['time'], onTime],
  string: [['text'], onText],
  stringOptions: [['text'], onOptions],
  arrayOptions: [['list'], onList],
  number: [['number'], (entry, sql) => compare(entry, sql, numberOf(entry), 'float8')],
  boolean: [['boolean'], onBoolean],
  null: [['text', 'number', 'time', 'boolean', 'list'], onNull],
};

const typesByKey: typeof types = {
  stringObject: [['text'], onText],
  categoryOptions: [['text'], onOptions],
  numberObject: [['number'], (entry, sql) => compare(entry, sql, numberOf(entry), 'float8')],
  booleanObject: [['boolean'], onBoolean],
};

/**
 * Returns the function that builds the condition for an entry type and a kind of column; undefined if the type does not
 * support that kind.
 */
const writerOf = (known: typeof types, type: string, kind: Kind) => {
  const [kinds = [], write] = (Object.hasOwn(known, type) ? known[type] : undefined) ?? [];
  return kinds.includes(kind) ? write : undefined;
};

const typesFor = (kind: Kind): string =>
  Object.keys(typesByKey)
    .filter((type) => writerOf(typesByKey, type, kind) !== undefined)
    .join(', ');

const conditionOf = (entry: Entry, columns: Columns): Condition => {
  const column = Object.hasOwn(columns, entry.column) ? columns[entry.column] : undefined;
  if (column === undefined) {
    const known = Object.keys(columns).join(', ');
    throw refuse(`names the column "${entry.column.slice(0, 100)}", which is not one of ${known}`);
  }
  if (column.kind === 'byKey') {
    const test = writerOf(typesByKey, entry.type, column.held);
    if (test === undefined || entry.key === null) {
      throw refuse(`on "${entry.column}" needs a key, and the type ${typesFor(column.held)}`);
    }
    return column.of(clean(entry.key), (sql) => test(entry, sql));
  }
  const write = writerOf(types, entry.type, column.kind);
  if (write === undefined) {
    throw refuse(`has the type "${entry.type.slice(0, 40)}", which "${entry.column}" does not fit`);
  }
  return write(entry, column.sql);
};

/** Parsed filter: its conditions and the columns that they use. */
export type Filter = { conditions: Condition[]; columns: ReadonlySet<string> };

/**
 * Parses the parameter `filter`. Throws `invalid` if the filter is malformed or uses an unknown column, type or
 * operator.
 */
export const readFilter = (query: RawQuery, columns: Columns): Filter => {
  const text = textIn(query, 'filter');
  const entries = text === undefined ? [] : readEntries(text);
  return {
    conditions: entries.map((entry) => conditionOf(entry, columns)),
    columns: new Set(entries.map(({ column }) => column)),
  };
};

/**
 * Combines the conditions of single parameters with a filter. If both have a condition on the same column, the filter's
 * condition is used.
 */
export const withFilter = (
  simple: readonly (readonly [column: string, condition: Condition | undefined])[],
  filter: Filter,
): Condition[] => [
  ...simple.flatMap(([column, condition]) =>
    condition === undefined || filter.columns.has(column) ? [] : [condition],
  ),
  ...filter.conditions,
];
