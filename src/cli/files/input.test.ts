import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { testContext } from '#test/support/cli/context.ts';
import {
  asPath,
  namesFolder,
  overlayTree,
  readJsonObject,
  readTaskFile,
  readTree,
  withFolderHint,
} from './input.ts';

describe('reading what a user names', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-input-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('reads a JSON object from the text, a file or standard input', async () => {
    writeFileSync(join(root, 'in.json'), '{"from":"file"}');
    const context = testContext({ cwd: root, stdin: '{"from":"stdin"}' });
    expect(await readJsonObject(context, '{"from":"text"}', '--input')).toEqual({ from: 'text' });
    expect(await readJsonObject(context, '@in.json', '--input')).toEqual({ from: 'file' });
    expect(await readJsonObject(context, '-', '--input')).toEqual({ from: 'stdin' });
  });

  it('accepts a task with "$schema", which is only for editors', async () => {
    writeFileSync(join(root, 'task.json'), '{"$schema":"./task.schema.json","instruction":"Do."}');
    const context = testContext({ cwd: root, stdin: '{"instruction":"Look."}' });
    expect(await readTaskFile(context, 'task.json')).toEqual({ instruction: 'Do.' });
    expect(await readTaskFile(context, '-')).toEqual({ instruction: 'Look.' });
  });

  it("reads the scripts of a task from the task's folder", async () => {
    mkdirSync(join(root, 'tasks'));
    const context = testContext({ cwd: root });
    const write = (task: object) =>
      writeFileSync(join(root, 'tasks', 'task.json'), JSON.stringify(task));
    writeFileSync(join(root, 'tasks', 'solve.py'), 'def solve(): ...');
    write({
      solution: { script: 'solve.py' },
      alternatives: [{ steps: [] }, { script: 'solve.py' }],
    });
    const script = { language: 'python', source: 'def solve(): ...' };
    expect(await readTaskFile(context, 'tasks/task.json')).toEqual({
      solution: { script },
      alternatives: [{ steps: [] }, { script }],
    });
    write({ solution: { script: 'solve.ts' } });
    await expect(readTaskFile(context, 'tasks/task.json')).rejects.toThrow(
      'there is no file tasks/solve.ts',
    );
    write({ solution: { script: 'solve.sh' } });
    await expect(readTaskFile(context, 'tasks/task.json')).rejects.toThrow('a .py or .ts file');
  });

  it('reads no script from outside the folder of an untrusted task, by path or by link', async () => {
    mkdirSync(join(root, 'theirs'));
    const context = testContext({ cwd: root });
    writeFileSync(join(root, 'key.py'), 'secret');
    symlinkSync(join(root, 'key.py'), join(root, 'theirs', 'link.py'));
    for (const script of ['../key.py', join(root, 'key.py'), 'link.py']) {
      writeFileSync(join(root, 'theirs', 'task.json'), JSON.stringify({ solution: { script } }));
      await expect(readTaskFile(context, 'theirs/task.json'), script).rejects.toThrow(
        'leads out of the folder that contains the document',
      );
    }
  });

  it('takes a path for a folder and a plain name for a world, whatever files exist', async () => {
    for (const path of ['./crm', '../crm', '/crm', 'worlds/crm', '~/crm', '.', 'C:\\crm']) {
      expect([path, namesFolder(path)]).toEqual([path, true]);
    }
    expect([asPath('crm'), asPath('../crm')]).toEqual(['./crm', '../crm']);
    mkdirSync(join(root, 'crm'));
    expect(namesFolder('crm')).toBe(false);
    const context = testContext({ cwd: root });
    const failing = (name: string) =>
      withFolderHint(context, name, () => {
        throw new AppError('not_found', `there is no world "${name}"`);
      });
    await expect(failing('crm')).rejects.toMatchObject({
      message: 'there is no world "crm"',
      detail: { hint: 'to name the folder here, write ./crm' },
    });
    await expect(failing('erp')).rejects.toMatchObject({ detail: {} });
  });

  it('names the source of a mistake', async () => {
    const context = testContext({ cwd: root });
    await expect(readJsonObject(context, '{', '--input')).rejects.toThrow('--input is not JSON');
    await expect(readJsonObject(context, '[]', '--input')).rejects.toThrow('not a JSON object');
    await expect(readJsonObject(context, '@no', '--input')).rejects.toThrow('there is no file no');
    await expect(readJsonObject(context, '@.', '--input')).rejects.toThrow('. is a folder');
  });

  it('reads JSON after a byte order mark', async () => {
    writeFileSync(join(root, 'task.json'), '\ufeff{"instruction": "Do it."}');
    writeFileSync(join(root, '.svcignore'), '\ufeffnotes.txt\n');
    writeFileSync(join(root, 'notes.txt'), '');
    const context = testContext({ cwd: root, stdin: '\ufeff{"a":1}' });
    expect(await readTaskFile(context, 'task.json')).toEqual({ instruction: 'Do it.' });
    expect(await readJsonObject(context, '-', '--input')).toEqual({ a: 1 });
    expect(readTree(context, '.').map(({ path }) => path)).toEqual(['task.json']);
  });

  it('reads a folder as a tree without hidden files and caches', () => {
    for (const path of ['schema', '.git', 'api/__pycache__']) {
      mkdirSync(join(root, path), { recursive: true });
    }
    for (const path of ['schema/world.json', '.git/config', 'api/a.py', 'api/__pycache__/a.pyc']) {
      writeFileSync(join(root, path), path);
    }
    const tree = readTree(testContext(), root);
    expect(tree.map(({ path }) => path)).toEqual(['api/a.py', 'schema/world.json']);
  });

  it('replaces files of a tree by those of an overlay', () => {
    const file = (path: string, text: string) => ({ path, content: Buffer.from(text) });
    const laid = overlayTree([file('a', '1'), file('b', '1')], [file('b', '2'), file('c', '2')]);
    expect(laid.map(({ path, content }) => `${path}${content}`)).toEqual(['a1', 'b2', 'c2']);
  });
});
