/**
 * Tests what the proof finds and removes if the host shares the machine with other programs, as on the plain process
 * runtime. The checks that need namespaces of the host's own are tested on real hosts, in
 * `test/attacks/hosts/recycling.test.ts`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { makeFolder, writeFiles } from '#test/support/host/user-code.ts';
import { listOwnProcesses } from './proc.ts';
import { type Proof, startProof } from './proof.ts';

const log = createLog('test', 'silent');
let folder: ReturnType<typeof makeFolder>;
let workDir: string;
let processes: { live: number[]; started: number[] };
let proof: Proof;
const others: ChildProcess[] = [];

beforeEach(() => {
  folder = makeFolder();
  workDir = join(folder.path, 'work');
  writeFiles(workDir, { 'code/of-the-host.txt': 'kept' });
  processes = { live: [], started: [] };
  const userCode = { processes: () => processes };
  proof = startProof({ workDir, namespaces: [], userCode, log });
});

afterEach(() => {
  for (const child of others.splice(0)) child.kill('SIGKILL');
  folder.remove();
});

/** Starts a process that sleeps, in an operating-system session of its own. */
const sleeper = async (
  env: Record<string, string>,
  script = 'exec sleep 1000',
): Promise<ChildProcess> => {
  const child = spawn('/bin/sh', ['-c', script], { env, detached: true, stdio: 'ignore' });
  others.push(child);
  await once(child, 'spawn');
  return child;
};

/** Waits until the child executes its command. Until then the child has the environment of the test's process. */
const runs = (child: ChildProcess): Promise<unknown> =>
  until(() => !readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').includes('vitest'), {
    timeoutMs: 30_000,
    what: 'a process to run',
  });

const isRunning = (pid: number | undefined): boolean =>
  listOwnProcesses().some((found) => found.pid === pid);

it('the proof finds nothing in a clean host', async () => {
  expect(await proof.clean([])).toEqual([]);
});

it('the proof kills a process that left the process group of its worker, and reports the process', async () => {
  const left = await sleeper({ TMPDIR: join(workDir, 'code') });
  await runs(left);
  const found = await proof.clean([]);
  expect(found).toEqual([
    expect.stringMatching(`^process ${left.pid} .* had outlived its worker$`),
  ]);
  expect(isRunning(left.pid)).toBe(false);
  expect(await proof.clean([])).toEqual([]);
});

it('the proof finds a surviving worker, and processes of the worker’s process session that cleared their environment', async () => {
  const worker = await sleeper({}, 'env -i sleep 1000 & env -i sleep 1000');
  await runs(worker);
  processes = { live: [], started: [Number(worker.pid)] };
  const sleeping = () =>
    listOwnProcesses().filter(({ session, name }) => session === worker.pid && name === 'sleep');
  await until(() => sleeping().length === 2, { timeoutMs: 30_000, what: 'two that sleep' });
  expect(await proof.clean([])).toHaveLength(3);
  expect(sleeping()).toEqual([]);
});

it('the proof finds processes in the process session of a worker that has ended', async () => {
  const worker = await sleeper({}, 'env -i sleep 1000 & env -i sleep 1000');
  await runs(worker);
  const sleeping = () =>
    listOwnProcesses().filter(({ session, name }) => session === worker.pid && name === 'sleep');
  await until(() => sleeping().length === 2, { timeoutMs: 30_000, what: 'two that sleep' });
  expect(await proof.clean([])).toEqual([]);
  expect(sleeping()).toHaveLength(2);
  expect(await proof.clean([], [Number(worker.pid)])).toHaveLength(3);
  expect(sleeping()).toEqual([]);
});

it('the proof finds a worker that was present from the start and outlived its session', async () => {
  const worker = await sleeper({ TMPDIR: join(workDir, 'code') });
  await runs(worker);
  processes = { live: [Number(worker.pid)], started: [Number(worker.pid)] };
  const userCode = { processes: () => processes };
  const later = startProof({ workDir, namespaces: [], userCode, log });
  expect(await later.clean([])).toEqual([]);
  processes = { live: [], started: [Number(worker.pid)] };
  expect(await later.clean([])).toHaveLength(1);
  expect(isRunning(worker.pid)).toBe(false);
});

it('the proof does not kill live workers or unrelated processes of the same user', async () => {
  const worker = await sleeper({ TMPDIR: join(workDir, 'code') });
  const stranger = await sleeper({ TMPDIR: folder.path });
  await Promise.all([runs(worker), runs(stranger)]);
  processes = { live: [Number(worker.pid)], started: [Number(worker.pid)] };
  expect(await proof.clean([])).toEqual([]);
  expect([isRunning(worker.pid), isRunning(stranger.pid)]).toEqual([true, true]);
});

it('the proof removes leftover files, folders and links, but not the targets of links', async () => {
  const outside = join(folder.path, 'outside');
  writeFiles(folder.path, { 'outside/file.txt': 'kept' });
  writeFiles(workDir, { 'left.txt': 'x', 'code/deep/er/left.txt': 'x', '.hidden': 'x' });
  symlinkSync(outside, join(workDir, 'link'));
  expect(await proof.clean([])).toEqual([]);
  expect(readdirSync(workDir, { recursive: true }).sort()).toEqual([
    'code',
    'code/of-the-host.txt',
  ]);
  expect(existsSync(join(outside, 'file.txt'))).toBe(true);
});

it('the proof does not remove files that the host placed, as long as they are unchanged', async () => {
  const path = join(workDir, 'code', 'code-1', 'tools.py');
  const placed = [{ path, content: Buffer.from('def f(): pass\n') }];
  writeFiles(workDir, { 'code/code-1/tools.py': 'def f(): pass\n', 'code/code-1/more.py': 'x' });
  expect(await proof.clean(placed)).toEqual([]);
  expect(readdirSync(join(workDir, 'code/code-1'))).toEqual(['tools.py']);
  writeFileSync(path, 'def f(): evil\n'); // the same number of bytes
  expect(await proof.clean(placed)).toEqual([`${path} is missing`]);
});

it('the proof reports a file of the host that was changed, replaced or removed', async () => {
  const path = join(workDir, 'code', 'of-the-host.txt');
  writeFileSync(path, 'tpek');
  expect(await proof.clean([])).toEqual([`${path} is missing`]);
  symlinkSync('/etc/passwd', path);
  expect(await proof.clean([])).toEqual([`${path} is missing`]);
  rmSync(path, { force: true });
  mkdirSync(path);
  expect(await proof.clean([])).toEqual([`${path} is missing`]);
});

it('the proof reports at most 20 findings, each in printable text', async () => {
  const names = Array.from(
    { length: 30 },
    (_, number) => `left-${number}-\n\u202e${'x'.repeat(150)}`,
  );
  const placed = names.map((name) => ({ path: join(workDir, name), content: Buffer.from('x') }));
  const found = await proof.clean(placed);
  expect(found).toHaveLength(20);
  for (const text of found) expect(text).toMatch(/^[\x20-\x7e]{1,200}$/);
});
