/**
 * Tests which rows a push keeps. The result must equal that of inserting all rows into a store one by one, and a
 * refusal must name the row.
 */
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Contract, EntityContract, Row } from '#language/contract.ts';
import { openWorldStore } from '#store/world-store.ts';
import { createImportFiles } from '#test/support/data/import-files.ts';
import { modelPush } from '#test/support/data/kept-rows-model.ts';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import {
  sampleContract,
  sampleEntities,
  sampleEntity,
} from '#test/support/worlds/sample-contract.ts';
import { type CarryOutcome, type CarryPlan, carryRows } from './carry.ts';

const files = createImportFiles();
afterAll(() => files.remove());

type Rows = Record<string, Row[]>;
type World = { contract: Contract; rows: Rows; treeRows: Record<string, number> };

const before = sampleContract();
const [users, repos, issues] = sampleEntities as [EntityContract, EntityContract, EntityContract];

/** Returns the sample contract with one entity replaced. */
const withEntity = (entity: EntityContract): Contract =>
  sampleContract({
    entities: sampleEntities.map((each) => (each.name === entity.name ? entity : each)),
  });

const looser = (entity: EntityContract): EntityContract => ({
  ...entity,
  schema: { ...entity.schema, description: 'as it was, in other words' },
});

const byId = sampleEntity('users', {
  primaryKey: ['id'],
  properties: {
    login: { type: 'string' },
    id: { type: 'integer' },
    profile: { type: 'object', properties: { email: { type: 'string' } } },
  },
  optional: ['profile'],
  unique: [[['login']]],
});

/** Contracts of the new version, of which some no longer accept rows of the old one. */
const contracts: Record<string, Contract> = {
  'as it was': before,
  'looser users': withEntity(looser(users)),
  'looser issues': withEntity(looser(issues)),
  'logins of three letters': withEntity({
    ...users,
    schema: {
      ...users.schema,
      properties: {
        ...(users.schema.properties as object),
        login: { type: 'string', minLength: 3 },
      },
    },
  }),
  'issues with unique titles': withEntity({ ...issues, unique: [[['title']]] }),
  'issues alone': sampleContract({ entities: [{ ...issues, relationships: [] }] }),
  'users under other keys, and no row refers to them': sampleContract({
    entities: [
      byId,
      { ...repos, relationships: [] },
      {
        ...issues,
        relationships: issues.relationships.filter(({ target }) => target !== 'users'),
      },
    ],
  }),
};

const login = fc.constantFrom('ann', 'bob', 'cy', 'dee');
const user = fc.record({ login, id: fc.integer({ min: 1, max: 6 }) });
const repo = fc.record({ owner: login, name: fc.constantFrom('engine', 'site') });
const issue = fc.record({
  id: fc.integer({ min: 10, max: 18 }),
  title: fc.constantFrom('one', 'two', 'three'),
  assignee: fc.option(login),
});

const distinct = (rows: readonly Row[], ...keys: ((row: Row) => unknown)[]): Row[] => {
  const seen = keys.map(() => new Set<string>());
  return rows.filter((row) => {
    const texts = keys.map((keyOf) => JSON.stringify(keyOf(row)));
    if (texts.some((text, at) => seen[at]?.has(text))) return false;
    for (const [at, text] of texts.entries()) seen[at]?.add(text);
    return true;
  });
};

/** Returns rows that a world can have. */
const rowsOf = (given: { users: Row[]; repos: Row[]; issues: Row[] }): Rows => {
  const people = distinct(
    given.users,
    ({ login: name }) => name,
    ({ id }) => id,
  );
  const logins = new Set(people.map((row) => row.login));
  const homes = distinct(given.repos, ({ owner, name }) => [owner, name]).filter(({ owner }) =>
    logins.has(owner),
  );
  const [home] = homes;
  const open = home === undefined ? [] : distinct(given.issues, ({ id }) => id);
  return {
    users: people,
    repos: homes.map((row) => ({ ...row, private: false })),
    issues: open.map(({ assignee, ...row }, at) => ({
      ...row,
      owner: home?.owner,
      repo: home?.name,
      number: at + 1,
      state: 'open',
      assignee: logins.has(assignee) ? assignee : null,
    })),
  };
};

const anyRows = fc
  .record({
    users: fc.array(user, { maxLength: 5 }),
    repos: fc.array(repo, { maxLength: 4 }),
    issues: fc.array(issue, { maxLength: 6 }),
  })
  .map(rowsOf);

const planOf = (
  { contract, rows, treeRows }: World,
  next: Contract,
  ofTree: Rows,
  replaced: readonly string[] = [],
): CarryPlan => {
  const { file } = files.base(contract, rows, treeRows);
  const base = { contract, file, treeRows };
  return { contract: next, treeRows: ofTree, replaced, base, folder: files.folder() };
};

const read = (contract: Contract, { snapshot }: Extract<CarryOutcome, { kind: 'carried' }>) => {
  const store = openWorldStore({ contract, snapshot: readFileSync(snapshot.file) });
  try {
    const rows = contract.entities.map(({ name }) => [
      name,
      store.query(name).map((text) => JSON.parse(text) as Row),
    ]);
    return {
      rows: Object.fromEntries(rows) as Rows,
      digests: [store.digest(), store.scanDigest()],
      counts: store.counts(),
    };
  } finally {
    store.close();
  }
};

const lengthsOf = (rows: Rows): Record<string, number> =>
  Object.fromEntries(Object.entries(rows).map(([name, list]) => [name, list.length]));

it('carryRows keeps and refuses the same rows as inserting the rows one by one, and gives the same digest', async () => {
  const anyCase = fc.record({
    base: anyRows,
    share: fc.constantFrom(0, 0.5, 1),
    ofTree: anyRows,
    contract: fc.constantFrom(...Object.keys(contracts)),
    replaced: fc.subarray(['users', 'repos', 'issues']),
  });
  const seen = { carried: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(anyCase, async ({ base, share, ofTree, contract: name, replaced }) => {
      const contract = contracts[name] ?? before;
      const names = contract.entities.map((entity) => entity.name);
      const tree = Object.fromEntries(
        Object.entries(ofTree).filter(([entity]) => names.includes(entity)),
      );
      const treeRows = Object.fromEntries(
        Object.entries(base).map(([entity, rows]) => [entity, Math.floor(rows.length * share)]),
      );
      const expected = modelPush(contract, tree, { rows: base, treeRows }, replaced);
      const world = { contract: before, rows: base, treeRows };
      const outcome = await carryRows(planOf(world, contract, tree, replaced));
      seen[expected.kind] += 1;
      expect(outcome.kind).toBe(expected.kind);
      if (outcome.kind === 'refused' || expected.kind === 'refused') return;
      const found = read(contract, outcome);
      expect(found.rows).toEqual(expected.rows);
      expect(found.digests).toEqual([expected.stateDigest, expected.stateDigest]);
      expect(found.counts).toEqual(lengthsOf(expected.rows));
      expect(outcome).toMatchObject({
        snapshot: { stateDigest: expected.stateDigest },
        entityCounts: lengthsOf(expected.rows),
        treeRows: expected.treeRows,
        keptRows: expected.keptRows,
        leftOutRows: expected.leftOutRows,
      });
    }),
    fuzzRuns(120, 40),
  );
  expect(Math.min(seen.carried, seen.refused)).toBeGreaterThan(0);
});

describe('a row that the next version does not allow', () => {
  const people: Rows = {
    users: [
      { login: 'ann', id: 1 },
      { login: 'bo', id: 2 },
    ],
    repos: [{ owner: 'bo', name: 'site', private: true }],
    issues: [],
  };
  const world = (treeRows: Record<string, number> = {}): World => ({
    contract: before,
    rows: people,
    treeRows,
  });
  const refusedBy = async (next: Contract, tree: Rows, base = world()) => {
    const plan = planOf(base, next, tree);
    const outcome = await carryRows(plan);
    if (outcome.kind !== 'refused') throw new Error('nothing was refused');
    expect(existsSync(`${plan.folder}/snapshot.zst`)).toBe(false);
    const model = modelPush(next, tree, base, []);
    expect(outcome.row).toMatchObject({ entity: (model as { entity: string }).entity });
    expect(outcome.row.detail).toBe((model as { detail: string }).detail);
    return outcome.row;
  };

  it('is reported with its key if it is a kept row that does not fit the schema', async () => {
    const next = contracts['logins of three letters'] ?? before;
    expect(await refusedBy(next, {})).toMatchObject({
      entity: 'users',
      key: { login: 'bo' },
      pointer: '/login',
      treeIndex: null,
    });
  });

  it('is reported if it refers to a row that the tree no longer has', async () => {
    expect(await refusedBy(before, {}, world({ users: 2 }))).toMatchObject({
      entity: 'repos',
      key: { owner: 'bo', name: 'site' },
      pointer: '/owner',
      treeIndex: null,
    });
  });

  it('is reported if it has the unique values of a row of the tree', async () => {
    expect(await refusedBy(before, { users: [{ login: 'cy', id: 2 }] })).toMatchObject({
      entity: 'users',
      key: { login: 'bo' },
      pointer: '/id',
      treeIndex: null,
    });
  });

  it('is reported if its entity no longer exists', async () => {
    const next = sampleContract({ entities: [users, { ...issues, relationships: [] }] });
    expect(await refusedBy(next, {})).toMatchObject({ entity: 'repos', key: {}, pointer: '' });
  });

  it('is reported with its index in the tree if it comes from the tree', async () => {
    const tree: Rows = {
      users: [
        { login: 'cy', id: 3 },
        { login: 'dee', id: 4 },
      ],
      repos: [
        { owner: 'cy', name: 'lib', private: true },
        { owner: 'dee', name: 'lib', private: true },
      ],
    };
    const plan = planOf({ ...world(), rows: { users: [] } }, before, tree, ['users']);
    const row = { entity: 'repos', key: { owner: 'cy', name: 'lib' }, treeIndex: 0 };
    expect(await carryRows(plan)).toMatchObject({ kind: 'refused', row });
  });
});

it('carryRows refuses rows that exceed the size limit', async () => {
  const rows = Array.from({ length: 2_000 }, (_, id) => ({ login: `user ${id}`, id }));
  const world = { contract: before, rows: { users: rows }, treeRows: {} };
  const plan = planOf(world, before, {});
  await expect(carryRows(plan, 64 * 1024)).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('0 MiB'),
  });
});
