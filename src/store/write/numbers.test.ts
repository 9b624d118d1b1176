import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { sampleContract, sampleRows } from '#test/support/worlds/sample-contract.ts';
import { openSampleStore } from '#test/support/worlds/sample-store.ts';
import { freezeRows } from '../frozen.ts';
import type { WorldStore } from '../world-store.ts';

const contract = sampleContract();

const engine = { owner: 'ann', repo: 'engine' };
const site = { owner: 'bob', repo: 'site' };
const issue = (id: number, number: number, at: Row = engine): Row => ({
  ...at,
  id,
  number,
  title: 'x',
  state: 'open',
});
const next = (store: WorldStore, within?: Row): number =>
  within === undefined
    ? store.nextNumber('issues', 'id')
    : store.nextNumber('issues', 'number', within);
const remove = (store: WorldStore, id: number) =>
  store.atomically(() => store.remove('issues', { id }));

describe('the next number', () => {
  it('is one more than the largest number that rows have or had, in an entity and within the fields of a key', async () => {
    const store = openSampleStore();
    expect([next(store), next(store, engine), next(store, site)]).toEqual([13, 3, 2]);
    await remove(store, 12);
    await remove(store, 11);
    expect([next(store), next(store, engine), next(store, site)]).toEqual([13, 3, 2]);
    expect(next(store, { repo: 'site', owner: 'bob' })).toBe(2);
    expect(next(store, { owner: 'ann', repo: 'other' })).toBe(1);
    expect(next(store, { '/repo': 'site', '/owner': 'bob' })).toBe(2);
  });

  it('is not reused when a row changes its number or moves to other fields', async () => {
    const store = openSampleStore();
    await store.atomically(() => {
      store.update('issues', { id: 11 }, { number: 9 });
      store.update('issues', { id: 11 }, { number: 4 });
      store.update('issues', { id: 12 }, { ...engine, number: 5, id: 30 });
      store.update('issues', { id: 30 }, { id: 20 });
    });
    expect([next(store), next(store, engine), next(store, site)]).toEqual([31, 10, 2]);
  });

  it('exceeds the numbers of inserted rows, and is not reserved by a call of nextNumber', async () => {
    const store = openSampleStore();
    await remove(store, 12);
    await store.atomically(() => store.insert('issues', issue(400, 7)));
    expect([next(store), next(store), next(store, engine)]).toEqual([401, 401, 8]);
  });

  it('is the same again after the transaction that used it has failed', async () => {
    const store = openSampleStore();
    const failed = store.atomically(() => {
      store.insert('issues', issue(13, 3));
      store.remove('issues', { id: 13 });
      expect(next(store)).toBe(14);
      throw new Error('changed my mind');
    });
    await expect(failed).rejects.toThrow('changed my mind');
    expect([next(store), next(store, engine)]).toEqual([13, 3]);
  });

  it('stays the same after a failed transaction that only dropped the recorded numbers', async () => {
    const store = openSampleStore();
    await remove(store, 12);
    const failed = store.atomically(() => {
      store.forgetNumbers();
      expect(next(store)).toBe(12);
      throw new Error('changed my mind');
    });
    await expect(failed).rejects.toThrow('changed my mind');
    expect(next(store)).toBe(13);
    await store.atomically(store.forgetNumbers);
    expect(next(store)).toBe(12);
  });

  it('is restored when the store is rolled back to a mark', async () => {
    const store = openSampleStore();
    store.mark('base');
    await store.atomically(() => store.insert('issues', issue(50, 50)));
    await remove(store, 50);
    store.mark('task');
    await store.atomically(() => store.insert('issues', issue(60, 60)));
    await remove(store, 60);
    expect([next(store), next(store, engine)]).toEqual([61, 61]);
    store.rollBackTo('task');
    expect([next(store), next(store, engine)]).toEqual([51, 51]);
    store.rollBackTo('base');
    expect([next(store), next(store, engine)]).toEqual([13, 3]);
  });

  it('is the same in a frozen copy', async () => {
    const store = openSampleStore();
    await remove(store, 12);
    const held = await freezeRows(contract, () => store, 16 * 2 ** 20);
    const numbers = [held.nextNumber('issues', 'id'), held.nextNumber('issues', 'number', site)];
    expect(numbers).toEqual([13, 2]);
    held.close();
  });

  describe('within the referenced row', () => {
    const repo = { owner: 'bob', name: 'site' };
    const anew = { ...repo, private: false };

    it('restarts at 1 when that row is deleted and inserted again, and continues in the whole entity', async () => {
      const store = openSampleStore();
      await store.atomically(() => store.insert('issues', issue(40, 40, site)));
      await remove(store, 40);
      await remove(store, 12);
      expect(next(store, site)).toBe(41);
      await store.atomically(() => store.remove('repos', repo));
      expect(next(store, site)).toBe(1);
      await store.atomically(() => store.insert('repos', anew));
      expect([next(store, site), next(store)]).toEqual([1, 41]);
    });

    it('restarts in whatever order the row and its children are deleted, also in one transaction', async () => {
      const store = openSampleStore();
      await store.atomically(() => {
        store.remove('repos', repo);
        store.remove('issues', { id: 12 });
        store.insert('repos', anew);
        expect(next(store, site)).toBe(1);
      });
      expect([next(store, site), next(store, engine)]).toEqual([1, 3]);
    });

    it('continues when that row changes its key, and restarts for a new row with the old key', async () => {
      for (const isFirst of [true, false]) {
        const store = openSampleStore();
        await store.atomically(() => store.insert('issues', issue(40, 40, site)));
        await remove(store, 40);
        const rename = () => store.update('repos', repo, { name: 'page' });
        await store.atomically(() => {
          if (isFirst) rename();
          store.update('issues', { id: 12 }, { repo: 'page' });
          if (!isFirst) rename();
          store.insert('repos', anew);
        });
        expect([next(store, { ...site, repo: 'page' }), next(store, site)]).toEqual([41, 1]);
      }
    });

    it('continues when the deletion of that row fails', async () => {
      const store = openSampleStore();
      await store.atomically(() => store.insert('issues', issue(40, 40, site)));
      await remove(store, 40);
      const failed = store.atomically(() => store.remove('repos', repo));
      await expect(failed).rejects.toMatchObject({ kind: 'referenced' });
      expect(next(store, site)).toBe(41);
    });
  });

  it('is refused for fields that cannot be counted, or when no number is left', async () => {
    const store = openSampleStore();
    expect(() => store.nextNumber('issues', 'numbr')).toThrow('did you mean "number"?');
    expect(() => store.nextNumber('issues', 'number', { owner: 'ann' })).toThrow(
      'issues: numbers of "number" are counted in the whole entity, or within owner, repo; a primary key or unique list of "number" and other fields',
    );
    expect(() => store.nextNumber('users', 'id', { login: 'ann' })).toThrow(
      'numbers of "id" are counted in the whole entity; a primary key',
    );
    const last = Number.MAX_SAFE_INTEGER;
    await store.atomically(() => store.insert('users', { login: 'cy', id: last }));
    await store.atomically(() => store.remove('users', { login: 'cy' }));
    expect(() => store.nextNumber('users', 'id')).toThrow(`there is no number after ${last}`);
  });
});

it('no number is reused, whatever is inserted, changed and deleted', async () => {
  const step = fc.record({
    kind: fc.constantFrom('insert', 'remove', 'renumber'),
    at: fc.constantFrom(engine, site),
    pick: fc.nat(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const store = openSampleStore();
      const seen = new Set(sampleRows.issues?.map(({ id }) => id));
      const numbers = new Set(sampleRows.issues?.map((row) => `${row.repo} ${row.number}`));
      for (const { kind, at, pick } of steps) {
        await store.atomically(() => {
          const rows = store.query('issues').map((text) => JSON.parse(text) as Row);
          const row = rows[pick % Math.max(rows.length, 1)];
          const [id, number] = [next(store), next(store, at)];
          expect([seen.has(id), numbers.has(`${at.repo} ${number}`)]).toEqual([false, false]);
          if (kind === 'insert' || row === undefined) store.insert('issues', issue(id, number, at));
          else if (rows.some(({ duplicate_of: of }) => of === row.id)) return;
          else if (kind === 'remove') store.remove('issues', { id: row.id });
          else store.update('issues', { id: row.id }, { ...at, id, number });
          for (const now of store.query('issues').map((text) => JSON.parse(text) as Row)) {
            seen.add(now.id);
            numbers.add(`${now.repo} ${now.number}`);
          }
        });
      }
      store.close();
    }),
    { numRuns: 100 },
  );
});
