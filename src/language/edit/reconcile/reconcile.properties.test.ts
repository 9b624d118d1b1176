/**
 * Tests properties of reconciling for any schemas and rows: the result compiles, every captured row fits, no row of the
 * tree fits worse than before, and a second run changes nothing.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakValue, fitValue } from '#test/support/random/aimed-values.ts';
import { type Choices, choiceLists, createChoices } from '#test/support/random/choices.ts';
import {
  chooseFamily,
  chooseValue,
  type SchemaFamily,
} from '#test/support/random/schema-choices.ts';
import { compileTree } from '../../compile/compile.ts';
import type { Row } from '../../contract.ts';
import { createRowChecker } from '../../schema/checkers.ts';
import { hasBrokenText } from '../../schema/lossless-values.ts';
import { replaceFiles, textAt, textFile } from '../tree-text.ts';
import { reconcile } from './reconcile.ts';

const worldFile = 'schema/world.json';

/**
 * Returns true if a capture may contain the value. Numbers that JSON cannot represent exactly, and lone surrogates, are
 * refused.
 */
const isExact = (value: unknown): boolean =>
  !/\d{16}/.test(JSON.stringify(value)) && !hasBrokenText(value);

const treeOf = (family: SchemaFamily, rows: readonly Row[], own: readonly Row[]) => [
  textFile(
    worldFile,
    JSON.stringify({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:svc:test:any',
      $defs: family.definitions,
      'x-svc': {
        version: 1,
        domain_version: '1',
        package: { id: 'any', version: '1' },
        entities: {
          things: {
            schema: {
              type: 'object',
              additionalProperties: false,
              required: ['id', 'value'],
              properties: { id: { type: 'integer' }, value: family.root },
            },
            primary_key: ['id'],
          },
        },
        tools: {},
      },
    }),
  ),
  textFile(
    'svc-env.toml',
    '[schema]\nlanguage = "svc-world/1"\n[environment]\nname = "Any"\nkind = "mock-tools"\n[tools]\nserve = []\n',
  ),
  textFile(
    'connector.toml',
    '[connector]\nslug = "any"\nbase_url = "https://any.example"\n[[operations]]\nname = "list"\npath = "/"\nentity = "things"\n',
  ),
  textFile(
    'captures/list/1.json',
    JSON.stringify({ operation: 'list', arguments: {}, status: 200, body: rows }),
  ),
  textFile('data/things.json', JSON.stringify(own)),
];

const chooseRow = (family: SchemaFamily, choices: Choices, id: number): Row => {
  const fitting = fitValue(family.root, family.definitions, choices);
  const value = choices.oneIn(2) ? breakValue(fitting, choices) : fitting;
  return {
    id,
    ...(choices.oneIn(8) ? {} : { value }),
    ...(choices.oneIn(4) ? { more: chooseValue(choices) } : {}),
  };
};

const checkerOf = (files: ReturnType<typeof treeOf>) => {
  const result = compileTree(files.filter(({ path }) => !path.startsWith('data/')));
  return result.ok ? createRowChecker(result.contract) : undefined;
};

describe('reconcile, for any schemas and rows', () => {
  it('makes every captured row valid, and no row of the tree invalid', () => {
    let changed = 0;
    fc.assert(
      fc.property(choiceLists(160), (numbers) => {
        const choices = createChoices(numbers);
        const family = chooseFamily(choices);
        const rows = choices.list(1, 4, (index) => chooseRow(family, choices, index));
        const own = choices.list(0, 2, (index) => chooseRow(family, choices, 10 + index));
        const files = treeOf(family, rows, own);
        const before = checkerOf(files);
        fc.pre(before !== undefined && isExact(rows) && isExact(own));
        const fitting = own.filter((row) => before?.check('things', row).length === 0);
        const result = reconcile(files);
        expect(result.ok ? [] : result.problems).toEqual([]);
        if (!result.ok) return;
        changed += result.changes.length > 0 ? 1 : 0;
        const after = replaceFiles(files, result.files);
        const checker = checkerOf(after);
        const read = JSON.parse(JSON.stringify([...rows, ...fitting])) as Row[];
        expect(read.flatMap((row) => checker?.check('things', row))).toEqual([]);
        expect(reconcile(after)).toMatchObject({ ok: true, changes: [], files: [] });
        if (result.changes.length > 0) return;
        expect(textAt(after, worldFile)).toBe(textAt(files, worldFile));
      }),
      { numRuns: 150 },
    );
    expect(changed).toBeGreaterThan(30);
  });
});
