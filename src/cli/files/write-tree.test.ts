import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Context } from '../terminal/context.ts';
import { removeFiles, writeTree } from './write-tree.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-write-tree-'));
afterAll(() => rmSync(folder, { recursive: true }));

const context = { cwd: folder } as Context;
const file = (path: string) => ({ path, content: new Uint8Array() });

describe('writeTree', () => {
  it.each(['../x', '/x', 'a\\..\\x', 'x/NUL', 'a:b', '.git/config', '.GIT/config', '.types/../x'])(
    'writes nothing of a tree that holds %j',
    (path) => {
      expect(() => writeTree(context, 'world', [file('a'), file(path)])).toThrow(/the path must/);
      expect(() => removeFiles(context, 'world', [path])).toThrow(/the path must/);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('writes nothing of a tree of which a file would take the place of another', () => {
    expect(() => writeTree(context, 'world', [file('a.md'), file('A.md')])).toThrow(/by case/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
