/**
 * Properties of imports for any rows: the engine's result equals that of `import-model.ts`, and is the same when
 * repeated.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { openWorldStore } from '#store/world-store.ts';
import {
  createImportFiles,
  type Named,
  planOf,
  readImported,
  readRefusals,
} from '#test/support/data/import-files.ts';
import { modelImport } from '#test/support/data/import-model.ts';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import { sampleContract } from '#test/support/worlds/sample-contract.ts';
import type { ImportMode, ImportPlan } from './plan.ts';
import { runImport } from './run.ts';

const contract = sampleContract();
const files = createImportFiles();
afterAll(() => files.remove());

const login = fc.constantFrom('ann', 'bob', 'cy', 'dee', 'eve');
const repo = fc.constantFrom('engine', 'site');
const small = fc.integer({ min: 1, max: 4 });
const issueId = fc.integer({ min: 10, max: 16 });

const user = fc.record(
  { login, id: small, profile: fc.record({ email: fc.constantFrom('a@x', 'b@x') }) },
  { requiredKeys: ['login', 'id'] },
);
const repository = fc.record({ owner: login, name: repo, private: fc.boolean() });
const issue = fc.record(
  {
    id: issueId,
    owner: login,
    repo,
    number: small,
    title: fc.constantFrom('one', 'two'),
    state: fc.constantFrom('open', 'closed'),
    assignee: fc.option(login),
    duplicate_of: fc.option(issueId),
  },
  { requiredKeys: ['id', 'owner', 'repo', 'number', 'title', 'state'] },
);
const patch = fc.record(
  { login, id: small, profile: fc.record({ email: fc.constantFrom('a@x', 'b@x') }) },
  { requiredKeys: ['login'] },
);
const issuePatch = fc.record(
  { id: issueId, number: small, assignee: fc.option(login), duplicate_of: fc.option(issueId) },
  { requiredKeys: ['id'] },
);
const bad = fc.constantFrom<Row>(
  {},
  { login: 'zed' },
  { login: 5, id: 1 },
  { login: 'ann', id: 1, x: 1 },
);

const named = (entity: string, rows: fc.Arbitrary<unknown>): fc.Arbitrary<Named> =>
  rows.map((row) => ({ entity, row: JSON.parse(JSON.stringify(row)) as Row }));

const line: fc.Arbitrary<Named | null> = fc.oneof(
  { weight: 4, arbitrary: named('users', user) },
  { weight: 3, arbitrary: named('repos', repository) },
  { weight: 5, arbitrary: named('issues', issue) },
  { weight: 2, arbitrary: named('users', patch) },
  { weight: 2, arbitrary: named('issues', issuePatch) },
  { weight: 1, arbitrary: named('users', bad) },
  { weight: 1, arbitrary: fc.constant(null) },
);

/** Returns those of the given rows that the store accepts, by entity. */
const worldOf = async (lines: readonly (Named | null)[]): Promise<Record<string, Row[]>> => {
  const store = openWorldStore({ contract });
  for (const each of lines) {
    if (each === null) continue;
    const taken = store.atomically(() => store.insert(each.entity, each.row));
    await taken.catch((error: unknown) => {
      if (!(error instanceof StoreRefusal)) throw error;
    });
  }
  const rows = contract.entities.map(({ name }) => [
    name,
    store.query(name).map((text) => JSON.parse(text) as Row),
  ]);
  store.close();
  return Object.fromEntries(rows);
};

type Case = {
  world: (Named | null)[];
  /** Share of each entity's rows that come from the tree, from 0 to 1. */
  share: number;
  mode: ImportMode;
  atomic: boolean;
  lines: (Named | null)[];
  /** Indexes of lines at which chunks end. */
  cuts: number[];
  growthShare: number;
};

const anyCase: fc.Arbitrary<Case> = fc.record({
  world: fc.array(line, { maxLength: 25 }),
  share: fc.constantFrom(0, 0.5, 1),
  mode: fc.constantFrom<ImportMode>('append', 'merge', 'replace'),
  atomic: fc.boolean(),
  lines: fc.oneof(fc.array(line, { maxLength: 3 }), fc.array(line, { maxLength: 25 })),
  cuts: fc.array(fc.nat(25), { maxLength: 3 }),
  growthShare: fc.constantFrom(0, 1, 16),
});

/** Returns true if the imported world has the rows to which a refused row refers through the field. */
const isThereAfterAll = (
  rows: Record<string, Row[]>,
  { entity, row }: Named,
  field: string | null,
): boolean =>
  contract.entities
    .filter(({ name }) => name === entity)
    .flatMap(({ relationships }) => relationships)
    .filter(({ fields }) => fields[0] === field)
    .every(({ fields, target }) => {
      const key = contract.entities.find(({ name }) => name === target)?.primaryKey ?? [];
      return (rows[target] ?? []).some((parent) =>
        key.every((name, at) => parent[name] === row[fields[at] ?? '']),
      );
    });

const textOf = (each: Named | null): string =>
  each === null ? '{"entity":' : JSON.stringify(each);

/** Splits the lines into chunks that end at the cuts, some of them empty. */
const chunksOf = (
  lines: readonly (Named | null)[],
  cuts: readonly number[],
): ImportPlan['chunks'] => {
  const ends = [
    ...cuts.filter((cut) => cut < lines.length).toSorted((a, b) => a - b),
    lines.length,
  ];
  return ends.map((end, ordinal) =>
    files.chunk(ordinal, lines.slice(ends[ordinal - 1] ?? 0, end).map(textOf)),
  );
};

const lineOf = (
  cuts: readonly number[],
  lines: number,
  chunk: number | null,
  index: number | null,
) => {
  if (chunk === null) return -1;
  const ends = [...cuts.filter((cut) => cut < lines).toSorted((a, b) => a - b), lines];
  return (ends[chunk - 1] ?? 0) + (index ?? 0);
};

it('an import gives the same result as a simple model of imports', async () => {
  await fc.assert(
    fc.asyncProperty(anyCase, async (each) => {
      const { world, share, mode, atomic, lines, cuts, growthShare } = each;
      const rows = await worldOf(world);
      const treeRows = Object.fromEntries(
        Object.entries(rows).map(([name, list]) => [name, Math.floor(list.length * share)]),
      );
      const expected = modelImport(contract, rows, treeRows, mode, lines);
      const base = files.base(contract, rows, treeRows);
      const plan = planOf(files.folder(), { base, chunks: chunksOf(lines, cuts), mode, atomic });
      const outcome = await runImport(plan, () => undefined, { growthShare });
      const refused = readRefusals(outcome).map(({ chunk, index }) =>
        lineOf(cuts, lines.length, chunk, index),
      );
      expect(refused.toSorted((a, b) => a - b)).toEqual(expected.refused);
      expect(outcome.refused).toBe(expected.refused.length);
      const isRefused = expected.refused.includes(-1) || (atomic && expected.refused.length > 0);
      expect(outcome.kind).toBe(isRefused ? 'refused' : 'applied');
      if (outcome.kind === 'refused') return;
      expect(readImported(contract, outcome)).toEqual(expected.rows);
      for (const { chunk, index, field, detail } of readRefusals(outcome)) {
        const named = lines[lineOf(cuts, lines.length, chunk, index)];
        if (mode === 'merge' || !detail.includes('which has no such row') || !named) continue;
        expect(isThereAfterAll(expected.rows, named, field)).toBe(false);
      }
      expect(outcome.treeRows).toEqual(expected.treeRows);
      const counts = Object.entries(expected.rows).map(([name, list]) => [name, list.length]);
      expect(outcome.entityCounts).toEqual(Object.fromEntries(counts));
      const landed = Object.values(outcome.landed).reduce((sum, count) => sum + count, 0);
      expect(landed).toBe(lines.length - outcome.refused);
    }),
    fuzzRuns(120, 40),
  );
});

it('an import makes the same bytes from the same rows, wherever chunks end', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyCase,
      fc.array(fc.nat(25)),
      async ({ world, mode, lines, cuts }, others) => {
        const base = files.base(contract, await worldOf(world));
        const bytes = async (ends: number[]): Promise<Buffer | null> => {
          const chunks = chunksOf(lines, ends);
          const outcome = await runImport(
            planOf(files.folder(), { base, chunks, mode, atomic: false }),
          );
          if (outcome.kind === 'refused') return null;
          return readFileSync(outcome.snapshot?.file ?? '');
        };
        expect(await bytes(others)).toEqual(await bytes(cuts));
      },
    ),
    fuzzRuns(30, 8),
  );
});
