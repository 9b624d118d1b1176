/** Workers of a recycled host: the conditions under which they are restarted or reused. */
import { existsSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { makeFolder } from '#test/support/host/user-code.ts';
import type { RunRequest } from '../usercode/run.ts';
import type { UserCode } from '../usercode/runner.ts';
import { openAuthorCode } from './author-code.ts';

const content = new TextEncoder().encode('def f(): return 1\n');
const request = { language: 'python', file: 'tools.py', function: 'f' } as RunRequest;

/** Returns fake workers that only record the requests made to them. */
const noteWorkers = (load: UserCode['load'] = async () => []) => {
  const notes: string[] = [];
  const userCode: UserCode = {
    bounds: { python: 'python3', mode: 'auto' },
    load: async (directory) => {
      notes.push('load');
      return load(directory);
    },
    run: async () => ({ ok: true, value: null }),
    startTester() {
      throw new Error('no tests are run here');
    },
    startGrader() {
      notes.push('grader');
      const grader = makeFolder();
      return {
        folder: grader.path,
        pid: undefined,
        run: async () => ({
          ok: true,
          value: readdirSync(grader.path, { recursive: true }).sort(),
        }),
        end: async () => grader.remove(),
      };
    },
    restart: async (whenGone) => {
      await whenGone?.();
      notes.push('restart');
    },
    processes: () => ({ live: [], started: [] }),
    stop: async () => undefined,
  };
  return { notes, userCode };
};

const openIn = (userCode: UserCode) => {
  const folder = makeFolder();
  const files = [{ path: 'tools.py', content }];
  const code = openAuthorCode({ userCode, workDir: folder.path, files });
  const remove = async (): Promise<void> => {
    await code.remove(); // waits for its files to be written: the last step of a test may have started that
    folder.remove();
  };
  return { folder, code, remove };
};

it('recycling reuses workers that have run nothing since they loaded the code', async () => {
  const { notes, userCode } = noteWorkers();
  const { folder, code, remove } = openIn(userCode);
  await code.renew(async () => undefined);
  await code.renew(async () => undefined);
  expect(notes).toEqual(['load']);
  expect(existsSync(`${folder.path}/${readdirSync(folder.path)[0]}/tools.py`)).toBe(true);
  await remove();
});

it('recycling restarts workers after a run, and not again if nothing has run since', async () => {
  const { notes, userCode } = noteWorkers();
  const { folder, code, remove } = openIn(userCode);
  await code.run(request);
  const before = readdirSync(folder.path);
  await code.renew(async () => undefined);
  await code.renew(async () => undefined);
  expect(notes).toEqual(['load', 'restart', 'load']);
  expect(readdirSync(folder.path)).not.toEqual(before);
  expect(readdirSync(`${folder.path}/${readdirSync(folder.path)[0]}`)).toEqual(['tools.py']);
  await remove();
});

it('recycling restarts workers if code of a linked world ran in the host', async () => {
  const { notes, userCode } = noteWorkers();
  const { code, remove } = openIn(userCode);
  const placed: unknown[] = [];
  await code.renew(async (files) => void placed.push(...files), { isReached: true });
  expect(placed).toEqual([]);
  await code.renew(async () => undefined, { isReached: false });
  expect(notes).toEqual(['load', 'restart', 'load']);
  await remove();
});

it('recycling restarts workers if the code could not be loaded', async () => {
  let fails = true;
  const { notes, userCode } = noteWorkers(async () => {
    if (fails) throw new Error('the worker did not start');
    return [];
  });
  const { code, remove } = openIn(userCode);
  await expect(code.run(request)).rejects.toThrow('did not start');
  fails = false;
  await code.renew(async () => undefined);
  await code.run(request);
  expect(notes).toEqual(['load', 'restart', 'load']);
  await remove();
});

it('a session waits until its code has been imported, and later sessions with the same code do not wait', async () => {
  let failures = ['tools.py cannot be imported: NameError', 'api/handlers.py cannot be imported'];
  const { userCode } = noteWorkers(async () => failures);
  const { code, remove } = openIn(userCode);
  await expect(code.assertImports()).rejects.toMatchObject({
    code: 'invalid',
    message: failures.join('; '),
  });
  await code.run(request);
  failures = [];
  await code.renew(async () => undefined);
  await code.assertImports();
  await code.run(request);
  failures = ['unlikely'];
  await code.renew(async () => undefined);
  await code.assertImports();
  await remove();
});

it('recycling proves the host clean after used workers end and before fresh ones start', async () => {
  const { notes, userCode } = noteWorkers();
  const { folder, code, remove } = openIn(userCode);
  await code.run(request); // waits until the code is loaded
  await code.renew(async () => undefined);
  notes.length = 0;
  const seen: unknown[] = [];
  const prove = async (placed: readonly TreeFile[]): Promise<void> => {
    notes.push('prove');
    seen.push(
      placed.map(({ path }) => path.replace(folder.path, '')),
      readdirSync(folder.path).length,
    );
  };
  await code.renew(prove);
  expect(seen.splice(0)).toEqual([[expect.stringMatching(/^\/code-\d+\/tools\.py$/)], 1]);
  await code.run(request);
  await code.renew(prove);
  expect(seen).toEqual([[], 0]);
  expect(notes).toEqual(['load', 'prove', 'prove', 'restart']);
  await remove();
});

it('a grader gets files of its own, which the session’s workers cannot read', async () => {
  const { notes, userCode } = noteWorkers();
  const { folder, code, remove } = openIn(userCode);
  const grader = code.openGrader({ path: 'checks/verify.py', content });
  expect(await grader.run(request)).toEqual({
    ok: true,
    value: ['checks', 'checks/verify.py', 'tools.py'],
  });
  expect(readdirSync(folder.path, { recursive: true })).not.toContain('verify.py');
  await grader.end();
  await code.run(request); // waits until the code is loaded
  expect(notes.sort()).toEqual(['grader', 'load']);
  await code.renew(async () => undefined);
  expect(notes).toContain('restart');
  await remove();
});
