import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundledTemplatesDir, readTemplateTree, templateSlugs } from './templates.ts';
import { readTree } from './tree.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-tree-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const write = (path: string, content = path): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
};

describe('readTree', () => {
  it('reads files in the order of their paths, and leaves out files that are no source', () => {
    for (const path of [
      'b/c',
      'a',
      'b.d',
      'b/C',
      '.git/x',
      'b/.env',
      'b/__pycache__/x',
      'node_modules/x',
      'dist/x',
      'b/build/x',
      'b/outputs/x',
      'scenarios/build/x',
      'scenarios/build/dist/x',
      'captures/outputs/x',
      'b/dist.json',
      'b/e/build',
    ])
      write(path);
    const tree = readTree(root);
    expect(tree.map(({ path, content }) => [path, `${content}`])).toEqual(
      [
        'a',
        'b.d',
        'b/C',
        'b/c',
        'b/dist.json',
        'b/e/build',
        'captures/outputs/x',
        'scenarios/build/x',
      ].map((path) => [path, path]),
    );
  });

  it('refuses links and pipes with an error that names them and the way out', () => {
    write('api/real.py');
    symlinkSync('/etc/passwd', join(root, 'api/link.py'));
    expect(() => readTree(root, './world')).toThrow(
      'world/api/link.py is a link, but a world must have only regular files: replace the link by the file to which it leads',
    );
    rmSync(join(root, 'api/link.py'));
    symlinkSync('/etc', join(root, 'folder'));
    expect(() => readTree(root, 'world')).toThrow('world/folder is a link');
    rmSync(join(root, 'folder'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(() => readTree(root, 'world')).toThrow('world/pipe is a pipe');
  });

  it('checks the limits of a tree before it reads further', () => {
    const bounds = { treeFiles: 3, treeFileBytes: 10, treeBytes: 15 };
    const read = () => readTree(root, 'world', bounds);
    write('a', 'x'.repeat(11));
    expect(read).toThrow('world/a has 11 bytes; a file may have 10');
    write('a', 'x'.repeat(10));
    write('b', 'x'.repeat(6));
    expect(read).toThrow('world has more than 15 bytes, the maximum for a world');
    write('b', 'x');
    expect(read()).toHaveLength(2);
    for (const name of ['c', 'd']) mkdirSync(join(root, name));
    expect(read).toThrow('world has more than 3 files and folders, the maximum for a world');
  });

  it('throws an error that names the folder if the folder cannot be read', () => {
    expect(() => readTree(join(root, 'no'), 'no')).toThrow('cannot read no');
  });
});

describe('templates', () => {
  it('are found as folders named by their slugs', () => {
    mkdirSync(join(root, 'Not A Slug'));
    write('notes/svc-env.toml', '');
    write('README.md');
    expect(templateSlugs(root)).toEqual(['notes']);
    expect(readTemplateTree(root, 'notes')?.map(({ path }) => path)).toEqual(['svc-env.toml']);
    expect(readTemplateTree(root, '../notes')).toBeUndefined();
    expect(() => templateSlugs(join(root, 'no'))).toThrow('cannot read the templates');
  });

  it('are installed with the programs', () => {
    expect(templateSlugs(bundledTemplatesDir)).toContain('code-hosting');
  });
});
