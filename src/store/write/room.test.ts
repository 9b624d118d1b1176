/** What a world does that has reached its size limit. */
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { sampleContract, sampleRows } from '#test/support/sample-contract.ts';
import { buildSnapshot } from '../snapshot.ts';
import { createStatements } from '../tables/statements.ts';
import { openWorldStore, type WorldStore } from '../world-store.ts';
import { createKeptNumbers } from './kept-numbers.ts';

const contract = sampleContract();
const { bytes, digest } = buildSnapshot(contract, sampleRows);

const openSmall = (): WorldStore => {
  const store = openWorldStore({ contract, snapshot: bytes, maxBytes: 2 ** 20 });
  store.mark('base');
  store.mark('task');
  return store;
};

const engine = { owner: 'ann', repo: 'engine' };
const issueOf = (id: number, letters: number): Row => ({
  ...{ ...engine, id, number: id, state: 'open' },
  title: 'x'.repeat(letters),
});

/** Inserts issues from a number on until one is refused; how many there then are. */
const fill = (store: WorldStore, from: number, letters: number): number => {
  for (let id = from; ; id += 1) {
    try {
      store.insert('issues', issueOf(id, letters));
    } catch (error) {
      expect(error).toMatchObject({ kind: 'full', detail: expect.stringContaining('delete rows') });
      return id - from;
    }
  }
};

it('refuses a row and loses nothing: rows, marks, and what was written before in the same call', async () => {
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

it('deletes every row where nothing else goes, and no number comes back', async () => {
  const store = openSmall();
  const { value: held } = await store.atomically(() => fill(store, 100, 1));
  expect(held).toBeGreaterThan(1_000);
  for (let id = 99 + held; id >= 100; id -= 1) {
    await store.atomically(() => store.remove('issues', { id }));
  }
  expect(store.nextNumber('issues', 'number', engine)).toBe(100 + held);
  store.close();
});

it('keeps one note of numbers for each entity when there is room for no more', () => {
  const db = new DatabaseSync(':memory:');
  let hasRoom = true;
  const room = { take: () => hasRoom, measure: () => undefined };
  const kept = createKeptNumbers(db, createStatements(db), room);
  kept.put({ entity: 'issues', field: 'number', within: 'a', largest: 3 });
  hasRoom = false;
  for (const [index, within] of ['a', 'b', 'c'].entries()) {
    kept.put({ entity: 'issues', field: 'number', within, largest: 7 - index });
  }
  kept.put({ entity: 'users', field: 'id', within: '', largest: 4 });
  expect(kept.all()).toHaveLength(3);
  const largest = (entity: string, within: string) => kept.largest(entity, 'number', within);
  expect([largest('issues', 'a'), largest('issues', 'd'), largest('users', 'a')]).toEqual([
    7, 7, 4,
  ]);
  expect(largest('repos', 'a')).toBeUndefined();
  db.close();
});
