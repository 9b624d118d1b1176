/**
 * Tests properties that hold whatever a session does. If the changes of a grade are applied to the state before, the
 * result is the present state. A closed world fails exactly if something changed that no check asks for and the task
 * does not allow.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { WorldStore } from '#store/world-store.ts';
import { sampleContract } from '#test/support/worlds/sample-contract.ts';
import { openSampleStore } from '#test/support/worlds/sample-store.ts';
import type { GradeChange } from '#wire/public-api/sessions/grade.ts';
import type { Session } from '../../session/session.ts';
import type { Allowance } from './allow.ts';
import type { ExplainingCheck } from './explain.ts';
import { explainChanges } from './grade-changes.ts';

const contract = sampleContract();

const id = fc.integer({ min: 10, max: 15 });
const state = fc.constantFrom('open', 'closed');
const title = fc.constantFrom('a', 'b', 'Crash at start');
const issue = fc.record({
  id,
  owner: fc.constant('ann'),
  repo: fc.constant('engine'),
  number: fc.integer({ min: 1, max: 9 }),
  title,
  state,
});
const email = fc.constantFrom('ann@example.test', 'x@y.test');

type Step = (store: WorldStore) => void;

const step: fc.Arbitrary<Step> = fc.oneof(
  issue.map(
    (row): Step =>
      (store) =>
        store.insert('issues', row),
  ),
  fc.tuple(id, fc.record({ state, title }, { requiredKeys: [] })).map(
    ([key, patch]): Step =>
      (store) =>
        void store.update('issues', { id: key }, patch),
  ),
  id.map(
    (key): Step =>
      (store) =>
        store.remove('issues', { id: key }),
  ),
  email.map(
    (to): Step =>
      (store) =>
        void store.update('users', { login: 'ann' }, { profile: { email: to } }),
  ),
  fc.constantFrom('cy', 'dee').map(
    (login): Step =>
      (store) =>
        store.insert('users', { login, id: login.length + 7 }),
  ),
);

const allowance: fc.Arbitrary<Allowance> = fc.oneof(
  fc.record({
    entity: fc.constant('issues'),
    fields: fc.option(fc.subarray(['state', 'title', 'number'], { minLength: 1 }), {
      nil: undefined,
    }),
    where: fc.option(fc.record({ id }), { nil: undefined }),
  }),
  fc.record({ entity: fc.constant('users'), where: fc.constant({ login: 'ann' }) }),
  fc.record({ entity: fc.constant('users') }),
);

const check: fc.Arbitrary<ExplainingCheck> = fc.oneof(
  fc.tuple(id, state).map(([key, to]) => ({
    name: 'is so',
    entity: 'issues',
    where: { id: key, state: to },
  })),
  id.map((key) => ({ name: 'is gone', entity: 'issues', where: { id: key }, count: 0 })),
);

type State = Map<string, Row>;

const stateOf = (store: WorldStore): State =>
  new Map(
    contract.entities.flatMap(({ name, primaryKey }) =>
      store.query(name).map((text): [string, Row] => {
        const row = JSON.parse(text) as Row;
        return [JSON.stringify([name, primaryKey.map((field) => row[field])]), row];
      }),
    ),
  );

const apply = (before: State, changes: readonly GradeChange[]): State => {
  const after = new Map(before);
  for (const { entity, key, change, fields } of changes) {
    const at = JSON.stringify([entity, Object.values(key)]);
    const row: Row = { ...before.get(at) };
    for (const [name, value] of Object.entries(fields)) {
      expect([name, row[name]]).toEqual([name, value.before]);
      if (Object.hasOwn(value, 'after')) row[name] = value.after;
      else delete row[name];
    }
    if (change === 'deleted') after.delete(at);
    else after.set(at, row);
  }
  return after;
};

const holds = (row: Row, where: Row = {}): boolean =>
  Object.entries(where).every(([field, wanted]) => row[field] === wanted);

/** Returns true if a field is unexplained by the rules as the documentation states them. */
const isUnexplained = (
  entity: string,
  [before, after]: readonly [Row | undefined, Row | undefined],
  { allow, checks }: { allow: readonly Allowance[]; checks: readonly ExplainingCheck[] },
): boolean => {
  const row = after ?? before ?? {};
  const allowed = allow.filter((one) => one.entity === entity && holds(row, one.where));
  if (allowed.some(({ fields }) => fields === undefined)) return false;
  const asked = checks.filter((one) => one.entity === entity && holds(row, one.where));
  if (after === undefined) return !asked.some(({ count }) => count === 0);
  const wanted = asked.filter(({ count }) => count !== 0);
  if (before === undefined) return wanted.length === 0;
  const named = [
    ...allowed.flatMap(({ fields = [] }) => fields),
    ...wanted.flatMap(({ where = {} }) => Object.keys(where)),
  ];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].some(
    (field) => !named.includes(field) && !isDeepStrictEqual(before[field], after[field]),
  );
};

it('the changes of a grade lead from the state before to the present state, and a change is unexplained exactly if no check explains it and the task does not allow it', async () => {
  const given = fc.record({
    seed: fc.array(step, { maxLength: 4 }),
    steps: fc.array(step, { maxLength: 8 }),
    allow: fc.array(allowance, { maxLength: 3 }),
    checks: fc.array(check, { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(given, async ({ seed, steps, allow, checks }) => {
      const store = openSampleStore();
      const perform = async (list: readonly Step[]): Promise<void> => {
        for (const run of list) {
          await store
            .atomically(() => run(store))
            .catch((error) => expect(error).toBeInstanceOf(StoreRefusal));
        }
      };
      store.mark('base');
      await perform(seed);
      store.mark('task');
      const before = stateOf(store);
      await perform(steps);
      const after = stateOf(store);
      const session = { world: { store, contract }, links: new Map() } as unknown as Session;
      const question = { changes: { allow: allow as [] }, checks };
      const found = (await explainChanges(session, question)).page();
      const applied = apply(before, found.changes.rows);
      expect(Object.fromEntries(applied)).toEqual(Object.fromEntries(after));
      const unexplained = [...new Set([...before.keys(), ...after.keys()])].filter((key) => {
        const rows = [before.get(key), after.get(key)] as const;
        if (isDeepStrictEqual(...rows)) return false;
        return isUnexplained((JSON.parse(key) as [string])[0], rows, { allow, checks });
      });
      const reported = found.unexplained.map(({ entity, key }) =>
        JSON.stringify([entity, Object.values(key)]),
      );
      expect(reported.sort()).toEqual(unexplained.sort());
      expect(found.changes.unexplained).toBe(unexplained.length);
      store.close();
    }),
    { numRuns: 200 },
  );
});
