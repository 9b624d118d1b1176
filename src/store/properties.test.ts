/**
 * Tests properties of the store that hold whatever a caller does: random work over the sample contract, in transactions
 * of which some fail at their end.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { sampleContract, sampleRows } from '#test/support/worlds/sample-contract.ts';
import { openStore } from '#test/support/worlds/sample-store.ts';
import { StoreRefusal } from './refusal.ts';
import { buildSnapshot } from './snapshot.ts';
import { keyFrom } from './tables/keys.ts';
import type { WorldStore } from './world-store.ts';

const contract = sampleContract();
const { bytes, digest: baseDigest } = buildSnapshot(contract, sampleRows);

const login = fc.constantFrom('ann', 'bob', 'cy', 'dee');
const repo = fc.constantFrom('engine', 'site');
const number = fc.integer({ min: 1, max: 4 });
const issueId = fc.integer({ min: 10, max: 15 });

const issue = fc.record({
  id: issueId,
  owner: login,
  repo,
  number,
  title: fc.string({ maxLength: 5 }),
  state: fc.constantFrom('open', 'closed'),
  assignee: fc.option(login),
  duplicate_of: fc.option(issueId),
});

const step = fc.oneof(
  fc.record({ login, id: number }).map((row) => (store: WorldStore) => store.insert('users', row)),
  fc
    .record({ owner: login, name: repo, private: fc.boolean() })
    .map((row) => (store: WorldStore) => store.insert('repos', row)),
  issue.map((row) => (store: WorldStore) => store.insert('issues', row)),
  fc.tuple(issueId, issue).map(
    ([id, patch]) =>
      (store: WorldStore) =>
        void store.update('issues', { id }, patch),
  ),
  login.map((key) => (store: WorldStore) => store.remove('users', { login: key })),
  fc
    .record({ owner: login, name: repo })
    .map((key) => (store: WorldStore) => store.remove('repos', key)),
  issueId.map((id) => (store: WorldStore) => store.remove('issues', { id })),
);

type Work = { steps: ((store: WorldStore) => void)[]; tolerant: boolean; fails: boolean };

const work: fc.Arbitrary<Work> = fc.record({
  steps: fc.array(step, { maxLength: 6 }),
  /** True if the work continues after a refusal, like a handler that catches it. */
  tolerant: fc.boolean(),
  fails: fc.boolean(),
});

const perform = (store: WorldStore, { steps, tolerant, fails }: Work) =>
  store.atomically(() => {
    for (const run of steps) {
      try {
        run(store);
      } catch (error) {
        if (!tolerant || !(error instanceof StoreRefusal)) throw error;
      }
    }
    if (fails) throw new StoreRefusal({ entity: 'users', kind: 'shape', detail: 'on purpose' });
  });

const rowsOf = (store: WorldStore, entity: string): Row[] =>
  store.query(entity).map((text) => JSON.parse(text) as Row);

const countedRows = (store: WorldStore): Record<string, number> =>
  Object.fromEntries(contract.entities.map(({ name }) => [name, store.count(name)]));

/** Returns all rows, by entity and canonical key. */
const stateOf = (store: WorldStore): Map<string, string> =>
  new Map(
    contract.entities.flatMap(({ name, primaryKey }) =>
      store.query(name).map((text) => {
        return [`${name} ${keyFrom(JSON.parse(text) as Row, primaryKey)}`, text] as const;
      }),
    ),
  );

const danglingReferences = (store: WorldStore): unknown[] =>
  contract.entities.flatMap((entity) =>
    entity.relationships.flatMap(({ fields, target }) => {
      const keyFields = contract.entities.find(({ name }) => name === target)?.primaryKey ?? [];
      return rowsOf(store, entity.name)
        .filter((row) => fields.every((field) => row[field] != null))
        .map((row) => Object.fromEntries(keyFields.map((key, i) => [key, row[fields[i] ?? '']])))
        .filter((key) => store.get(target, key) === undefined);
    }),
  );

it('a failed transaction changes nothing, and a committed one leaves no dangling key', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(work, { maxLength: 8 }), async (works) => {
      const store = openStore({ contract, snapshot: bytes });
      for (const each of works) {
        const before = store.digest();
        try {
          const { rows } = await perform(store, each);
          expect(store.digest() === before).toBe(rows.length === 0);
        } catch (error) {
          expect(error).toBeInstanceOf(StoreRefusal);
          expect(store.digest()).toBe(before);
        }
        expect(store.scanDigest()).toBe(store.digest());
        expect(store.counts()).toEqual(countedRows(store));
        expect(danglingReferences(store)).toEqual([]);
      }
      store.close();
    }),
    { numRuns: 150 },
  );
});

it('a return to a mark restores the state, digest and counts', async () => {
  const works = fc.array(work, { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(works, works, async (seed, session) => {
      const store = openStore({ contract, snapshot: bytes });
      const performAll = async (list: Work[]): Promise<void> => {
        for (const each of list) await perform(store, each).catch(() => undefined);
      };
      store.mark('base');
      await performAll(seed);
      store.mark('task');
      const seeded = store.digest();
      const counted = store.counts();
      await performAll(session);
      expect(store.scanDigest()).toBe(store.digest());
      expect(store.counts()).toEqual(countedRows(store));
      store.rollBackTo('task');
      expect([store.counts(), countedRows(store)]).toEqual([counted, counted]);
      expect([store.digest(), store.scanDigest()]).toEqual([seeded, seeded]);
      await performAll(session);
      store.rollBackTo('base');
      expect([store.digest(), store.scanDigest()]).toEqual([baseDigest, baseDigest]);
      expect(store.counts()).toEqual(countedRows(store));
      store.close();
    }),
    { numRuns: 80 },
  );
});

it('the changes since the task began, applied to the state then, give the present state', async () => {
  const works = fc.array(work, { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(works, works, works, async (seed, first, second) => {
      const store = openStore({ contract, snapshot: bytes });
      const performAll = async (list: Work[]): Promise<void> => {
        for (const each of list) await perform(store, each).catch(() => undefined);
      };
      store.mark('base');
      await performAll(seed);
      store.mark('task');
      const before = stateOf(store);
      for (const session of [first, second]) {
        await performAll(session);
        const after = new Map(before);
        for (const { entity, key, ...change } of store.changesSinceTask()) {
          const id = `${entity} ${key}`;
          expect(change.before).toBe(before.get(id) ?? null);
          expect(change.before).not.toBe(change.after);
          if (change.after === null) after.delete(id);
          else after.set(id, change.after);
        }
        expect(Object.fromEntries(after)).toEqual(Object.fromEntries(stateOf(store)));
        store.rollBackTo('task');
        expect([...store.changesSinceTask()]).toEqual([]);
      }
      store.close();
    }),
    { numRuns: 100 },
  );
});
