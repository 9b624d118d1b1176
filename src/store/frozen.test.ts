import { expect, it } from 'vitest';
import { sampleContract } from '#test/support/worlds/sample-contract.ts';
import { openSampleStore } from '#test/support/worlds/sample-store.ts';
import { freezeRows } from './frozen.ts';

const contract = sampleContract();
const mebibyte = 2 ** 20;

it('a frozen copy keeps its rows and their order, whatever the store does afterwards', async () => {
  const store = openSampleStore();
  const frozen = await freezeRows(contract, () => store, 16 * mebibyte);
  const before = store.query('issues');
  await store.atomically(() => store.update('issues', { id: 10 }, { title: 'changed' }));
  expect(frozen.query('issues')).toEqual(before);
  expect(store.query('issues')).not.toEqual(before);
  const byState = [{ path: ['state'], match: 'equals' as const, value: 'open' }];
  const orderBy = [{ path: ['number'], descending: true }];
  expect(frozen.query('issues', { where: byState, orderBy, limit: 1 })).toHaveLength(1);
  expect(frozen.get('issues', { id: 10 })).toBe(before[0]);
  frozen.close();
  store.close();
});

it('a frozen copy that exceeds its size limit is refused with a message', async () => {
  const store = openSampleStore();
  await store.atomically(() => {
    for (let id = 100; id < 1_100; id += 1) {
      store.insert('users', { login: `user-${id}-${'x'.repeat(1_000)}`, id });
    }
  });
  await expect(freezeRows(contract, () => store, mebibyte)).rejects.toMatchObject({
    kind: 'full',
    detail: 'a copy of the rows takes more than 1 MiB',
  });
  const frozen = await freezeRows(contract, () => store, 16 * mebibyte);
  expect(frozen.count('users')).toBe(store.count('users'));
  frozen.close();
  store.close();
});

it('a frozen copy whose rows fit but whose table of numbers does not is refused with the same message', async () => {
  const none = { list: () => ({ rows: [], more: false, first: undefined, last: undefined }) };
  await expect(freezeRows(contract, () => none, 4096)).rejects.toMatchObject({ kind: 'full' });
});
