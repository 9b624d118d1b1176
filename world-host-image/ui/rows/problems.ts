/**
 * Finds all problems of a row before the row is written, for all its fields at once: violations of its entity's schema,
 * missing rows that it refers to, and other rows with the same key or unique values. Nothing is written.
 */
import type { EntityContract, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { createRowChecker, type RowChecker } from '#language/schema/checkers.ts';
import type { Filter } from '#store/read/filter.ts';
import type { LoadedWorld } from '../../session/session.ts';
import { findEntity } from './question.ts';

/**
 * Problem of a row. `field` is the top-level field at fault, or '' for the row as a whole; `pointer` is the JSON
 * pointer to the value.
 */
export type RowFault = { field: string; pointer: string; message: string };

const checkers = new WeakMap<object, RowChecker>();

const checkerOf = ({ contract }: LoadedWorld): RowChecker => {
  const known = checkers.get(contract);
  if (known !== undefined) return known;
  const checker = createRowChecker(contract);
  checkers.set(contract, checker);
  return checker;
};

const isScalar = (value: unknown): boolean =>
  value !== null && value !== undefined && typeof value !== 'object';

const at = (fields: readonly string[], message: string): RowFault => {
  const [field = ''] = fields;
  return { field, pointer: `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`, message };
};

const textOf = (values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join(', ');

const danglingIn = (world: LoadedWorld, { relationships }: EntityContract, row: Row): RowFault[] =>
  relationships.flatMap(({ fields, target: name }) => {
    const target = findEntity(world.contract, name);
    const values = fields.map((field) => row[field]);
    if (!values.every(isScalar)) return [];
    const key = Object.fromEntries(target.primaryKey.map((part, index) => [part, values[index]]));
    if (world.store.get(name, key) !== undefined) return [];
    return [at(fields, `there is no row ${textOf(values)} in ${name}`)];
  });

const isSame = (one: Row, key: Row): boolean =>
  Object.entries(key).every(([field, value]) => one[field] === value);

/** Returns a problem for each unique value or key that another row already has. */
const takenIn = (
  { store }: LoadedWorld,
  { name, primaryKey, unique }: EntityContract,
  row: Row,
  key: Row | undefined,
): RowFault[] =>
  [primaryKey.map((field) => [field]), ...unique].flatMap((paths) => {
    const values = paths.map((path) => valueAtPath(row, path));
    if (!values.every(isScalar)) return [];
    const where = paths.map(
      (path, index): Filter => ({ path, match: 'equals', value: values[index] }),
    );
    const others = store
      .query(name, { where, limit: 2 })
      .filter((payload) => key === undefined || !isSame(JSON.parse(payload) as Row, key));
    if (others.length === 0) return [];
    const named = paths.map((path) => path.join('.')).join(', ');
    return [at(paths[0] ?? [], `another row has ${named} ${textOf(values)} already`)];
  });

/**
 * Returns the problems of a new row. If an existing row is changed, `key` is its key, and `row` is the row after the
 * change.
 */
export const faultsOf = (
  world: LoadedWorld,
  entity: EntityContract,
  row: Row,
  key?: Row,
): RowFault[] => {
  const shape = checkerOf(world)
    .check(entity.name, row)
    .map(({ field, pointer, detail }) => ({ field, pointer, message: detail }));
  const wrong = new Set(shape.map(({ field }) => field));
  const relations = [...danglingIn(world, entity, row), ...takenIn(world, entity, row, key)];
  return [...shape, ...relations.filter(({ field }) => !wrong.has(field))];
};
