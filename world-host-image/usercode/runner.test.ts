/** Tests the life of the workers: loading code, restarting, stopping, and that no worker outlives its host. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import {
  type Bench,
  createMemoryStore,
  makeFolder,
  startBench,
  writeFiles,
} from '#test/support/host/user-code.ts';
import { processesNaming } from '#test/support/programs/processes.ts';

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
};

const areGone = (pids: number[]) =>
  until(() => !pids.some(isAlive), { timeoutMs: 30_000, what: `the end of ${pids.join(', ')}` });

const tools = {
  'tools.py': `
import os
import threading
from svc_env import clock
def pid(): return os.getpid()
def spin():
    while True: pass
def leaves_spinning():
    threading.Thread(target=spin, daemon=True).start()
    return 'left'
def asks_and_spins():
    clock.now()
    spin()
`,
  'tools.ts': `
export const pid = () => process.pid;
export const spin = () => { for (;;); };
export const leaves_spinning = () => { setTimeout(spin, 10); return 'left'; };
`,
};

/** Returns the processes of a test's folder whose command line contains a word. */
const workersOf = ({ folder }: Bench, word: string): number[] =>
  processesNaming(folder)
    .filter(({ commandLine }) => commandLine.includes(word))
    .map(({ pid }) => pid);

const pidsOf = async (bench: Bench): Promise<number[]> => [
  Number(await bench.value('python', 'pid')),
  Number(await bench.value('typescript', 'pid')),
];

let bench: Bench | undefined;
afterEach(async () => {
  await bench?.close();
  bench = undefined;
});

describe('user code', () => {
  it('runs in processes that started before there was code', async () => {
    bench = await startBench();
    await bench.load(tools);
    const pids = await pidsOf(bench);
    expect(await pidsOf(bench)).toEqual(pids);
    await bench.code.stop();
    expect(pids.some(isAlive)).toBe(false);
    await expect(bench.run('python', 'pid')).rejects.toThrow('stopped');
  });

  it('fails if no code has been loaded yet', async () => {
    bench = await startBench();
    const none = { error: { code: 'load_failed', message: 'no code is loaded' } };
    expect(await bench.run('python', 'pid')).toMatchObject(none);
    expect(await bench.run('typescript', 'pid')).toMatchObject(none);
  });

  it('gets fresh processes when other code is loaded', async () => {
    bench = await startBench();
    await bench.load(tools);
    const before = await pidsOf(bench);
    await bench.load({
      'tools.py': 'def pid(): return "other"\n',
      'tools.ts': 'export const pid = () => "other";',
    });
    expect(await bench.value('python', 'pid')).toBe('other');
    expect(await bench.value('typescript', 'pid')).toBe('other');
    await areGone(before);
  });

  it('has nothing loaded after a restart, which also ends a current run', async () => {
    bench = await startBench();
    const directory = await bench.load(tools);
    const before = await pidsOf(bench);
    const { access } = createMemoryStore();
    const begun = Promise.withResolvers<void>();
    const under = bench.run('python', 'asks_and_spins', {
      timeoutMs: 60_000,
      access: {
        ...access,
        now() {
          begun.resolve();
          return access.now();
        },
      },
    });
    await begun.promise;
    const waiting = bench.run('python', 'pid').catch((error: unknown) => error);
    await bench.code.restart();
    expect(await under).toMatchObject({ error: { code: 'crashed' } });
    expect(String(await waiting)).toContain('stopped');
    expect(before.some(isAlive)).toBe(false);
    expect(await bench.run('python', 'pid')).toMatchObject({ error: { code: 'load_failed' } });
    await bench.code.load(directory);
    const after = await pidsOf(bench);
    expect(after.some((pid) => before.includes(pid))).toBe(false);
  });

  it.each(['python', 'typescript'] as const)(
    'gets a fresh process for the next run if a run left something running: %s',
    async (language) => {
      bench = await startBench();
      await bench.load(tools);
      const first = await bench.value(language, 'pid');
      expect(await bench.value(language, 'pid')).toBe(first);
      const left = await bench.run(language, 'leaves_spinning');
      if (language === 'python') expect(left).toMatchObject({ error: { code: 'left_running' } });
      else expect(left).toMatchObject({ ok: true, value: 'left' });
      expect(await bench.value(language, 'pid', { timeoutMs: 2_000 })).not.toBe(first);
    },
  );

  it('keeps, at a restart, a process in which no code has been loaded or run', async () => {
    bench = await startBench();
    const [first] = bench.code.processes().live;
    await bench.load({ 'tools.ts': tools['tools.ts'] });
    const typescript = await bench.value('typescript', 'pid');
    await bench.code.restart();
    expect(bench.code.processes().live).toEqual([first]);
    expect(await bench.run('python', 'pid')).toMatchObject({ error: { code: 'load_failed' } });
    await bench.load(tools);
    const pids = await pidsOf(bench);
    expect(pids).not.toContain(typescript);
    await bench.code.restart();
    expect(bench.code.processes().live.some((pid) => [first, ...pids].includes(pid))).toBe(false);
  });

  it.each([
    [
      'is started with a world that has only TypeScript code',
      { 'tools.ts': tools['tools.ts'] },
      true,
    ],
    [
      'is started with a world that has TypeScript handlers',
      { ...tools, 'api/handlers.ts': 'export const f = () => 1;' },
      true,
    ],
    [
      'starts at the first run if the world has Python code and no TypeScript handlers',
      tools,
      false,
    ],
  ])('has a TypeScript worker that %s', async (_, files, isThere) => {
    bench = await startBench();
    expect(workersOf(bench, 'typescript/worker.mts')).toHaveLength(0);
    await bench.load(files);
    expect(workersOf(bench, 'typescript/worker.mts')).toHaveLength(isThere ? 1 : 0);
    const pid = await bench.value('typescript', 'pid');
    expect(workersOf(bench, 'typescript/worker.mts')).toEqual([pid]);
  });

  it('has its worker ended if it is idle for long, and another started for the next run', async () => {
    bench = await startBench({ idleMs: 50 });
    await bench.load(tools);
    const loaded = bench.code.processes().live;
    const before = await pidsOf(bench);
    expect(before).toContain(loaded[0]);
    const { processes } = bench.code;
    await until(() => processes().live.length === 0, {
      timeoutMs: 30_000,
      what: 'the end of both',
    });
    expect(await bench.value('python', 'pid')).not.toBe(before[0]);
    expect(await bench.value('typescript', 'pid')).not.toBe(before[1]);
  });

  it('is imported at the first run if its language has no files that are imported at once', async () => {
    bench = await startBench();
    const directory = await bench.load({ 'tools.py': tools['tools.py'] });
    writeFiles(directory, { 'late.ts': 'export const f = () => "late";' });
    expect(await bench.value('typescript', 'f', { file: 'late.ts' })).toBe('late');
  });

  it('runs concurrently in both languages, but one run after the other in the same language', async () => {
    bench = await startBench();
    await bench.load({
      'tools.py': 'n = 0\ndef f(i):\n    global n\n    n += 1\n    return [i, n]\n',
      'tools.ts': 'let n = 0; export const f = async ({ i }) => [i, ++n];',
    });
    const { value } = bench;
    const jobs = (['python', 'typescript'] as const).flatMap((language) =>
      Array.from({ length: 20 }, (_, i) => value(language, 'f', { input: { i } })),
    );
    const expected = Array.from({ length: 20 }, (_, i) => [i, i + 1]);
    expect(await Promise.all(jobs)).toEqual([...expected, ...expected]);
  });

  it('is refused if it lies outside of the folder for code', async () => {
    bench = await startBench();
    await expect(bench.code.load('/usr')).rejects.toThrow('outside of');
    await expect(bench.code.load(join(bench.folder, 'none'))).rejects.toThrow('does not exist');
  });
});

/**
 * Returns the program of a separate host process, which starts user code, prints the ids of its processes, and runs one
 * function.
 */
const hostProgram = (workDir: string, spins: boolean): string => `
  import { createLog } from '#runtime/log.ts';
  import { startUserCode } from './runner.ts';
  const code = await startUserCode({
    python: 'python3', workDir: ${JSON.stringify(workDir)}, log: createLog('test', 'silent'),
  });
  await code.load(${JSON.stringify(join(workDir, 'code'))});
  const run = (language, file, name) => code.run({
    language, file, function: name, as: 'tool', input: {}, access: {}, timeoutMs: 60_000,
  });
  const pids = [await run('python', 'tools.py', 'pid'), await run('typescript', 'tools.ts', 'pid')];
  if (${spins}) { run('python', 'tools.py', 'spin'); run('typescript', 'tools.ts', 'spin'); }
  console.log(JSON.stringify(pids.map(({ value }) => value)));
  setInterval(() => undefined, 1000);
`;

describe('a host that is killed', () => {
  it.each([
    ['idle', false],
    ['busy', true],
  ])('leaves no worker behind if the worker is %s', async (_, spins) => {
    const folder = makeFolder();
    writeFiles(join(folder.path, 'code'), tools);
    const program = hostProgram(folder.path, spins);
    const here = dirname(fileURLToPath(import.meta.url));
    const host = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd: here,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await host.stdout.take(1).toArray()) as [Buffer];
    const pids = JSON.parse(line.toString()) as number[];
    expect(pids.every(isAlive)).toBe(true);
    host.kill('SIGKILL');
    await areGone(pids);
    folder.remove();
  });
});
