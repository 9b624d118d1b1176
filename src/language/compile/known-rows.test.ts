/**
 * Checks that the cache of rows does not change the result when a tree is compiled repeatedly, as it is while its
 * author edits it.
 */
import { expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { generateWorld } from '#tools/bench/language-world.ts';
import type { KnownRowFiles } from '../check/row-files.ts';
import { textFile } from '../edit/tree-text.ts';
import { compileTree } from './compile.ts';

const tree = generateWorld({ entities: 3, rowsPerEntity: 5, operations: 6 });

const edited = (path: string, from: string, to: string): TreeFile[] =>
  tree.map((file) => {
    if (file.path !== path) return file;
    const text = new TextDecoder().decode(file.content);
    expect(text).toContain(from);
    return textFile(path, text.replace(from, to));
  });

it('compiling with the cache of rows gives the same result as without it, whatever was changed, broken and repaired since', () => {
  const known: KnownRowFiles = new Map();
  const rows = 'data/records_1.json';
  const trees = {
    asItIs: tree,
    changed: edited(rows, 'Record 2 of 1', 'Another name'),
    broken: edited(rows, '"Record 2 of 1"', '5'),
    brokenTwice: edited(rows, '"Record 2 of 1"', '6'),
    notJson: edited(rows, '[', '['.repeat(2)),
    twice: edited(rows, '"id": 2,', '"id": 1,'),
    referring: edited('data/records_0.json', '"id": 2,', '"id": 99,'),
    otherSchema: edited('schema/world.json', '"maxLength": 200', '"maxLength": 3'),
    otherRoutes: edited('connector.toml', 'path = "/records/1"', 'path = "/other"'),
    without: tree.filter(({ path }) => path !== rows),
  };
  const order = Object.values(trees).flatMap((one) => [one, one, tree]);
  for (const one of order) expect(compileTree(one, { known })).toEqual(compileTree(one));
  expect(known.size).toBe(3);
  expect(compileTree(trees.broken, { known }).ok).toBe(false);
  expect(compileTree(trees.otherSchema, { known }).ok).toBe(false);
});
