/**
 * Maps the columns of a table to the fields of its entity, with the types of their values. Unknown columns, repeated
 * columns and missing keys are refused; for an unknown column, the message suggests the nearest field's name.
 */
import { AppError } from '#domain/error.ts';
import { describeEntities } from '#language/artifacts/describe.ts';
import type { Contract, EntityContract } from '#language/contract.ts';
import { suggestName } from '#language/read/suggest.ts';
import type { JsonType } from '#language/schema/analysis.ts';
import { formatLimits, type ReadOptions } from './found.ts';

export type Column = { name: string; types: ReadonlySet<JsonType>; required: boolean };

const namedAtMost = 5;

const refuseHeader = (file: string, what: string, hint?: string): AppError =>
  new AppError('invalid', `${file} ${what}`, { detail: hint === undefined ? {} : { hint } });

const quoteAll = (names: readonly string[]): string => {
  const shown = names.slice(0, namedAtMost).map((name) => JSON.stringify(name.slice(0, 64)));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

const repeatedIn = (names: readonly string[]): string[] => {
  const seen = new Set<string>();
  const twice = names.filter((name) => seen.size === seen.add(name).size);
  return [...new Set(twice)];
};

/** Returns the columns of a table that has all fields of an entity. */
export const columnsOf = (contract: Contract, name: string): Column[] =>
  contract.entities
    .filter((entity) => entity.name === name)
    .flatMap((entity) => fieldsOf(contract, entity));

const fieldsOf = (contract: Contract, entity: EntityContract): Column[] =>
  describeEntities({ ...contract, entities: [entity] }).flatMap(({ fields }) =>
    fields
      .filter(({ path }) => !path.includes('.'))
      .map(({ path, types, required }) => ({ name: path, types: new Set(types), required })),
  );

const checkNames = (file: string, names: readonly string[]): void => {
  if (names.length > formatLimits.columns) {
    const most = formatLimits.columns.toLocaleString('en-US');
    throw refuseHeader(file, `has ${names.length} columns; a table may have ${most}`);
  }
  const unnamed = names.indexOf('');
  if (unnamed !== -1) {
    throw refuseHeader(
      file,
      `names no field in column ${unnamed + 1} of its first line`,
      'the first line must have the names of all columns',
    );
  }
  const repeated = repeatedIn(names);
  if (repeated.length > 0)
    throw refuseHeader(file, `has the same column more than once: ${quoteAll(repeated)}`);
};

export type TableOptions = { contract: Contract; entity: string } & Pick<
  ReadOptions,
  'otherColumns'
>;

/** Returns a column for a name that is no field, whose cells are kept as texts. */
const otherColumn = (name: string): Column => ({
  name,
  types: new Set(['string']),
  required: false,
});

/** Returns the columns of a table by the names in its header. */
export const readColumns = (
  file: string,
  names: readonly string[],
  { contract, entity, otherColumns }: TableOptions,
): Column[] => {
  checkNames(file, names);
  const found = contract.entities.find(({ name }) => name === entity);
  if (found === undefined) {
    throw refuseHeader(file, `has rows of "${entity}", which is not an entity of the world`);
  }
  const fields = new Map(fieldsOf(contract, found).map((field) => [field.name, field]));
  const unknown = names.filter((name) => !fields.has(name));
  if (unknown.length > 0 && otherColumns !== 'keep') {
    const hints = unknown.slice(0, 1).map((name) => suggestName(name, fields.keys()));
    const what = unknown.length === 1 ? 'a column that is' : 'columns that are';
    throw refuseHeader(file, `has ${what} no field of ${entity}: ${quoteAll(unknown)}`, hints[0]);
  }
  const missing = found.primaryKey.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw refuseHeader(file, `lacks the key of ${entity}: ${quoteAll(missing)}`);
  }
  return names.map((name) => fields.get(name) ?? otherColumn(name));
};
