/** Tests where a release of the host is laid out, how it is protected from writes, and when it is removed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { worldHostImage } from '../../images/image-recipes.ts';
import { type LayOut, layOutHost } from './laid-out-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-laid-out-'));
const root = join(folder, 'tree');
const temporaryDir = join(folder, 'tmp');

const release = (hash: string): LayOut => ({
  root,
  inputs: {
    image: `svc-world-host:${hash}`,
    context: ['package.json', 'world-host-image'],
    recipe: { ...worldHostImage, isBundled: false },
  },
  temporaryDir,
  python: 'python3',
  path: process.env.PATH ?? '',
});

const releasesOf = (laidOut: { folder: string }): string[] =>
  readdirSync(join(laidOut.folder, '..')).map((name) => name.slice(0, 3));

const isWritable = (path: string): boolean => (statSync(path).mode & 0o222) !== 0;

const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);

beforeAll(() => {
  mkdirSync(join(root, 'world-host-image'), { recursive: true });
  mkdirSync(temporaryDir);
  writeFileSync(join(root, 'package.json'), '{}');
  writeFileSync(join(root, 'world-host-image/worker.py'), 'def f(): pass\n');
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

it("the program's folder is made once, also for concurrent callers, with byte code and read-only", async () => {
  const [first, second] = await Promise.all([
    layOutHost(release('aaa')),
    layOutHost(release('aaa')),
  ]);
  expect(second).toEqual(first);
  expect(await layOutHost(release('aaa'))).toEqual(first);
  expect(releasesOf(first)).toEqual(['aaa']);
  expect(readdirSync(join(first.folder, 'world-host-image')).sort()).toEqual([
    '__pycache__',
    'worker.py',
  ]);
  for (const name of ['package.json', 'world-host-image', 'world-host-image/worker.py']) {
    expect(isWritable(join(first.folder, name)), name).toBe(false);
  }
});

it("the program's folder is removed a day after its last use, unless a process runs from it", async () => {
  const old = await layOutHost(release('aaa'));
  utimesSync(old.folder, twoDaysAgo, twoDaysAgo);
  const user = spawn(process.execPath, ['-e', 'process.stdin.resume()', old.main]);
  await once(user, 'spawn');
  const used = await layOutHost(release('bbb'));
  expect(releasesOf(used).sort()).toEqual(['aaa', 'bbb']);
  user.kill();
  await once(user, 'exit');
  const next = await layOutHost(release('ccc'));
  expect(releasesOf(next).sort()).toEqual(['bbb', 'ccc']);
});
