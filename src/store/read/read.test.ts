/** Tests reads of a store: by position, by key, by value. */
import { describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { sampleContract, sampleRows } from '#test/support/worlds/sample-contract.ts';
import { openSampleStore, openStore, refusalOf } from '#test/support/worlds/sample-store.ts';
import type { WorldStore } from '../world-store.ts';

const contract = sampleContract();

const ids = (payloads: string[]): unknown[] => payloads.map((text) => (JSON.parse(text) as Row).id);

describe('pages of a cached order', () => {
  const orderBy = [{ path: ['login'], descending: true }];
  const user = (id: number): Row => ({ login: `u${id}`, id });
  const page = (store: WorldStore, offset = 0, limit = 2) =>
    ids(store.query('users', { orderBy, limit, offset }));

  const opened = async (): Promise<WorldStore> => {
    const store = openSampleStore();
    await store.atomically(() => {
      for (const id of [3, 4, 5]) store.insert('users', user(id));
    });
    expect([page(store), page(store), page(store, 2)]).toEqual([
      [5, 4],
      [5, 4],
      [3, ...ids(store.query('users', { orderBy, offset: 3 })).slice(0, 1)],
    ]);
    return store;
  };

  it('contain later inserts, updates and deletes, also within a transaction', async () => {
    const store = await opened();
    await store.atomically(() => {
      store.insert('users', user(6));
      expect([page(store), page(store)]).toEqual([
        [6, 5],
        [6, 5],
      ]);
      store.remove('users', user(5));
      expect([page(store), page(store)]).toEqual([
        [6, 4],
        [6, 4],
      ]);
    });
    expect([page(store), page(store, 1)]).toEqual([
      [6, 4],
      [4, 3],
    ]);
  });

  it('do not contain rolled-back changes', async () => {
    const store = await opened();
    const failing = store.atomically(() => {
      store.insert('users', user(6));
      expect([page(store), page(store)].flat()).toEqual([6, 5, 6, 5]);
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    expect([page(store), page(store)].flat()).toEqual([5, 4, 5, 4]);
  });

  it('are not used for reading single rows by position', async () => {
    const store = await opened();
    const [row] = store.rowsOf('users');
    expect(row).toBeDefined();
    expect(store.rowAt('users', row?.position ?? 0)).toBe(row?.payload);
    expect(page(store)).toEqual([5, 4]);
  });

  it('are cached separately for each condition, and end with the last row', async () => {
    const store = await opened();
    const where = [{ path: ['id'], match: 'equals' as const, value: [3, 4] }];
    const some = () => ids(store.query('users', { where, orderBy, limit: 9 }));
    expect([some(), some(), some()].flat()).toEqual([4, 3, 4, 3, 4, 3]);
    expect([page(store, 90), page(store, 0, 0)]).toEqual([[], []]);
  });
});

describe('listing by position', () => {
  const user = (id: number): Row => ({ login: `u${id}`, id });
  const insert = (store: WorldStore, ...list: number[]) =>
    store.atomically(() => {
      for (const id of list) store.insert('users', user(id));
    });
  const idsOf = ({ rows }: { rows: string[] }) => ids(rows);

  it('continues at its position, whatever was deleted and inserted meanwhile', async () => {
    const store = openSampleStore();
    await insert(store, 3, 4, 5);
    const page = store.list('users', { limit: 3 });
    expect([idsOf(page), page.more]).toEqual([[1, 2, 3], true]);
    await store.atomically(() => {
      for (const id of [3, 4, 5]) store.remove('users', user(id));
    });
    await insert(store, 6);
    const rest = store.list('users', { after: page.last, limit: 3 });
    expect([idsOf(rest), rest.more]).toEqual([[6], false]);
  });

  it('pages backwards from a position: the first page has the rows nearest to it', async () => {
    const store = openSampleStore();
    await insert(store, 3, 4, 5);
    const last = store.list('users', { limit: 10 }).last ?? 0;
    const before = store.list('users', { before: last, limit: 2 });
    expect([idsOf(before), before.more]).toEqual([[3, 4], true]);
    const start = store.list('users', { before: before.first, limit: 2 });
    expect([idsOf(start), start.more]).toEqual([[1, 2], false]);
    expect(store.list('users', { before: start.first, limit: 2 })).toEqual({
      rows: [],
      first: undefined,
      last: undefined,
      more: false,
    });
  });

  it('applies filters, and skips rows', async () => {
    const store = openSampleStore();
    await insert(store, 3, 4, 5);
    const where = [{ path: ['id'], match: 'equals' as const, value: [1, 3, 5] }];
    expect(idsOf(store.list('users', { where, limit: 1, offset: 1 }))).toEqual([3]);
    expect(idsOf(store.list('users', { where, before: 4, limit: 9 }))).toEqual([1, 3]);
  });

  it('gives equal rows equal positions after a return to a mark', async () => {
    const store = openSampleStore();
    store.mark('base');
    store.mark('task');
    const positions = async () => {
      await store.atomically(() => store.remove('issues', { id: 12 }));
      await insert(store, 8, 9);
      return store.list('users', { limit: 9 });
    };
    const first = await positions();
    store.rollBackTo('task');
    expect(await positions()).toEqual(first);
    store.rollBackTo('base');
    expect(await positions()).toEqual(first);
  });

  it("works for an entity whose fields have SQLite's names of row numbers", async () => {
    const [users] = contract.entities;
    if (users === undefined) throw new Error('the sample has entities');
    const columns = [
      { name: 'RowID', type: 'TEXT' as const },
      { name: 'oid', type: 'TEXT' as const },
      ...users.columns,
    ];
    const odd = { ...contract, entities: [{ ...users, columns, relationships: [] }] };
    const store = openStore({ contract: odd });
    await insert(store, 2, 1);
    expect(idsOf(store.list('users', { limit: 5 }))).toEqual([2, 1]);
    expect(ids(store.query('users'))).toEqual([2, 1]);
  });
});

describe('reading', () => {
  const store = openSampleStore();
  const found = (
    path: string[],
    value: unknown,
    match: 'equals' | 'contains' | 'prefix' = 'equals',
  ) => ids(store.query('issues', { where: [{ path, match, value }] }));

  it('finds a row by its key, in any order of fields', () => {
    const repo = sampleRows.repos?.[1];
    expect(store.get('repos', { name: 'site', owner: 'bob' })).toBe(JSON.stringify(repo));
    expect(store.get('repos', { name: 'site', owner: 'ann' })).toBeUndefined();
  });

  it('matches by type and value', () => {
    expect(found(['number'], 1)).toEqual([10, 12]);
    expect(found(['number'], '1')).toEqual([]);
    expect(found(['title'], 1)).toEqual([]);
    expect(found(['number'], [1, 2])).toEqual([10, 11, 12]);
    expect(found(['number'], [])).toEqual([]);
    expect(found(['labels', '0'], 'bug')).toEqual([10]);
  });

  it('distinguishes texts that contain NUL, and refuses lone surrogates', async () => {
    const own = openSampleStore();
    const logins = ['a', 'a\u0000', 'a\u0000b', '\ufffd'];
    await own.atomically(() => {
      for (const [id, login] of logins.entries()) own.insert('users', { login, id: 100 + id });
      own.insert('repos', { owner: 'a\u0000', name: 'nul', private: false });
    });
    for (const login of logins) {
      const where = [{ path: ['login'], match: 'equals' as const, value: login }];
      expect(own.query('users', { where })).toEqual([own.get('users', { login })]);
    }
    const remove = (login: string) => own.atomically(() => own.remove('users', { login }));
    expect(await refusalOf(() => remove('a\u0000'))).toMatchObject({ kind: 'referenced' });
    await remove('a\u0000b');
    const half = () => own.atomically(() => own.insert('users', { login: '\ud800', id: 1 }));
    expect(await refusalOf(half)).toMatchObject({ kind: 'shape', field: 'login' });
  });

  it('lets null match fields that are null or absent', () => {
    expect(found(['assignee'], null)).toEqual([11, 12]);
    expect(found(['assignee'], ['bob', null])).toEqual([10, 11, 12]);
  });

  it('distinguishes booleans from numbers', () => {
    const repos = (value: unknown) =>
      store.query('repos', { where: [{ path: ['private'], match: 'equals', value }] }).length;
    expect([repos(true), repos(false), repos([true, false])]).toEqual([1, 1, 2]);
  });

  it('finds texts by a substring or their beginning, and lists by an item', () => {
    expect(found(['title'], 'CRASH', 'contains')).toEqual([10, 12]);
    expect(found(['title'], 'docs', 'prefix')).toEqual([11]);
    expect(found(['title'], 'thin', 'prefix')).toEqual([]);
    expect(found(['labels'], 'p1', 'contains')).toEqual([10]);
    expect(found(['labels'], 'p', 'contains')).toEqual([]);
  });

  it('finds any of many texts, in texts and in lists', () => {
    const others = Array.from({ length: 98 }, (_, index) => `none ${index}`);
    expect(found(['title'], [...others, 'CRASH', 'docs'], 'contains')).toEqual([10, 11, 12]);
    expect(found(['labels'], [...others, 'P1'], 'contains')).toEqual([10]);
    expect(found(['title'], [], 'contains')).toEqual([]);
  });

  it('refuses more texts and conditions than the limit for one query', async () => {
    const texts = Array.from({ length: 101 }, (_, index) => `text ${index}`);
    expect((await refusalOf(() => found(['title'], texts, 'prefix'))).detail).toBe(
      '"title" can be matched with 100 texts at most',
    );
    expect(found(['title'], texts)).toEqual([]);
    const where = texts.map((value) => ({ path: ['title'], match: 'equals' as const, value }));
    expect((await refusalOf(() => store.query('issues', { where }))).detail).toBe(
      'a query may have 100 conditions, this one has 101',
    );
  });

  it('matches a list of very many values', () => {
    const values = Array.from({ length: 50_000 }, (_, index) => (index % 3 === 0 ? true : index));
    expect(found(['number'], [...values, null, false])).toEqual([10, 11, 12]);
  });

  it('supports orders, pages and counts', () => {
    const orderBy = [{ path: ['state'] }, { path: ['id'], descending: true }];
    expect(ids(store.query('issues', { orderBy }))).toEqual([12, 11, 10]);
    expect(ids(store.query('issues', { orderBy, limit: 1, offset: 1 }))).toEqual([11]);
    const where = [{ path: ['state'], match: 'equals' as const, value: 'open' }];
    expect(store.count('issues', where)).toBe(2);
  });

  it('refuses a field that no row can have, and suggests the closest name', async () => {
    const where = (path: string[], match: 'equals' | 'contains' = 'equals') =>
      refusalOf(() => found(path, 'x', match));
    const misspelt = {
      entity: 'issues',
      kind: 'shape',
      field: 'titel',
      message: 'issues: there is no field "titel"; did you mean "title"?',
    };
    expect(await where(['titel'])).toMatchObject(misspelt);
    expect(await where(['titel'], 'contains')).toMatchObject(misspelt);
    const orderBy = [{ path: ['titel'] }];
    expect(await refusalOf(() => store.query('issues', { orderBy }))).toMatchObject(misspelt);
    expect(await refusalOf(() => store.nextNumber('issues', 'titel'))).toMatchObject(misspelt);
    expect((await where(['title', 'text'])).detail).toBe('there is no field "title.text"');
    expect((await where(['labels', 'name'])).detail).toBe(
      'there is no field "labels.name"; labels is a list; an item of it is labels.0',
    );
    expect((await where(Array<string>(65).fill('a'))).detail).toContain('is not a path of fields');
  });

  it('follows paths into objects that allow further members', () => {
    const users = (path: string[]) =>
      store.query('users', { where: [{ path, match: 'equals', value: 'x' }] });
    expect(users(['profile', 'email'])).toEqual([]);
    expect(users(['profile', 'nick', 'name'])).toEqual([]);
  });

  it('accepts quotes in values, and refuses quotes in paths', async () => {
    expect(found(['title'], `' OR 1=1 --`)).toEqual([]);
    expect((await refusalOf(() => found(['a"b'], 1))).kind).toBe('shape');
    expect((await refusalOf(() => found(['title'], { a: 1 }))).kind).toBe('shape');
    expect((await refusalOf(() => store.query('nope'))).kind).toBe('unknown_entity');
  });
});
