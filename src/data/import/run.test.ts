/** Tests the results and refusals of imports by example. */
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ApiContract, RedactPolicy, Row } from '#language/contract.ts';
import {
  createImportFiles,
  importApplied,
  planOf,
  readImported,
  readRefusals,
} from '#test/support/data/import-files.ts';
import { sampleContract, sampleRows } from '#test/support/worlds/sample-contract.ts';
import type { ImportPlan, ImportProgress } from './plan.ts';
import { runImport } from './run.ts';

const contract = sampleContract();
const files = createImportFiles();
afterAll(() => files.remove());

const plan = (parts: Partial<ImportPlan>): ImportPlan => planOf(files.folder(), parts);
const linesOf = (rows: readonly Row[]): string[] => rows.map((row) => JSON.stringify(row));
const users = (...rows: Row[]) => files.chunk(0, linesOf(rows), 'users');

const refusalsOf = async (parts: Partial<ImportPlan>) => {
  const outcome = await runImport(plan(parts));
  return { outcome, refusals: readRefusals(outcome) };
};

describe('an import', () => {
  it('accepts children before their parents, and leaves other rows unchanged', async () => {
    const chunks = [
      files.chunk(0, linesOf([{ owner: 'cy', name: 'lib', private: true }]), 'repos'),
      files.chunk(1, linesOf([{ login: 'cy', id: 3 }]), 'users'),
    ];
    const base = files.base(contract, sampleRows, { users: 2, repos: 1 });
    const outcome = await importApplied(plan({ base, chunks }));
    const rows = readImported(contract, outcome);
    expect(rows.users).toEqual([...(sampleRows.users ?? []), { login: 'cy', id: 3 }]);
    expect(rows.repos?.at(-1)).toEqual({ owner: 'cy', name: 'lib', private: true });
    expect(rows.issues).toEqual(sampleRows.issues);
    expect(outcome).toMatchObject({
      landed: { users: 1, repos: 1, issues: 0 },
      entityCounts: { users: 3, repos: 3, issues: 3 },
      treeRows: { users: 2, repos: 1, issues: 0 },
      replaced: [],
      refused: 0,
      refusals: null,
    });
  });

  it('reads chunks by ordinal, and rows that name their entity', async () => {
    const named = (entity: string, row: Row): string => JSON.stringify({ entity, row });
    const chunks = [
      files.chunk(1, [named('users', { login: 'bob', id: 2 })]),
      files.chunk(0, [
        named('repos', { owner: 'bob', name: 'site', private: true }),
        named('users', { login: 'ann', id: 1 }),
      ]),
    ];
    const outcome = await importApplied(plan({ chunks }));
    const { users: found } = readImported(contract, outcome);
    expect(found?.map(({ login }) => login)).toEqual(['ann', 'bob']);
  });

  it('in mode `merge`, replaces single fields, and moves a changed row of the tree behind all others', async () => {
    const rows = [
      { login: 'ann', id: 7 },
      { login: 'bob', id: 2 },
      { login: 'cy', id: 3 },
      { login: 'cy', profile: { email: 'cy@example.test' } },
    ];
    const base = files.base(contract, sampleRows, { users: 2 });
    const outcome = await importApplied(plan({ base, chunks: [users(...rows)], mode: 'merge' }));
    expect(readImported(contract, outcome).users).toEqual([
      { login: 'bob', id: 2 },
      { login: 'ann', id: 7, profile: { email: 'ann@example.test' } },
      { login: 'cy', id: 3, profile: { email: 'cy@example.test' } },
    ]);
    expect(outcome.treeRows.users).toBe(1);
    expect(outcome.landed.users).toBe(4);
  });

  it('adds a few rows to the tables of a large world, with the same result as a rebuild', async () => {
    const base = files.base(contract, sampleRows, { users: 2 });
    chmodSync(base.file, 0o400);
    const before = readFileSync(base.file);
    const chunks = [users({ login: 'cy', id: 3 }, { login: 'dee', id: 4 })];
    const outcomes = [];
    for (const growthShare of [0, 1_000]) {
      const outcome = await runImport(plan({ base, chunks }), () => undefined, { growthShare });
      if (outcome.kind === 'refused') throw new Error('the import was refused');
      const { snapshot, ...others } = outcome;
      const rows = readImported(contract, outcome);
      outcomes.push({ ...others, rows, stateDigest: snapshot?.stateDigest });
    }
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]?.rows.users?.map(({ login }) => login)).toEqual(['ann', 'bob', 'cy', 'dee']);
    expect(readFileSync(base.file)).toEqual(before);
  });

  it('in mode `replace`, replaces only the rows of the entities that it names', async () => {
    const base = files.base(contract, sampleRows, { users: 2, issues: 3 });
    const none = await importApplied(plan({ base, mode: 'replace', entities: ['issues'] }));
    expect(readImported(contract, none)).toEqual({ ...sampleRows, issues: [] });
    expect(none).toMatchObject({ replaced: ['issues'], treeRows: { users: 2, issues: 0 } });
  });

  it('refuses to replace rows to which other rows refer, and names those rows', async () => {
    const base = files.base(contract, sampleRows);
    const chunks = [users({ login: 'ann', id: 1 })];
    const { outcome, refusals } = await refusalsOf({
      base,
      chunks,
      mode: 'replace',
      atomic: false,
    });
    expect(outcome.kind).toBe('refused');
    expect(refusals).toContainEqual({
      chunk: null,
      index: null,
      entity: 'repos',
      primaryKey: { owner: 'bob', name: 'site' },
      field: 'owner',
      pointer: '/owner',
      detail: 'owner "bob" refers to users, which has no such row',
    });
  });

  it('with `atomic`, writes only the report if one row is refused', async () => {
    const chunks = [users({ login: 'ann', id: 1 }, { login: 'bob', id: '2' })];
    const { outcome, refusals } = await refusalsOf({ chunks });
    expect(outcome).toMatchObject({ kind: 'refused', refused: 1 });
    expect(refusals).toEqual([
      {
        chunk: 0,
        index: 1,
        entity: 'users',
        primaryKey: { login: 'bob' },
        field: 'id',
        pointer: '/id',
        detail: 'must be integer, is string "2"',
      },
    ]);
  });

  it('without `atomic`, leaves out refused rows and the rows that refer to them', async () => {
    const chunks = [
      files.chunk(0, linesOf([{ owner: 'bob', name: 'site', private: true }]), 'repos'),
      files.chunk(1, linesOf([{ login: 'ann', id: 1 }, { login: 'bob' }]), 'users'),
    ];
    const { outcome, refusals } = await refusalsOf({ chunks, atomic: false });
    expect(outcome).toMatchObject({ kind: 'applied', refused: 2, landed: { users: 1, repos: 0 } });
    expect(refusals.map(({ chunk, entity, field }) => [chunk, entity, field])).toEqual([
      [0, 'repos', 'owner'],
      [1, 'users', 'id'],
    ]);
  });

  it('reports each kind of fault with its place', async () => {
    const base = files.base(contract, sampleRows);
    const lines = [
      { login: 'cy', id: 'x' },
      { login: 'cy' },
      { id: 5 },
      { login: 'cy', id: 3, colour: 'red' },
      { login: 'ann', id: 9 },
      { login: 'dee', id: 1 },
      { login: 'eve', id: 6, profile: { email: 'ann@example.test' } },
      { login: 'half \ud800', id: 8 },
    ];
    const issue = { ...sampleRows.issues?.[0], id: 20, number: 9, assignee: 'grace' };
    const chunks = [users(...lines), files.chunk(1, linesOf([issue]), 'issues')];
    const { refusals } = await refusalsOf({ base, chunks });
    expect(refusals.map(({ index, pointer, detail }) => [index, pointer, detail])).toEqual([
      [0, '/id', 'must be integer, is string "x"'],
      [1, '/id', 'is missing'],
      [2, '/login', 'is missing'],
      [3, '/colour', 'is not a known field'],
      [4, '/login', 'a row with login "ann" exists'],
      [5, '/id', 'another row has id 1'],
      [6, '/profile/email', 'another row has profile.email "ann@example.test"'],
      [7, '/login', 'contains half of a surrogate pair, which is no character'],
      [0, '/assignee', 'assignee "grace" refers to users, which has no such row'],
    ]);
  });

  it('reports the result and makes no snapshot in a dry run', async () => {
    const outcome = await importApplied(
      plan({ chunks: [users({ login: 'a', id: 1 })], dryRun: true }),
    );
    expect(outcome).toMatchObject({
      snapshot: null,
      landed: { users: 1 },
      entityCounts: { users: 1 },
    });
  });

  it('reports its progress', async () => {
    const seen: ImportProgress[] = [];
    const chunks = [users({ login: 'a', id: 1 }), files.chunk(1, [], 'users')];
    await runImport(plan({ chunks }), (progress) => seen.push(progress));
    expect(seen[0]).toEqual({ phase: 'validating', validatedChunks: 0, appliedRows: 1 });
    expect(seen.at(-1)).toEqual({ phase: 'applying', validatedChunks: 2, appliedRows: 1 });
  });

  it('restarts in the folder of an interrupted run', async () => {
    const parts = { chunks: [users({ login: 'a', id: 1 }, { login: 'b', id: 2 })] };
    const whole = await importApplied(plan(parts));
    const torn = plan(parts);
    const begun = runImport(torn, () => {
      throw new Error('the process is killed');
    });
    await expect(begun).rejects.toThrow('killed');
    expect(statSync(join(torn.folder, 'store.sqlite')).isFile()).toBe(true);
    const again = await importApplied(torn);
    expect(readFileSync(again.snapshot?.file ?? '')).toEqual(
      readFileSync(whole.snapshot?.file ?? ''),
    );
  });
});

describe('redaction', () => {
  const policy: RedactPolicy = {
    slug: 'crm',
    hash: ['email'],
    drop: ['id_card'],
    preserve: ['login'],
    round: {},
  } as unknown as RedactPolicy;
  const api = {} as ApiContract;
  const redacted = sampleContract({ api, redact: policy });
  const secret = 'ann.secret@example.test';

  it('is applied to a row before any other check', async () => {
    const row = { login: 'ann', id: 1, profile: { email: secret }, id_card: 'X-1' };
    const applied = await importApplied(
      plan({ contract: redacted, chunks: [users(row)], redact: 'apply' }),
    );
    const found = readImported(redacted, applied).users ?? [];
    expect(JSON.stringify(found)).not.toContain('secret');
    expect(found[0]).toMatchObject({ profile: { email: expect.stringMatching(/^sha256:/) } });
  });

  it('with `refuse`, rejects plaintext without quoting it, and the message says what to do instead', async () => {
    const row = { login: 'ann', id: 1, profile: { email: secret } };
    const keyed = { ...redacted, redact: { ...policy, hash: ['login'], preserve: ['email'] } };
    for (const [one, pointer] of [
      [redacted, '/profile/email'],
      [keyed, '/login'],
    ] as const) {
      const outcome = await runImport(
        plan({ contract: one, chunks: [users(row)], redact: 'refuse' }),
      );
      const [refusal] = readRefusals(outcome);
      expect(refusal).toMatchObject({ entity: 'users', index: 0, pointer });
      expect(refusal?.detail).toMatch(/^\[hash\] .* import with "redact": "apply"/);
      expect(JSON.stringify(refusal)).not.toMatch(/secret|"ann"/);
    }
  });

  it('leaves rows unchanged if the world has a connector without a policy', async () => {
    const open = sampleContract({ api });
    const chunks = [users({ login: 'ann', id: 1 })];
    const applied = await importApplied(plan({ contract: open, chunks, redact: 'refuse' }));
    expect(readImported(open, applied).users).toEqual([{ login: 'ann', id: 1 }]);
  });

  it('quotes no values in refusals, even if rows were redacted before the import', async () => {
    const odd = { login: 'ann', id: 'a-secret' };
    for (const how of [{ redact: 'apply' }, { withholds: true }] as const) {
      const outcome = await runImport(plan({ contract: redacted, chunks: [users(odd)], ...how }));
      const [refusal] = readRefusals(outcome);
      expect(refusal?.detail).toContain('its value is not repeated');
      expect(refusal?.detail).not.toContain('a-secret');
    }
  });

  it('makes the whole import fail if the world has no connector', async () => {
    await expect(runImport(plan({ redact: 'apply' }))).rejects.toThrow('has no connector.toml');
  });
});
