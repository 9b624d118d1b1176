/** When a recycled host takes fresh workers, and when it may keep those that it has. */
import { existsSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeFolder } from '#test/support/user-code.ts';
import type { RunRequest } from '../usercode/run.ts';
import type { UserCode } from '../usercode/runner.ts';
import { openAuthorCode } from './author-code.ts';

const content = new TextEncoder().encode('def f(): return 1\n');
const request = { language: 'python', file: 'tools.py', function: 'f' } as RunRequest;

/** Workers that do nothing but note what they are told. */
const noteWorkers = (load: UserCode['load'] = async () => undefined) => {
  const notes: string[] = [];
  const userCode: UserCode = {
    load: async (directory) => {
      notes.push('load');
      await load(directory);
    },
    run: async () => ({ ok: true, value: null }),
    restart: async () => void notes.push('restart'),
    stop: async () => undefined,
  };
  return { notes, userCode };
};

const openIn = (userCode: UserCode) => {
  const folder = makeFolder();
  const files = [{ path: 'tools.py', content }];
  return { folder, code: openAuthorCode({ userCode, workDir: folder.path, files }) };
};

it('keeps workers that were told nothing since they loaded the code', async () => {
  const { notes, userCode } = noteWorkers();
  const { folder, code } = openIn(userCode);
  await code.renew();
  await code.renew();
  expect(notes).toEqual(['load']);
  expect(existsSync(`${folder.path}/${readdirSync(folder.path)[0]}/tools.py`)).toBe(true);
  folder.remove();
});

it('takes fresh ones, once, after a run and after a file', async () => {
  const { notes, userCode } = noteWorkers();
  const { folder, code } = openIn(userCode);
  await code.run(request);
  const before = readdirSync(folder.path);
  await code.renew();
  await code.renew();
  expect(notes).toEqual(['load', 'restart', 'load']);
  expect(readdirSync(folder.path)).not.toEqual(before);
  await code.place({ path: 'check.py', content });
  await code.renew();
  await code.renew();
  expect(notes).toEqual(['load', 'restart', 'load', 'restart', 'load']);
  expect(readdirSync(`${folder.path}/${readdirSync(folder.path)[0]}`)).toEqual(['tools.py']);
  folder.remove();
});

it('takes fresh ones when the code could not be loaded', async () => {
  let fails = true;
  const { notes, userCode } = noteWorkers(async () => {
    if (fails) throw new Error('the worker did not start');
  });
  const { folder, code } = openIn(userCode);
  await expect(code.run(request)).rejects.toThrow('did not start');
  fails = false;
  await code.renew();
  await code.run(request);
  expect(notes).toEqual(['load', 'restart', 'load']);
  folder.remove();
});
