/**
 * Tests properties of compiling for any tree: it ends with a contract or with problems, never with an exception; a
 * contract is usable; and the order of files does not matter. 2,000 trees here, 50,000 with `make fuzz`. A failure is
 * printed with its seed and path, with which `fc.assert` repeats it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { type Choices, choiceLists, createChoices } from '#test/support/random/choices.ts';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import { mutateTree, shuffle } from '#test/support/random/tree-mutations.ts';
import { smallWorld, textFile, toTree } from '#test/support/worlds/small-world.ts';
import { decodeBundle, encodeBundle, selectUserCode } from '../artifacts/bundle.ts';
import { problemCodes } from '../read/codes.ts';
import { createRowChecker, createToolChecker } from '../schema/checkers.ts';
import { createTablesSql } from '../sql/ddl.ts';
import { type CompileResult, compileTree } from './compile.ts';

type Compiled = CompileResult & { ok: true };

/** Expects that the world's own rows are accepted, and that the validators do not fail on any other value. */
const expectCheckers = ({ contract, baseRows }: Compiled): void => {
  const rows = createRowChecker(contract);
  for (const { name } of contract.entities) {
    const [row = {}] = baseRows[name] ?? [];
    const problems = rows.check(name, row);
    if ((baseRows[name] ?? []).length > 0) expect(problems).toEqual([]);
  }
  const tools = createToolChecker(contract);
  for (const { name } of contract.tools) tools.input(name, tools.output(name, null));
};

/** Replaces -0 by 0: JSON reads -0 and writes 0, and schemas do not distinguish them. */
const withPlainZeros = (value: unknown): unknown => {
  if (typeof value === 'number') return value + 0;
  if (Array.isArray(value)) return value.map(withPlainZeros);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, held]) => [key, withPlainZeros(held)]),
  );
};

const expectUsable = (compiled: Compiled, files: readonly TreeFile[]): void => {
  const { contract } = compiled;
  const store = new DatabaseSync(':memory:');
  store.exec(createTablesSql(contract));
  store.close();
  expectCheckers(compiled);
  expect(JSON.parse(JSON.stringify(contract))).toEqual(withPlainZeros(contract));
  const bundle = encodeBundle({ contract, files: selectUserCode(contract, files) });
  expect(encodeBundle(decodeBundle(bundle))).toEqual(bundle);
};

const expectProblems = ({ problems }: CompileResult & { ok: false }): void => {
  expect(problems.length).toBeGreaterThan(0);
  for (const { code, message, hint = '', file, pointer } of problems) {
    expect(problemCodes).toContain(code);
    expect(`${message}${hint}`).not.toMatch(/undefined|\[object/);
    expect(`${file}${pointer}${message}${hint}`.length).toBeLessThan(10_000);
  }
};

/** Returns the whole result as one text. */
const written = (result: CompileResult): string => {
  if (!result.ok) return JSON.stringify(result);
  const generated = result.generated.map(({ path, content }) => [
    path,
    Buffer.from(content).toString('latin1'),
  ]);
  return JSON.stringify({ ...result, generated });
};

/**
 * Optional steps of the test of a tree: a second compilation with the files in another order, and the use of the
 * result.
 */
type Judged = { shuffled?: readonly TreeFile[]; isUsed: boolean };

/** Returns true if the tree compiled; throws if a property is violated. */
const judge = (files: readonly TreeFile[], { shuffled, isUsed }: Judged): boolean => {
  const result = compileTree(files);
  if (!result.ok) expectProblems(result);
  else if (isUsed) expectUsable(result, files);
  if (shuffled !== undefined) {
    expect(written(compileTree(shuffled)) === written(result)).toBe(true);
  }
  return result.ok;
};

/** Chooses each optional step for one tree in three, to save time; with `make fuzz`, for all trees. */
const chooseThoroughness = (files: readonly TreeFile[], choices: Choices): Judged => {
  const isFuzz = fuzzRuns(1).numRuns > 1;
  const isShuffled = choices.oneIn(3) || isFuzz;
  const isUsed = choices.oneIn(3) || isFuzz;
  return isShuffled ? { shuffled: shuffle(files, choices), isUsed } : { isUsed };
};

const readTemplate = (name: string): TreeFile[] => {
  const root = fileURLToPath(new URL(`../../templates/${name}`, import.meta.url));
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: relative(root, path).split('\\').join('/'),
      content: new Uint8Array(readFileSync(path)),
    }));
};

const minutes = 60_000;

describe('compileTree, whatever it is given', () => {
  it.each([
    { name: 'the small world', tree: toTree(smallWorld()), usual: 1_860, short: 460, atLeast: 0.1 },
    { name: 'a template', tree: readTemplate('code-hosting'), usual: 40, short: 12, atLeast: 0 },
  ])(
    'ends with a contract or problems after changes to $name',
    ({ tree, usual, short, atLeast }) => {
      const runs = fuzzRuns(usual, short);
      let compiled = 0;
      fc.assert(
        fc.property(choiceLists(60), (numbers) => {
          const choices = createChoices(numbers);
          const changed = mutateTree(tree, choices);
          if (judge(changed, chooseThoroughness(changed, choices))) compiled += 1;
        }),
        runs,
      );
      expect(compiled).toBeGreaterThanOrEqual(runs.numRuns * atLeast);
      expect(compiled).toBeLessThan(runs.numRuns * 0.9);
    },
    60 * minutes,
  );

  it('ends with a contract or problems for any files', () => {
    const path = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.constantFrom(...toTree(smallWorld()).map((file) => file.path), 'data/x.json'),
    );
    const file = fc.record({ path, content: fc.uint8Array({ maxLength: 60 }) });
    fc.assert(
      fc.property(fc.array(file, { maxLength: 8 }), (files) => {
        judge(files, { shuffled: files.toReversed(), isUsed: true });
      }),
      fuzzRuns(50),
    );
  });

  it('ends with a contract or problems for any JSON as the data model', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const files = [textFile('schema/world.json', json), textFile('svc-env.toml', '')];
        judge(files, { shuffled: files.toReversed(), isUsed: true });
      }),
      fuzzRuns(50),
    );
  });
});
