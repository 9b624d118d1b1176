import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../terminal/context.ts';
import { noteBase, readBase } from './base-note.ts';
import { sha256Of } from './digest.ts';
import { planPull } from './tree-changes.ts';
import { changeTree, writeTree } from './write-tree.ts';

let folder: string;
let context: Context;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-write-tree-'));
  context = { cwd: folder } as Context;
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = (path: string, text = '') => ({ path, content: Buffer.from(text) });
const entry = (path: string, text = '') => ({ path, sha256: sha256Of(Buffer.from(text)) });

/** Writes files into the world's folder, as its author would. */
const lay = (...files: { path: string; content: Uint8Array }[]): void => {
  for (const { path, content } of files) {
    const target = join(folder, 'world', path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
};

const laid = (): string[] =>
  readdirSync(join(folder, 'world'), { recursive: true }).map(String).toSorted();

describe('writeTree', () => {
  it.each(['../x', '/x', 'a\\..\\x', 'x/NUL', 'a:b', '.git/config', '.GIT/config', '.types/../x'])(
    'writes no file of a tree that contains the path %j',
    (path) => {
      expect(() => writeTree(context, 'world', [file('a'), file(path)])).toThrow(/the path must/);
      const change = { write: [file('a')], remove: [path] };
      expect(() => changeTree(context, 'world', change)).toThrow(/the path must/);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('writes no file of a tree in which one file would replace another', () => {
    expect(() => writeTree(context, 'world', [file('a.md'), file('A.md')])).toThrow(
      /on some file systems/,
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('changeTree', () => {
  it('removes and replaces nothing if the disk has no space for one of the files', () => {
    lay(file('old', 'old'), file('kept', 'before'));
    const unwritable = { path: 'new', content: {} as Uint8Array };
    const change = { write: [file('kept', 'after'), unwritable], remove: ['old'] };
    expect(() => changeTree(context, 'world', change)).toThrow(/cannot write .*new/);
    expect(laid()).toEqual(['kept', 'old']);
    expect(readFileSync(join(folder, 'world/kept'), 'utf8')).toBe('before');
  });

  it('replaces a folder by a file of the same name, and a file by a folder', () => {
    lay(file('docs/a.md'), file('docs/deep/b.md'), file('notes'));
    const remove = ['docs/a.md', 'docs/deep/b.md', 'notes'];
    changeTree(context, 'world', { write: [file('docs', '1'), file('notes/c.md')], remove });
    expect(laid()).toEqual(['docs', 'notes', 'notes/c.md']);
    expect(readFileSync(join(folder, 'world/docs'), 'utf8')).toBe('1');
  });

  it('removes folders that become empty when their files are removed', () => {
    lay(file('a/b/c.md'), file('a/d.md'));
    changeTree(context, 'world', { write: [], remove: ['a/b/c.md'] });
    expect(laid()).toEqual(['a', 'a/d.md']);
  });

  it.each([
    ['a folder with an untracked file', 'docs', 'own.md" in it belongs to no version'],
    ['a link', 'link', 'link is a link'],
    ['a file where a folder should be', 'plain/x.md', 'plain is not a folder'],
    ['a folder that is a link', 'out/x.md', 'out is a link'],
  ])('changes no file if %s is in the way', (_, path, message) => {
    lay(file('docs/a.md'), file('docs/own.md'), file('gone.md'), file('plain'));
    symlinkSync('gone.md', join(folder, 'world/link'));
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync('../elsewhere', join(folder, 'world/out'));
    const before = laid();
    const remove = ['docs/a.md', 'gone.md'];
    const write = [file('first.md'), file(path)];
    expect(() => changeTree(context, 'world', { write, remove })).toThrow(message);
    expect(() => changeTree(context, 'world', { write, remove: ['gone.md', 'out/y'] })).toThrow();
    expect(laid()).toEqual(before);
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
  });
});

describe('a pull into a folder', () => {
  it('writes a file anew if its name changed only in case, because removing the old name would remove both on some disks', () => {
    lay(file('README.md', '1'));
    // One file with two names, as a disk that ignores case shows it.
    linkSync(join(folder, 'world/README.md'), join(folder, 'world/readme.md'));
    const wanted = [entry('readme.md', '1')];
    const plan = planPull(context, 'world', wanted, [entry('README.md', '1')]);
    expect(plan).toEqual({ write: wanted, remove: ['README.md'], changedHere: [] });
  });

  it('treats a file as unchanged if its name differs from that in the version only in case', () => {
    lay(file('README.md', '1'));
    linkSync(join(folder, 'world/README.md'), join(folder, 'world/readme.md'));
    const plan = planPull(context, 'world', [entry('readme.md', '2')], [entry('README.md', '1')]);
    expect(plan.changedHere).toEqual([]);
  });

  it('replaces a folder by a file, and does not count the folder as a change by the user', () => {
    lay(file('docs/a.md', '1'));
    const plan = planPull(context, 'world', [entry('docs', '2')], [entry('docs/a.md', '1')]);
    expect(plan).toMatchObject({ remove: ['docs/a.md'], changedHere: [] });
  });
});

describe("the record of a folder's version", () => {
  it('is neither read nor written through a link', () => {
    lay(file('a.md'));
    const outside = join(folder, 'outside.json');
    writeFileSync(outside, '{}');
    symlinkSync(outside, join(folder, 'world/.svc-base.json'));
    expect(() => noteBase(context, 'world', 'crm', 'ver-1')).toThrow('is a link');
    expect(() => readBase(context, 'world', 'crm')).toThrow('is a link');
    expect(readFileSync(outside, 'utf8')).toBe('{}');
  });

  it('preserves the records of other worlds, and replaces a damaged file', () => {
    lay(file('.svc-base.json', '{'));
    expect(readBase(context, 'world', 'crm')).toEqual({ kind: 'broken' });
    noteBase(context, 'world', 'crm', 'ver-1');
    noteBase(context, 'world', 'erp', 'ver-2');
    expect(readBase(context, 'world', 'crm')).toEqual({ kind: 'noted', id: 'ver-1' });
    const none = { kind: 'none', others: ['ver-1', 'ver-2'] };
    expect(readBase(context, 'world', 'constructor')).toEqual(none);
    expect(laid()).toEqual(['.svc-base.json']);
  });
});
