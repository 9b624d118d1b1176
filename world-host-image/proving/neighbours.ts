/**
 * Builds changes of rows that resemble those that a solution changed: another row gets the value that the solution set;
 * a row with the old value gets a different value; a changed row is changed in another field. A grader that protects
 * the rows next to the task's own must detect these changes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Contract, Row } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';
import type { RowDifference } from '#store/write/state-before.ts';
import type { Session } from '../session/session.ts';
import type { Change } from './check-changes.ts';
import { attempt, changeOne } from './mutate.ts';

/**
 * Maximum number of rows that are searched. The next constants are the maximum numbers of rows and fields that are
 * changed, for each kind of change.
 */
const mostSeen = 1_000;
const mostLike = 10;
const mostFields = 10;

const parse = (payload: string): Row => JSON.parse(payload) as Row;

const keyWhere = (row: Row, primaryKey: readonly string[]): Row =>
  Object.fromEntries(primaryKey.map((field) => [field, row[field]]));

/** Returns one row for each value of a field. */
const onePerValue = (rows: readonly Row[], field: string): Row[] => [
  ...new Map(rows.map((row) => [JSON.stringify(row[field] ?? null), row])).values(),
];

type Updated = { entity: string; was: Row; is: Row; field: string };

/** Returns the first update of each field of each entity. */
const updatesOf = (differences: readonly RowDifference[]): Updated[] => {
  const found = new Map<string, Updated>();
  for (const { entity, before, after } of differences) {
    if (before === null || after === null) continue;
    const [was, is] = [parse(before), parse(after)];
    for (const field of Object.keys({ ...was, ...is })) {
      const name = `${entity}\n${field}`;
      if (found.has(name) || isDeepStrictEqual(was[field], is[field])) continue;
      found.set(name, { entity, was, is, field });
    }
  }
  return [...found.values()];
};

/** Returns the changes to try on the end state in a store. */
export const neighbourChanges = (
  store: Pick<WorldStore, 'query'>,
  { entities }: Pick<Contract, 'entities'>,
  differences: readonly RowDifference[],
): Change[] => {
  const touched = new Set(differences.map(({ entity, key }) => `${entity}\n${key}`));
  return updatesOf(differences).flatMap(({ entity, was, is, field }): Change[] => {
    const shape = entities.find(({ name }) => name === entity);
    if (shape === undefined || shape.primaryKey.includes(field)) return [];
    const { primaryKey, columns } = shape;
    const keyOf = (row: Row): string => JSON.stringify(primaryKey.map((name) => row[name]));
    const others = store
      .query(entity, { limit: mostSeen })
      .map(parse)
      .filter((row) => !touched.has(`${entity}\n${keyOf(row)}`));
    const like = others.filter((row) => isDeepStrictEqual(row[field], was[field]));
    const give = (row: Row): Change => ({
      what: `${field} of ${entity} ${keyOf(row)} is as the solution has it elsewhere`,
      make: ({ world }: Session) =>
        attempt(world.store, () => void world.store.update(entity, row, { [field]: is[field] })),
    });
    const take = (row: Row): Change => ({
      what: `${field} of ${entity} ${keyOf(row)} is another`,
      make: ({ world }: Session) =>
        changeOne(world.store, { entity, where: keyWhere(row, primaryKey) }, field),
    });
    const otherFields = columns
      .map(({ name }) => name)
      .filter((name) => name !== field && !primaryKey.includes(name))
      .slice(0, mostFields)
      .map(
        (name): Change => ({
          what: `${name} of ${entity} ${keyOf(is)} is another`,
          make: ({ world }: Session) =>
            changeOne(world.store, { entity, where: keyWhere(is, primaryKey) }, name),
        }),
      );
    return [
      ...onePerValue(others, field).slice(0, 2).map(give),
      ...like.slice(0, mostLike).map(take),
      ...onePerValue(others, field).slice(0, mostLike).map(take),
      ...otherFields,
    ];
  });
};
