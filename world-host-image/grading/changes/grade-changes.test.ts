/** Tests which changes a grade explains, and which checks or allowances it names for them. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';
import { sampleContract } from '#test/support/worlds/sample-contract.ts';
import { openSampleStore } from '#test/support/worlds/sample-store.ts';
import type { GraderChanges } from '#wire/public-api/worlds/grader-changes.ts';
import type { Session } from '../../session/session.ts';
import type { ExplainingCheck } from './explain.ts';
import { explainChanges } from './grade-changes.ts';

const contract = sampleContract();
let store: WorldStore;

const open = (): WorldStore => {
  store = openSampleStore();
  store.mark('base');
  store.mark('task');
  return store;
};
afterEach(() => store.close());

const change = (work: (store: WorldStore) => void) => store.atomically(() => work(store));

type Parts = {
  checks?: Omit<ExplainingCheck, 'name'>[];
  changes?: GraderChanges;
  page?: { offset: number; limit: number };
};

const grade = async ({ checks = [], changes, page }: Parts = {}) => {
  const session = { world: { store, contract }, links: new Map() } as unknown as Session;
  const named = checks.map((check, index) => ({ name: `check ${index + 1}`, ...check }));
  return (await explainChanges(session, { checks: named, changes })).page(page);
};

/** Returns the unexplained changes: the unexplained fields of each row, by the row's key. */
const unexplained = async (parts: Parts): Promise<Record<string, string[]>> => {
  const { unexplained: rows, changes } = await grade(parts);
  expect(changes.unexplained).toBe(rows.length);
  return Object.fromEntries(
    rows.map(({ entity, key, fields }) => [
      [entity, ...Object.values(key)].join(' '),
      Object.keys(fields),
    ]),
  );
};

const issue = (id: number, parts: Row = {}): Row => ({
  id,
  owner: 'ann',
  repo: 'engine',
  number: id,
  title: 'new',
  state: 'open',
  ...parts,
});

describe('the changes of a grade', () => {
  it('list every row that differs, field by field', async () => {
    open();
    await change((rows) => {
      rows.update('issues', { id: 10 }, { state: 'closed', labels: ['x'] });
      rows.insert('users', { login: 'cy', id: 3 });
      rows.remove('issues', { id: 12 });
    });
    const { changes } = await grade();
    expect(changes).toMatchObject({ inserted: 1, updated: 1, deleted: 1, unexplained: 3 });
    expect(changes.rows).toMatchObject([
      {
        entity: 'users',
        key: { login: 'cy' },
        change: 'inserted',
        fields: { login: { after: 'cy' }, id: { after: 3 } },
        explainedBy: [],
      },
      {
        entity: 'issues',
        key: { id: 10 },
        change: 'updated',
        fields: { state: { before: 'open', after: 'closed' }, labels: { after: ['x'] } },
      },
      { entity: 'issues', key: { id: 12 }, change: 'deleted', fields: { id: { before: 12 } } },
    ]);
    expect(Object.keys(changes.rows[1]?.fields ?? {}).sort()).toEqual(['labels', 'state']);
  });

  it('are returned page by page, with counts of all changes', async () => {
    open();
    await change((rows) => {
      for (let id = 100; id < 112; id += 1) rows.insert('issues', issue(id));
    });
    const ids = async (offset: number) => {
      const { changes, unexplained: left } = await grade({ page: { offset, limit: 5 } });
      expect(left.map(({ key }) => key)).toEqual(changes.rows.map(({ key }) => key));
      return [changes.rows.map(({ key }) => key.id), changes.inserted, changes.next];
    };
    expect(await ids(0)).toEqual([[100, 101, 102, 103, 104], 12, 5]);
    expect(await ids(10)).toEqual([[110, 111], 12, undefined]);
  });

  it('show the beginning of a long value', async () => {
    open();
    await change((rows) => rows.update('issues', { id: 10 }, { title: 'long '.repeat(10_000) }));
    const { changes } = await grade();
    const { title } = changes.rows[0]?.fields ?? {};
    expect(title).toMatchObject({ cut: true, after: expect.stringMatching(/^"long long/) });
    expect(String(title?.after).length).toBeLessThan(2_100);
  });
});

describe('a check explains', () => {
  it('only those fields of an updated row that it names', async () => {
    open();
    await change((rows) => rows.update('issues', { id: 10 }, { state: 'closed', title: 'oh' }));
    const checks = [{ entity: 'issues', where: { id: 10, state: 'closed' } }];
    expect(await unexplained({ checks })).toEqual({ 'issues 10': ['title'] });
    const both = [...checks, { entity: 'issues', where: { id: 10 }, changed: ['title'] }];
    expect(await unexplained({ checks: both })).toEqual({});
    const { changes } = await grade({ checks: both });
    expect(changes.rows[0]?.explainedBy).toEqual(['check 1', 'check 2']);
  });

  it('only the part of an object at the path that it names', async () => {
    open();
    await change((rows) =>
      rows.update('users', { login: 'ann' }, { profile: { email: 'new@x.test' } }),
    );
    const where = { login: 'ann', 'profile.email': 'new@x.test' };
    expect(await unexplained({ checks: [{ entity: 'users', where }] })).toEqual({});
    await change((rows) =>
      rows.update('users', { login: 'ann' }, { profile: { email: 'new@x.test', name: 'A' } }),
    );
    expect(await unexplained({ checks: [{ entity: 'users', where }] })).toEqual({
      'users ann': ['profile'],
    });
  });

  it('at most as many new rows as it asks for', async () => {
    open();
    await change((rows) => {
      for (let id = 100; id < 104; id += 1) rows.insert('issues', issue(id));
    });
    const asked = (count?: ExplainingCheck['count']) =>
      unexplained({ checks: [{ entity: 'issues', where: { title: 'new' }, count }] });
    const left = async (count?: ExplainingCheck['count']) => Object.keys(await asked(count));
    expect(await left()).toEqual(['issues 101', 'issues 102', 'issues 103']);
    expect(await left({ min: 2 })).toEqual(['issues 102', 'issues 103']);
    expect(await left({ min: 1, max: 3 })).toEqual(['issues 103']);
    expect(await left(4)).toEqual([]);
    expect(await left(0)).toHaveLength(4);
  });

  it('no new row if enough rows existed before', async () => {
    open();
    await change((rows) => rows.insert('issues', issue(100)));
    const checks = [{ entity: 'issues', where: { state: 'open' } }];
    expect(await unexplained({ checks })).toHaveProperty('issues 100');
  });

  it('the row that the other checks select, not an earlier row', async () => {
    open();
    await change((rows) => {
      rows.insert('issues', issue(100, { title: 'wrong' }));
      rows.insert('issues', issue(101, { title: 'right' }));
    });
    const checks = [
      { entity: 'issues', where: { number: [100, 101] } },
      { entity: 'issues', where: { title: 'right' } },
    ];
    expect(Object.keys(await unexplained({ checks }))).toEqual(['issues 100']);
  });

  it('deleted rows, at most as many as the rows exceeded its maximum', async () => {
    open();
    await change((rows) => {
      rows.update('issues', { id: 10 }, { state: 'closed' });
      rows.remove('issues', { id: 12 });
    });
    const none = [{ entity: 'issues', where: { id: [10, 12], state: 'open' }, count: 0 }];
    const left = await unexplained({ checks: none });
    expect(left['issues 10']).toBeUndefined();
    const one = [{ entity: 'issues', where: { id: 12 }, count: 0 }];
    expect(Object.keys(await unexplained({ checks: one }))).toEqual(['issues 10']);
    const stillThere = [{ entity: 'issues', where: { id: 12 }, count: { min: 0 } }];
    expect(await unexplained({ checks: stillThere })).toHaveProperty('issues 12');
  });

  it('related rows: one for `any`, updates for `all`, rows that no longer match for `none`', async () => {
    open();
    await change((rows) => {
      rows.insert('issues', issue(100, { assignee: 'bob' }));
      rows.insert('issues', issue(101, { assignee: 'bob' }));
      rows.update('issues', { id: 10 }, { state: 'closed' });
    });
    const where = { owner: 'ann', name: 'engine' };
    const any = [
      {
        entity: 'repos',
        where,
        any: { entity: 'issues', where: { assignee: 'bob', title: 'new' } },
      },
    ];
    expect(Object.keys(await unexplained({ checks: any }))).toEqual(['issues 10', 'issues 101']);
    const all = [{ entity: 'repos', where, all: { entity: 'issues', where: { state: 'closed' } } }];
    expect(Object.keys(await unexplained({ checks: all }))).toEqual(['issues 100', 'issues 101']);
    const none = [
      { entity: 'repos', where, none: { entity: 'issues', where: { id: 10, state: 'open' } } },
    ];
    expect(Object.keys(await unexplained({ checks: none }))).toEqual(['issues 100', 'issues 101']);
    const other = [{ ...none[0], entity: 'repos', where: { owner: 'bob', name: 'site' } }];
    expect(Object.keys(await unexplained({ checks: other }))).toHaveLength(3);
  });
});

describe('a task allows', () => {
  it('updates of the fields that its allowance names, and any change if the allowance names none', async () => {
    open();
    await change((rows) => {
      rows.update('issues', { id: 10 }, { labels: ['x'], title: 'oh' });
      rows.insert('users', { login: 'cy', id: 3 });
    });
    const allow = [
      { entity: 'issues', fields: ['labels'], where: { id: 10 } },
      { entity: 'users' },
    ];
    expect(await unexplained({ changes: { allow } })).toEqual({ 'issues 10': ['title'] });
    const others = [
      { entity: 'issues', where: { id: 11 } },
      { entity: 'users', fields: ['id'] },
    ];
    expect(Object.keys(await unexplained({ changes: { allow: others } }))).toEqual([
      'users cy',
      'issues 10',
    ]);
  });
});

describe('a check of rows with related rows', () => {
  it('explains the deletion of a row that had the related rows, and of no other row', async () => {
    open();
    // The check allows no open issue that another one duplicates. Issue 12 duplicates 10, and none duplicates 11.
    const repeated = { entity: 'issues', by: ['duplicate_of'] };
    const checks = [{ entity: 'issues', where: { state: 'open' }, any: repeated, count: 0 }];
    const closing = (id: number) => (rows: WorldStore) => {
      rows.update('issues', { id }, { state: 'closed' });
    };
    await change(closing(11));
    expect(await unexplained({ checks })).toEqual({ 'issues 11': ['state'] });
    await change(closing(10));
    expect(await unexplained({ checks })).toEqual({ 'issues 11': ['state'] });
  });

  it('considers the related rows that existed when the task began, even if they have been deleted', async () => {
    open();
    const checks = [
      { entity: 'users', where: { login: 'cy' }, none: { entity: 'repos' }, count: 0 },
      { entity: 'repos', where: { private: true }, any: { entity: 'issues' }, count: 0 },
    ];
    await change((rows) => {
      rows.remove('issues', { id: 12 });
      rows.remove('repos', { owner: 'bob', name: 'site' });
    });
    expect(await unexplained({ checks })).toEqual({ 'issues 12': expect.any(Array) });
  });
});

describe('linked worlds', () => {
  it('have changes that are reported, and can be allowed, under the link’s alias', async () => {
    open();
    const linked = openSampleStore();
    linked.mark('base');
    linked.mark('task');
    await linked.atomically(() => linked.insert('users', { login: 'cy', id: 3 }));
    const links = new Map([['crm', { world: { store: linked, contract } }]]);
    const session = { world: { store, contract }, links } as unknown as Session;
    const explained = (await explainChanges(session, { changes: undefined, checks: [] })).page();
    expect(explained.unexplained).toMatchObject([{ entity: 'crm.users', key: { login: 'cy' } }]);
    const allow = [{ entity: 'crm.users', where: { id: 3 } }];
    const allowed = (await explainChanges(session, { changes: { allow }, checks: [] })).page();
    expect(allowed.changes).toMatchObject({ inserted: 1, unexplained: 0 });
    linked.close();
  });
});

describe('more changes than a grade examines', () => {
  it('are counted, and no check explains them', async () => {
    open();
    await change((rows) => {
      for (let id = 100; id < 110; id += 1) rows.insert('issues', issue(id));
    });
    const session = { world: { store, contract }, links: new Map() } as unknown as Session;
    const explained = await explainChanges(session, {
      changes: { allow: [{ entity: 'issues' }] },
      checks: [],
      limits: { rows: 4, bytes: 1_000_000 },
    });
    const { changes } = explained.page();
    expect(changes).toMatchObject({ inserted: 10, unexplained: 6 });
    expect(changes.rows).toHaveLength(4);
  });
});
