/** Tests the sources from which a store opens, its writes, and the marks to which it rolls back. */
import { describe, expect, it } from 'vitest';
import { sampleContract, sampleRows } from '#test/support/worlds/sample-contract.ts';
import {
  builtSample as built,
  openSampleStore,
  refusalOf,
} from '#test/support/worlds/sample-store.ts';
import { buildSnapshot } from './snapshot.ts';

const contract = sampleContract();

describe('snapshot', () => {
  it('opens with the rows, texts and digest from which it was built', () => {
    const store = openSampleStore();
    expect(store.counts()).toEqual({ users: 2, repos: 2, issues: 3 });
    expect(built.counts).toEqual(store.counts());
    expect(store.query('issues')).toEqual(sampleRows.issues?.map((row) => JSON.stringify(row)));
    expect(store.digest()).toBe(built.digest);
    expect(store.scanDigest()).toBe(built.digest);
  });

  it('does not depend on the order of entities', () => {
    const { users = [], repos = [], issues = [] } = sampleRows;
    expect(buildSnapshot(contract, { issues, repos, users }).digest).toBe(built.digest);
  });

  it('is not built if a row is refused, and the error names entity, index and field of the row', async () => {
    const wrongShape = { ...sampleRows, users: [...(sampleRows.users ?? []), { login: 'cy' }] };
    expect(await refusalOf(() => buildSnapshot(contract, wrongShape))).toMatchObject({
      entity: 'users',
      index: 2,
      kind: 'shape',
    });
    const dangling = { ...sampleRows, repos: [{ owner: 'zed', name: 'x', private: true }] };
    expect(await refusalOf(() => buildSnapshot(contract, dangling))).toMatchObject({
      entity: 'repos',
      index: 0,
      kind: 'missing_reference',
      field: 'owner',
    });
    const unknown = { ...sampleRows, wikis: [{}] };
    expect(await refusalOf(() => buildSnapshot(contract, unknown))).toMatchObject({
      entity: 'wikis',
      kind: 'unknown_entity',
    });
  });
});

describe('writing', () => {
  it('returns the changes row by row', async () => {
    const store = openSampleStore();
    const { value, changes, rows } = await store.atomically(() => {
      store.insert('users', { login: 'cy', id: 3 });
      store.remove('issues', { id: 12 });
      store.insert('users', { login: 'brief', id: 4 });
      store.remove('users', { login: 'brief' });
      store.update('issues', { id: 10 }, { title: 'x' });
      store.update('issues', { id: 10 }, { title: 'Crash at start' });
      return store.update('issues', { id: 11 }, { assignee: 'cy' });
    });
    expect(JSON.parse(value)).toMatchObject({ id: 11, assignee: 'cy' });
    expect(rows).toEqual([
      { entity: 'users', key: { login: 'cy' }, change: 'inserted' },
      { entity: 'issues', key: { id: 12 }, change: 'deleted' },
      { entity: 'issues', key: { id: 11 }, change: 'updated', fields: ['assignee'] },
    ]);
    expect(changes).toEqual({
      users: { inserted: 1, updated: 0, deleted: 0 },
      issues: { inserted: 0, updated: 1, deleted: 1 },
    });
    expect(store.digest()).toBe(store.scanDigest());
  });

  it('refuses rows that violate the contract or conflict with another row, and names the field', async () => {
    const store = openSampleStore();
    const refused = (work: () => unknown) => refusalOf(() => store.atomically(work));
    expect(await refused(() => store.insert('users', { login: 'ann', id: 9 }))).toMatchObject({
      kind: 'duplicate',
      field: 'login',
    });
    expect(await refused(() => store.insert('users', { login: 'z', id: 1 }))).toMatchObject({
      kind: 'duplicate',
      field: 'id',
    });
    const profile = { email: 'ann@example.test' };
    expect(await refused(() => store.update('users', { login: 'bob' }, { profile }))).toMatchObject(
      { kind: 'duplicate', pointer: '/profile/email' },
    );
    expect(await refused(() => store.insert('users', { login: 'z', id: 'q' }))).toMatchObject({
      kind: 'shape',
      pointer: '/id',
    });
    expect(await refused(() => store.update('issues', { id: 99 }, {}))).toMatchObject({
      kind: 'not_found',
    });
    expect(store.digest()).toBe(built.digest);
  });

  it('checks foreign keys when the transaction ends, in both directions', async () => {
    const store = openSampleStore();
    await store.atomically(() => {
      store.insert('repos', { owner: 'late', name: 'r', private: false });
      store.insert('users', { login: 'late', id: 7 });
    });
    const refused = (work: () => unknown) => refusalOf(() => store.atomically(work));
    expect(await refused(() => store.remove('users', { login: 'ann' }))).toMatchObject({
      entity: 'users',
      kind: 'referenced',
    });
    expect(await refused(() => store.update('issues', { id: 10 }, { repo: 'gone' }))).toMatchObject(
      {
        kind: 'missing_reference',
        field: 'owner',
      },
    );
    await store.atomically(() => {
      store.remove('repos', { owner: 'late', name: 'r' });
      store.remove('users', { login: 'late' });
    });
    expect(store.digest()).toBe(built.digest);
  });

  it('refuses a reference to a missing row at once, if the caller requests that', async () => {
    const store = openSampleStore();
    const late = { owner: 'late', name: 'r', private: false };
    await store.atomically(async () => {
      const refused = await refusalOf(() => store.insert('repos', late, 'now'));
      expect(refused).toMatchObject({ kind: 'missing_reference', entity: 'repos', field: 'owner' });
      const moved = () => store.update('issues', { id: 10 }, { assignee: 'late' }, 'now');
      expect(await refusalOf(moved)).toMatchObject({
        kind: 'missing_reference',
        field: 'assignee',
      });
      expect(store.get('repos', { owner: 'late', name: 'r' })).toBeUndefined();
      store.insert('users', { login: 'late', id: 7 }, 'now');
      store.insert('repos', late, 'now');
      store.update('issues', { id: 10 }, { assignee: 'late' }, 'now');
    });
    expect(store.counts()).toMatchObject({ users: 3, repos: 3 });
  });

  it('checks references within one entity when the transaction ends', async () => {
    const store = openSampleStore();
    const copy = JSON.parse(store.get('issues', { id: 10 }) ?? '{}');
    const issue = (id: number, more: object) => ({ ...copy, id, number: id, ...more });
    await store.atomically(() => {
      store.insert('issues', issue(50, { duplicate_of: 51 }), 'now');
      store.insert('issues', issue(51, { duplicate_of: 50 }), 'now');
    });
    const alone = () =>
      store.atomically(() => store.insert('issues', issue(60, { duplicate_of: 61 }), 'now'));
    expect(await refusalOf(alone)).toMatchObject({
      kind: 'missing_reference',
      field: 'duplicate_of',
    });
  });

  it('allows a change of a primary key to which no row refers', async () => {
    const store = openSampleStore();
    const { rows } = await store.atomically(() => store.update('issues', { id: 11 }, { id: 21 }));
    expect(rows.map(({ key, change }) => [key.id, change])).toEqual([
      [11, 'deleted'],
      [21, 'inserted'],
    ]);
    const rekey = () =>
      store.atomically(() => store.update('users', { login: 'bob' }, { login: 'b' }));
    expect((await refusalOf(rekey)).kind).toBe('referenced');
    const onto = () => store.atomically(() => store.update('issues', { id: 21 }, { id: 12 }));
    expect((await refusalOf(onto)).kind).toBe('duplicate');
  });

  it('counts uncommitted rows only within their transaction', async () => {
    const store = openSampleStore();
    const insert = (login: string, id: number) => store.insert('users', { login, id });
    await store.atomically(() => {
      expect(store.count('users')).toBe(2);
      insert('cy', 3);
      expect(store.count('users')).toBe(3);
    });
    store.mark('base');
    const failing = store.atomically(() => {
      insert('di', 4);
      store.remove('users', { login: 'cy' });
      expect(store.count('users')).toBe(3);
      insert('ed', 5);
      throw new Error(`${store.count('users')} users`);
    });
    await expect(failing).rejects.toThrow('4 users');
    expect(store.count('users')).toBe(3);
    await store.atomically(() => insert('flo', 6));
    expect(store.count('users')).toBe(4);
    store.rollBackTo('base');
    expect(store.count('users')).toBe(3);
    expect(() => store.count('peple')).toThrow('peple');
  });

  it('needs a transaction, and refuses a transaction inside another', async () => {
    const store = openSampleStore();
    expect(() => store.insert('users', { login: 'z', id: 8 })).toThrow('needs a transaction');
    await expect(store.atomically(() => store.atomically(() => 1))).rejects.toThrow(
      'cannot be nested',
    );
    await expect(store.exclusively(() => store.atomically(() => 1))).rejects.toThrow(
      'cannot be nested',
    );
  });

  it('does not interleave two callers', async () => {
    const store = openSampleStore();
    const gate = Promise.withResolvers<void>();
    const first = store.atomically(async () => {
      store.insert('users', { login: 'cy', id: 3 });
      await gate.promise;
      throw new Error('changed my mind');
    });
    const second = store.exclusively(() => store.count('users'));
    gate.resolve();
    await expect(first).rejects.toThrow('changed my mind');
    expect(await second).toBe(2);
  });
});

describe('marks', () => {
  it('restore the state of the task and of the base, repeatedly', async () => {
    const store = openSampleStore();
    store.mark('base');
    for (const login of ['one', 'two']) {
      await store.atomically(() => store.insert('users', { login, id: 3 }));
      const seeded = store.digest();
      store.mark('task');
      for (let round = 0; round < 3; round += 1) {
        await store.atomically(() => store.update('issues', { id: 10 }, { title: `${round}` }));
        store.rollBackTo('task');
        expect([store.digest(), store.scanDigest()]).toEqual([seeded, seeded]);
      }
      store.rollBackTo('base');
      expect([store.digest(), store.scanDigest()]).toEqual([built.digest, built.digest]);
    }
  });

  it('are refused if they are set in the wrong order', () => {
    const store = openSampleStore();
    expect(() => store.mark('task')).toThrow('needs mark "base"');
    store.mark('base');
    expect(() => store.mark('base')).toThrow('already');
    expect(() => store.rollBackTo('task')).toThrow('no mark');
  });
});
