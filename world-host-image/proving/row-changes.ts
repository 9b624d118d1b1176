/**
 * Builds changes of an end state for graders that do not declare what they examine. Each row that the solution changed
 * is restored, as a whole and field by field. Rows that the solution did not change are updated and deleted, and rows
 * are added.
 */
import type { Contract, Row } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';
import type { RowDifference } from '#store/write/state-before.ts';
import type { Session } from '../session/session.ts';
import type { Change } from './check-changes.ts';
import { attempt, changeOne, copyRow, dropRows } from './mutate.ts';
import { neighbourChanges } from './neighbours.ts';

const mostRows = 20;
const mostFields = 10;
const mostEntities = 20;

const parse = (payload: string): Row => JSON.parse(payload) as Row;

const differing = (before: Row, after: Row): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );

const putBack = ({ entity, before, after, key }: RowDifference): Change => ({
  what: `${entity} ${key} is as before`,
  make: ({ world: { store } }) =>
    attempt(store, () => {
      if (before === null) store.remove(entity, parse(after ?? '{}'));
      else if (after === null) store.insert(entity, parse(before));
      else store.update(entity, parse(after), parse(before));
    }),
});

const putFieldsBack = ({ entity, before, after, key }: RowDifference): Change[] => {
  if (before === null || after === null) return [];
  const [was, is] = [parse(before), parse(after)];
  return differing(was, is)
    .slice(0, mostFields)
    .map((field) => ({
      what: `${field} of ${entity} ${key} is as before`,
      make: ({ world: { store } }: Session) =>
        attempt(store, () => void store.update(entity, is, { [field]: was[field] ?? null })),
    }));
};

const fieldsOfNew = (
  { entity, before, after, key }: RowDifference,
  contract: Contract,
): Change[] => {
  const shape = contract.entities.find(({ name }) => name === entity);
  if (before !== null || after === null || shape === undefined) return [];
  const row = parse(after);
  const where = Object.fromEntries(shape.primaryKey.map((field) => [field, row[field]]));
  return Object.keys(row)
    .filter((field) => !shape.primaryKey.includes(field))
    .slice(0, mostFields)
    .map((field) => ({
      what: `${field} of ${entity} ${key} is another`,
      make: ({ world: { store } }: Session) => changeOne(store, { entity, where }, field),
    }));
};

const besides = ({ entities }: Contract): Change[] =>
  entities.slice(0, mostEntities).flatMap((entity): Change[] => {
    const { name, columns, primaryKey } = entity;
    const all = { entity: name, where: {} };
    const fields = columns
      .map((column) => column.name)
      .filter((field) => !primaryKey.includes(field));
    return [
      {
        what: `a row of ${name} is dropped`,
        make: ({ world: { store } }) => dropRows(store, all, store.count(name)),
      },
      { what: `a row of ${name} is added`, make: ({ world }) => copyRow(world.store, entity) },
      ...fields.slice(0, mostFields).map((field) => ({
        what: `${field} of a row of ${name} is another`,
        make: ({ world }: Session) => changeOne(world.store, all, field),
      })),
    ];
  });

/** Returns the changes, in order of closeness to the rows that the solution changed. */
export const changesAround = (
  store: Pick<WorldStore, 'query'>,
  contract: Contract,
  differences: readonly RowDifference[],
): Change[] => {
  const near = differences.slice(0, mostRows);
  return [
    ...near.map(putBack),
    ...near.flatMap((one) => [...putFieldsBack(one), ...fieldsOfNew(one, contract)]),
    ...neighbourChanges(store, contract, differences),
    {
      what: 'the ledger is empty',
      async make(session) {
        session.ledger.clear(emptied);
        return true;
      },
    },
    ...besides(contract),
  ];
};

const emptied = {
  at: new Date(0).toISOString(),
  via: 'session',
  operation: 'proof',
  method: null,
  path: null,
  status: null,
  request: null,
  response: null,
  duration_ms: 0,
  changes: {},
  call_id: null,
} as const;
