/** Tests the state at the mark `task` as a store returns it, and the differences between it and the present state. */
import { describe, expect, it } from 'vitest';
import { openSampleStore } from '#test/support/worlds/sample-store.ts';

const openAtTask = () => {
  const store = openSampleStore();
  store.mark('base');
  store.mark('task');
  return store;
};

describe('changes since the task began', () => {
  it('contain each changed row once, with its text before and after the change', async () => {
    const store = openAtTask();
    const before = store.get('issues', { id: 11 }) ?? '';
    await store.atomically(() => store.update('issues', { id: 11 }, { title: 'first' }));
    await store.atomically(() => {
      store.update('issues', { id: 11 }, { title: 'second' });
      store.insert('users', { login: 'cy', id: 3 });
      store.remove('issues', { id: 12 });
    });
    expect([...store.changesSinceTask()]).toEqual([
      { entity: 'users', key: '["cy"]', before: null, after: '{"login":"cy","id":3}' },
      {
        entity: 'issues',
        key: '[11]',
        before,
        after: before.replace(/"title":"[^"]*"/, '"title":"second"'),
      },
      { entity: 'issues', key: '[12]', before: expect.stringContaining('"id":12'), after: null },
    ]);
    expect(store.rowAtTask('issues', { id: 11 })).toBe(before);
    expect(store.rowAtTask('users', { login: 'cy' })).toBeUndefined();
    expect(store.rowAtTask('issues', { id: 10 })).toBe(store.get('issues', { id: 10 }));
    store.close();
  });

  it('do not contain rows that were changed back, inserted and deleted, or rolled back', async () => {
    const store = openAtTask();
    const { title } = JSON.parse(store.get('issues', { id: 10 }) ?? '');
    await store.atomically(() => store.update('issues', { id: 10 }, { title: 'x' }));
    await store.atomically(() => store.insert('users', { login: 'cy', id: 3 }));
    await store.atomically(() => store.update('issues', { id: 10 }, { title }));
    await store.atomically(() => store.remove('users', { login: 'cy' }));
    const failing = store.atomically(() => {
      store.remove('issues', { id: 12 });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect([...store.changesSinceTask()]).toEqual([]);
    store.close();
  });

  it('do not include the seed, and are empty after a rollback to the mark "task"', async () => {
    const store = openSampleStore();
    expect(() => [...store.changesSinceTask()]).toThrow('no mark "task"');
    store.mark('base');
    await store.atomically(() => {
      store.update('issues', { id: 10 }, { title: 'seeded' });
      store.insert('users', { login: 'seed', id: 9 });
    });
    store.mark('task');
    expect([...store.changesSinceTask()]).toEqual([]);
    await store.atomically(() => {
      store.update('issues', { id: 10 }, { title: 'later' });
      store.remove('users', { login: 'seed' });
    });
    expect([...store.changesSinceTask()].map(({ before }) => before)).toEqual([
      '{"login":"seed","id":9}',
      expect.stringContaining('"seeded"'),
    ]);
    store.rollBackTo('task');
    expect([...store.changesSinceTask()]).toEqual([]);
    store.rollBackTo('base');
    expect(() => [...store.changesSinceTask()]).toThrow('no mark "task"');
    store.mark('task');
    await store.atomically(() => store.update('issues', { id: 10 }, { title: 'anew' }));
    const [change] = store.changesSinceTask();
    expect(change?.before).not.toContain('seeded');
    store.close();
  });
});
