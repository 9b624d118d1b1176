import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redactRow } from '#language/capture/redact.ts';
import type { Contract, RedactPolicy, Row } from '#language/contract.ts';
import { createStoreFiles, type StoreFiles } from '#test/support/data/store-files.ts';
import { sampleContract, sampleEntity, sampleRows } from '#test/support/worlds/sample-contract.ts';
import { writeFieldIndex } from './field-index.ts';
import type { LinkTarget, QueryOutcome, QueryPlan, Target } from './plan.ts';
import { runQuery } from './run.ts';
import { openStoreFile, type StoreFile } from './store-file.ts';

type World = { file: StoreFile; path: string; rows: Record<string, readonly Row[]> };

let files: StoreFiles;
const opened: StoreFile[] = [];
const worlds = new Map<string, World>();

const add = (name: string, contract: Contract, rows: Record<string, Row[]>): void => {
  const path = files.write(contract, rows);
  const file = openStoreFile(path, contract);
  opened.push(file);
  worlds.set(name, { file, path, rows });
};

const targetOf = (world: string, entity: string, where: Row = {}): Target => {
  const { path = '', rows = {} } = worlds.get(world) ?? {};
  return {
    file: path,
    snapshot: world,
    contract: world,
    rowCount: rows[entity]?.length ?? 0,
    entity,
    where,
    indexes: [],
  };
};

const run = (root: Target, more: Partial<QueryPlan> = {}): QueryOutcome =>
  runQuery(
    {
      root,
      links: [],
      limit: 100,
      offset: 0,
      resolve: false,
      compare: false,
      mostBytes: 1_000_000,
      ...more,
    },
    ({ contract }) => {
      const file = worlds.get(contract)?.file;
      if (file === undefined) throw new Error(`no world ${contract}`);
      return file;
    },
  );

const answered = (outcome: QueryOutcome) => {
  if (outcome.kind === 'refused') throw new Error(outcome.detail);
  return outcome;
};
const found = (root: Target, more: Partial<QueryPlan> = {}) => {
  const { rowsJson, kind: _, ...page } = answered(run(root, more)).root;
  return { rows: JSON.parse(rowsJson) as Row[], ...page };
};
const ids = (where: Row, more: Partial<QueryPlan> = {}) =>
  found(targetOf('sample', 'issues', where), more).rows.map(({ id }) => id);

const deskPolicy: RedactPolicy = {
  slug: 'desk',
  hash: ['email'],
  drop: ['note'],
  preserve: [],
  round: { score: 1 },
};
const peopleOf = (redact: RedactPolicy | null) =>
  sampleContract({
    entities: [
      sampleEntity('people', {
        properties: {
          id: { type: 'integer' },
          email: { type: 'string' },
          plan: { type: ['string', 'null'] },
          score: { type: 'number' },
          note: { type: 'string' },
        },
        optional: ['plan', 'score', 'note'],
        unique: [[['email']]],
      }),
    ],
    redact,
  });

const clear: Row[] = [
  { id: 1, email: 'ann@example.test', plan: 'pro', score: 1.25, note: 'n' },
  { id: 2, email: 'bob@example.test', plan: 'free', score: 2 },
  { id: 3, email: 'cat@example.test', plan: null },
  { id: 4, email: '\u{1f600}@example.test', plan: 'free' },
];
const other: Row[] = [
  { id: 11, email: 'bob@example.test', plan: 'pro', score: 2.04 },
  { id: 12, email: '\uff41@example.test' },
  { id: 13, email: 'ann@example.test', plan: 'pro', score: 1.3 },
  { id: 14, email: '\u{1f600}@example.test' },
];
const redacted = (rows: Row[], policy = deskPolicy) =>
  rows.map((row) => redactRow(policy, row).row);
/** Policy that preserves the shape of two fields. */
const shapePolicy: RedactPolicy = { ...deskPolicy, hash: [], preserve: ['email', 'plan'] };

beforeAll(() => {
  files = createStoreFiles();
  add('sample', sampleContract(), sampleRows);
  add('crm', peopleOf(null), { people: clear });
  add('billing', peopleOf(null), { people: other });
  add('desk', peopleOf(deskPolicy), { people: redacted(other) });
  add('salted', peopleOf({ ...deskPolicy, slug: 'salted' }), { people: redacted(clear) });
  add('unredacted', peopleOf(deskPolicy), { people: clear });
  add('crm redacted', peopleOf(deskPolicy), { people: redacted(clear) });
  const half = [...clear.slice(0, 2), ...redacted(clear.slice(2))];
  add('half redacted', peopleOf(deskPolicy), { people: half });
  add('shaped', peopleOf(shapePolicy), { people: clear });
  add('shaped redacted', peopleOf(shapePolicy), { people: redacted(clear, shapePolicy) });
  const many = Array.from({ length: 12_000 }, (_, index) => ({
    id: index + 1,
    email: `${index}@example.test`,
    plan: index % 2 === 0 ? 'pro' : 'free',
  }));
  add('many', peopleOf(null), { people: many });
});

afterAll(() => {
  for (const file of opened) file.close();
  files.remove();
});

describe('rows of an entity', () => {
  it('are returned page by page in the order of insertion, unchanged', () => {
    const all = targetOf('sample', 'issues');
    const { root } = answered(run(all));
    expect(root.rowsJson).toBe(`[${sampleRows.issues?.map((row) => JSON.stringify(row))}]`);
    expect(found(all, { limit: 2 })).toMatchObject({ total: 3, nextOffset: 2 });
    expect(found(all, { limit: 2, offset: 2 })).toMatchObject({
      rows: [{ id: 12 }],
      total: 3,
      nextOffset: null,
    });
    expect(found(all, { offset: 1e15 })).toMatchObject({ rows: [], total: 3, nextOffset: null });
  });

  it('are matched by values, lists of values, nested paths and null', () => {
    expect(ids({ number: 1 })).toEqual([10, 12]);
    expect(ids({ number: '1' })).toEqual([]);
    expect(ids({ state: ['open'], number: [1, 5] })).toEqual([10]);
    expect(ids({ assignee: null })).toEqual([11, 12]);
    expect(ids({ assignee: [null, 'bob'] })).toEqual([10, 11, 12]);
    expect(ids({ 'labels.0': 'bug' })).toEqual([10]);
    expect(ids({ '/labels/0': 'bug' })).toEqual([10]);
    expect(ids({ number: [] })).toEqual([]);
    const users = found(targetOf('sample', 'users', { 'profile.email': 'ann@example.test' }));
    expect(users).toMatchObject({ rows: [{ login: 'ann' }], total: 1 });
    expect(found(targetOf('sample', 'repos', { private: true })).rows).toMatchObject([
      { name: 'site' },
    ]);
  });

  it('stop at the size limit of a page, and the result has the start of the next page', () => {
    const all = targetOf('sample', 'issues');
    const walk = (where: Row): unknown[] => {
      const seen: unknown[] = [];
      for (let offset: number | null = 0; offset !== null; ) {
        const page = found({ ...all, where }, { offset, mostBytes: 150 });
        expect(page.rows).toHaveLength(1);
        seen.push(page.rows[0]?.id);
        offset = page.nextOffset;
      }
      return seen;
    };
    expect(walk({})).toEqual([10, 11, 12]);
    expect(walk({ number: [1, 2] })).toEqual([10, 11, 12]);
  });

  it('continue after a position as they do after an offset', () => {
    const all = targetOf('many', 'people', { plan: 'pro' });
    const first = found(all, { limit: 3 });
    const { nextOffset, nextAfter } = first;
    const byNumber = found(all, { limit: 3, offset: nextOffset ?? 0 });
    const asked = { limit: 3, offset: nextOffset ?? 0, after: nextAfter ?? 0 };
    expect(found(all, asked)).toEqual(byNumber);
    expect(byNumber.rows.map(({ id }) => id)).toEqual([7, 9, 11]);
    expect(found(all, { limit: 3, offset: 5_997, after: 11_994 })).toMatchObject({
      rows: [{ id: 11_995 }, { id: 11_997 }, { id: 11_999 }],
      total: 6_000,
      nextAfter: null,
    });
  });

  it('are counted exactly only if the count needs no scan of further rows', () => {
    const page = (where: Row, more: Partial<QueryPlan> = {}) => {
      const asked = targetOf('many', 'people', where);
      const { rows: _, nextAfter: __, ...rest } = found(asked, { limit: 2, ...more });
      return rest;
    };
    expect(page({})).toEqual({ total: 12_000, isLowerBound: false, nextOffset: 2 });
    expect(page({ email: ['0@example.test', '7@example.test', '9@example.test'] })).toEqual({
      total: 3,
      isLowerBound: false,
      nextOffset: 2,
    });
    expect(page({ plan: 'pro' })).toEqual({ total: 3, isLowerBound: true, nextOffset: 2 });
    expect(page({ plan: 'pro' }, { offset: 5_999 })).toEqual({
      total: 6_000,
      isLowerBound: false,
      nextOffset: null,
    });
    const ten = Array.from({ length: 11_000 }, (_, index) => index + 1);
    expect(page({ id: ten })).toEqual({ total: 10_000, isLowerBound: true, nextOffset: 2 });
  });

  it('are the same whether or not a separate index file is used', () => {
    const contract = peopleOf(null);
    const indexed = (field: string) => {
      const file = worlds.get('many')?.path ?? '';
      const path = `${file}.${field}`;
      writeFieldIndex({ file, contract, entity: 'people', field, path });
      return { field, file: path };
    };
    add('indexed', contract, { people: [...(worlds.get('many')?.rows.people ?? [])] });
    const plain = (where: Row) => targetOf('many', 'people', where);
    const other = {
      ...targetOf('indexed', 'people'),
      indexes: [indexed('plan'), indexed('score')],
    };
    const firstOf = (target: Target, more: Partial<QueryPlan>) =>
      found(target, { limit: 3, ...more });
    for (const where of [
      { plan: 'free' },
      { plan: ['pro', 'free'], id: [7, 9] },
      { plan: 'none' },
      { plan: null },
      { plan: ['pro', null] },
      { plan: true },
      { plan: [] },
      { plan: 1 },
      { score: 1, plan: 'pro' },
    ]) {
      for (const offset of [0, 5_000]) {
        const [without, by] = [plain(where), { ...other, where }].map((target) =>
          firstOf(target, { offset }),
        );
        expect(by?.rows, JSON.stringify(where)).toEqual(without?.rows);
        expect(by?.nextOffset).toEqual(without?.nextOffset);
      }
    }
    const counted = { total: 6_000, isLowerBound: false };
    expect(firstOf({ ...other, where: { plan: 'pro' } }, {})).toMatchObject(counted);
    const unlike = { ...other, where: { plan: 'pro', score: 2 } };
    expect(firstOf(unlike, {})).toMatchObject({ rows: [], total: 0, isLowerBound: false });
  });

  it('cannot be queried by an unknown entity or field, and the message names it', () => {
    expect(run(targetOf('sample', 'isues'))).toEqual({
      kind: 'refused',
      at: 'entity',
      detail: 'the world has no entity "isues"; it has users, repos, issues',
    });
    expect(run(targetOf('sample', 'issues', { titel: 1 }))).toEqual({
      kind: 'refused',
      at: 'where',
      field: 'titel',
      detail: 'there is no field "titel"; did you mean "title"?',
    });
  });

  it('are not found by a field that redaction drops', () => {
    const policy = { ...deskPolicy, drop: ['ssn', 'author.phone'] };
    add('dropping', peopleOf(policy), { people: other });
    for (const where of [{ ssn: '12' }, { ssn: null }, { 'author.phone': 1, id: 11 }]) {
      for (const resolve of [true, false]) {
        const page = found(targetOf('dropping', 'people', where), { resolve });
        expect(page).toMatchObject({ rows: [], total: 0, isLowerBound: false });
      }
    }
    expect(run(targetOf('dropping', 'people', { sn: 1 }))).toMatchObject({ kind: 'refused' });
  });

  it('are found by plaintext, which the policy of the world redacts first', () => {
    const where = { email: ['ann@example.test', 'bob@example.test'] };
    const desk = (resolve: boolean, more: Row = where) =>
      found(targetOf('desk', 'people', more), { resolve }).rows.map(({ id }) => id);
    expect(desk(true)).toEqual([11, 13]);
    expect(desk(false)).toEqual([]);
    expect(desk(true, { score: 1.27 })).toEqual([13]);
    expect(desk(true, { plan: 'pro' })).toEqual([11, 13]);
    expect(desk(true, { note: 'n' })).toEqual([]);
    expect(found(targetOf('crm', 'people', where), { resolve: true }).rows).toHaveLength(2);
  });
});

describe('linked worlds', () => {
  const pairs = (...names: string[]) => names.map((name) => ({ field: name, targetField: name }));
  const linkOf = (world: string, where: Row, names = ['email', 'plan', 'score']): LinkTarget => ({
    ...targetOf(world, 'people', where),
    pairs: pairs(...names),
  });
  const parityOf = (world: string, where: Row = {}, names?: string[]) => {
    const links = [linkOf(world, where, names)];
    const { parities } = answered(
      run(targetOf('crm', 'people', where), { links, compare: true, resolve: false }),
    );
    return parities[0];
  };

  it('get the same query, each with its own policy', () => {
    const where = { email: 'ann@example.test' };
    const links = [linkOf('billing', where), linkOf('desk', where)];
    const answer = answered(run(targetOf('crm', 'people', where), { links, resolve: true }));
    const idsOf = answer.links.map((link) =>
      link.kind === 'found' ? JSON.parse(link.rowsJson).map(({ id }: Row) => id) : link.detail,
    );
    expect(JSON.parse(answer.root.rowsJson)).toMatchObject([{ id: 1 }]);
    expect(idsOf).toEqual([[13], [13]]);
    expect(answer.parities).toEqual([null, null]);
  });

  it('that lack a field of the query are refused separately from the first world', () => {
    const links = [linkOf('billing', { nothing: 1 })];
    const answer = answered(run(targetOf('crm', 'people', { email: 'x' }), { links }));
    expect(answer.links).toEqual([
      {
        kind: 'refused',
        detail: 'there is no field "nothing"; known: id, email, plan, score, note',
      },
    ]);
  });

  it('are compared row by row and field by field', () => {
    const none = { onlyHere: 0, onlyThere: 0, differing: 0, examples: [] };
    expect(parityOf('billing')).toEqual({
      key: { field: 'email', targetField: 'email' },
      rows: { matched: 3, onlyHere: 1, onlyThere: 1 },
      fields: [
        {
          field: 'email',
          targetField: 'email',
          equal: 3,
          onlyHere: 1,
          onlyThere: 1,
          differing: 0,
          examples: [
            { key: 'cat@example.test', here: 'cat@example.test', there: null },
            { key: '\uff41@example.test', here: null, there: '\uff41@example.test' },
          ],
        },
        {
          ...none,
          field: 'plan',
          targetField: 'plan',
          equal: 1,
          onlyHere: 1,
          differing: 1,
          examples: [
            { key: 'bob@example.test', here: 'free', there: 'pro' },
            { key: '\u{1f600}@example.test', here: 'free', there: null },
          ],
        },
        {
          ...none,
          field: 'score',
          targetField: 'score',
          equal: 0,
          differing: 2,
          examples: [
            { key: 'ann@example.test', here: 1.25, there: 1.3 },
            { key: 'bob@example.test', here: 2, there: 2.04 },
          ],
        },
      ],
    });
    expect(parityOf('billing', { email: 'ann@example.test' })?.rows).toEqual({
      matched: 1,
      onlyHere: 0,
      onlyThere: 0,
    });
  });

  it('that redact a field are compared by the redacted values of that field', () => {
    expect(parityOf('desk')).toMatchObject({
      rows: { matched: 3, onlyHere: 1, onlyThere: 1 },
      fields: [{ equal: 3 }, { equal: 1, differing: 1 }, { equal: 2, differing: 0 }],
    });
  });

  it.each([
    ['unredacted here, a linked world without a policy', 'unredacted', 'crm'],
    ['no policy here, unredacted in the linked world', 'crm', 'unredacted'],
    ['unredacted here, redacted in the linked world', 'unredacted', 'crm redacted'],
    ['redacted here, unredacted in the linked world', 'crm redacted', 'unredacted'],
    ['unredacted in both worlds', 'unredacted', 'unredacted'],
    ['partly redacted here, a linked world without a policy', 'half redacted', 'crm'],
    ['partly redacted in both worlds', 'half redacted', 'half redacted'],
  ])('have equal rows whether a policy was applied to them or not: %s', (_, here, there) => {
    const asked = { links: [linkOf(there, {})], compare: true };
    const { parities } = answered(run(targetOf(here, 'people'), asked));
    expect(parities[0]).toMatchObject({
      key: { field: 'email' },
      rows: { matched: 4, onlyHere: 0, onlyThere: 0 },
      fields: [
        { field: 'email', equal: 4, differing: 0 },
        { field: 'plan', equal: 3, differing: 0 },
        { field: 'score', equal: 2, differing: 0 },
      ],
    });
  });

  it.each([
    ['shaped', 'crm'],
    ['crm', 'shaped'],
    ['shaped redacted', 'crm'],
    ['crm', 'shaped redacted'],
    ['shaped', 'shaped redacted'],
    ['shaped redacted', 'shaped'],
  ])('have equal rows under a policy that keeps shapes: %s and %s', (here, there) => {
    const asked = { links: [linkOf(there, {})], compare: true };
    const { parities } = answered(run(targetOf(here, 'people'), asked));
    expect(parities[0]).toMatchObject({
      rows: { matched: 4, onlyHere: 0, onlyThere: 0 },
      fields: [{ equal: 4 }, { equal: 3, differing: 0 }, { equal: 2, differing: 0 }],
    });
  });

  it('with different salts are not compared by digests', () => {
    const links = [linkOf('salted', {}, ['email', 'id', 'note'])];
    const { parities } = answered(run(targetOf('desk', 'people'), { links, compare: true }));
    expect(parities[0]).toMatchObject({
      key: { field: 'id', targetField: 'id' },
      rows: { matched: 0, onlyHere: 4, onlyThere: 4 },
      fields: [
        { equal: null, reason: 'the two worlds redact the field in different ways' },
        { equal: 0, onlyHere: 4, onlyThere: 4 },
        { equal: null, reason: 'this world drops the field' },
      ],
    });
    const nothing = [linkOf('salted', {}, ['email'])];
    const none = answered(run(targetOf('desk', 'people'), { links: nothing, compare: true }));
    expect(none.parities[0]?.key).toBeNull();
  });

  it('pair rows with the same key one by one, and leave rows without a key unpaired', () => {
    const parity = parityOf('many', {}, ['plan']);
    expect(parity).toMatchObject({
      key: { field: 'plan', targetField: 'plan' },
      rows: { matched: 3, onlyHere: 1, onlyThere: 11_997 },
    });
    const itself = answered(
      run(targetOf('crm', 'people'), { links: [linkOf('crm', {})], compare: true }),
    );
    expect(itself.parities[0]?.rows).toEqual({ matched: 4, onlyHere: 0, onlyThere: 0 });
  });
});

describe('a store file', () => {
  it('is never written', () => {
    const { file, path = '' } = worlds.get('sample') ?? {};
    const before = readFileSync(path);
    expect(() => file?.prepareAnew('CREATE TABLE evil (x)').run()).toThrow();
    expect(() => file?.prepareAnew('DELETE FROM issues').run()).toThrow();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('is not opened if its content is no snapshot', () => {
    expect(() => openStoreFile(`${import.meta.dirname}/plan.ts`, sampleContract())).toThrow();
  });
});
