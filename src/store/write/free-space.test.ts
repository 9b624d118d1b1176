/** Tests a world that has reached its size limit. */
import { expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { sampleContract, sampleEntity, sampleRows } from '#test/support/worlds/sample-contract.ts';
import { openStore } from '#test/support/worlds/sample-store.ts';
import { buildSnapshot } from '../snapshot.ts';
import type { WorldStore } from '../world-store.ts';

const contract = sampleContract();
const { bytes, digest } = buildSnapshot(contract, sampleRows);

const maxBytes = 2 ** 20;

const openSmall = (): WorldStore => {
  const store = openStore({ contract, snapshot: bytes, maxBytes });
  store.mark('base');
  store.mark('task');
  return store;
};

const engine = { owner: 'ann', repo: 'engine' };
const issueOf = (id: number, letters: number): Row => ({
  ...{ ...engine, id, number: id, state: 'open' },
  title: 'x'.repeat(letters),
});

/** Inserts rows with ascending numbers from `from` on until one is refused; returns the number of rows then. */
const untilFull = (from: number, insert: (id: number) => unknown): number => {
  for (let id = from; ; id += 1) {
    try {
      insert(id);
    } catch (error) {
      expect(error).toMatchObject({ kind: 'full', detail: expect.stringContaining('delete rows') });
      return id - from;
    }
  }
};

const fill = (store: WorldStore, from: number, letters: number): number =>
  untilFull(from, (id) => store.insert('issues', issueOf(id, letters)));

it('a full store refuses a row and loses nothing: rows, marks, and earlier writes of the same call', async () => {
  const store = openSmall();
  const { value: held } = await store.atomically(() => fill(store, 100, 3_000));
  expect(held).toBeGreaterThan(50);
  expect(store.count('issues')).toBe(held + 3);
  const more = store.atomically(() => store.insert('issues', issueOf(9_999, 500_000)));
  await expect(more).rejects.toMatchObject({ kind: 'full' });
  expect(store.scanDigest()).toBe(store.digest());
  store.rollBackTo('task');
  expect(store.digest()).toBe(digest);
  expect((await store.atomically(() => fill(store, 100, 3_000))).value).toBe(held);
  store.rollBackTo('base');
  expect(store.scanDigest()).toBe(digest);
  store.close();
});

it('a full store can still delete all its rows, and reuses no number afterwards', async () => {
  const store = openSmall();
  const ofSite = store.nextNumber('issues', 'number', { owner: 'bob', repo: 'site' });
  const { value: held } = await store.atomically(() => fill(store, 100, 1));
  expect(held).toBeGreaterThan(1_000);
  for (let id = 99 + held; id >= 100; id -= 1) {
    await store.atomically(() => store.remove('issues', { id }));
  }
  expect(store.nextNumber('issues', 'number', engine)).toBe(100 + held);
  expect(store.nextNumber('issues', 'id')).toBe(100 + held);
  expect(store.nextNumber('issues', 'number', { owner: 'bob', repo: 'site' })).toBe(ofSite);
  store.close();
});

it('a full store continues every sequence of numbers, even if the records of used numbers take more space than the deleted rows', async () => {
  const name = `notes_${'x'.repeat(200)}`;
  const counted = Array.from({ length: 4 }, (_, index) => `n${index}`);
  const integer = { type: 'integer' };
  const properties = Object.fromEntries(['id', 'at', ...counted].map((field) => [field, integer]));
  const entity = sampleEntity(name, {
    properties: { ...properties, group: { type: 'string' } },
    unique: counted.map((field) => [['group'], [field]]),
  });
  const store = openStore({ contract: sampleContract({ entities: [entity] }), maxBytes });
  const numbers = Object.fromEntries(counted.map((field) => [field, 3]));
  const insert = (id: number) =>
    store.insert(name, { ...numbers, id, at: 1_700_000_000_000, group: `g${id}` });
  const { value: held } = await store.atomically(() => untilFull(1, insert));
  await store.atomically(() => {
    for (let id = 1; id <= held; id += 1) store.remove(name, { id });
  });
  const notes = store.keptNumbers(name);
  expect(notes.length).toBeLessThan(counted.length * held);
  const next = [1, held].flatMap((id) => [
    store.nextNumber(name, 'n0', { group: `g${id}` }),
    store.nextNumber(name, 'n3', { group: `g${id}` }),
  ]);
  expect([store.nextNumber(name, 'id'), ...next]).toEqual([held + 1, 4, 4, 4, 4]);
  store.close();
});
