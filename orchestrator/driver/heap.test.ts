/** Tests the heap limit of a host on a real Node: how large it is, and how a process that reaches it ends. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { Isolation } from '#domain/pool.ts';
import { Secret } from '#runtime/secret.ts';
import { testPool } from '#test/support/orchestrator/pools.ts';
import { heapOptions, heapSignal } from './heap.ts';
import { type BoundaryChoice, hostEnvironment } from './host-environment.ts';

const runtimeSettings = {
  listen: 'x:0',
  addressing: 'loopback',
  workDir: '/tmp/work',
  snapshots: { folder: '/tmp/snapshots', mb: 64 },
  tokenFile: '-',
  python: 'python3',
  namespaces: [],
} as const;
const settings = { controlUrl: 'http://127.0.0.1:1', logLevel: 'info' } as const;

const hostWith = (memoryMb: number): NodeJS.ProcessEnv => {
  const size = { name: 'some', memoryMb, cpus: 1, pids: 128 };
  const shape = testPool({ size });
  const spec = { hostId: 'hst-1', generation: 0, token: new Secret('token'), shape };
  return hostEnvironment(spec, settings, runtimeSettings);
};

const node = (program: string, memoryMb: number) =>
  spawnSync(process.execPath, ['--eval', program], { env: hostWith(memoryMb), encoding: 'utf8' });

it.each([
  [512, 192 + 3 * 16],
  [2_048, 768 + 3 * 16],
  [128, 48 + 3 * 4],
])('a host with %i MiB of memory has a heap of %i MiB', (memoryMb, heapMb) => {
  const program = 'console.log(require("node:v8").getHeapStatistics().heap_size_limit / 2 ** 20)';
  expect(Number(node(program, memoryMb).stdout)).toBe(heapMb);
  expect(heapMb).toBeLessThan(memoryMb / 2);
});

it('a full heap ends the host by the signal that the drivers recognize', () => {
  const { signal, stderr } = node('const kept = []; for (;;) kept.push({ kept });', 128);
  expect([signal, stderr.includes('heap out of memory')]).toEqual([heapSignal, true]);
});

it("user code gets a part of the host's memory, and in a container it runs only behind its boundary", () => {
  const boundaryOf = (isolation: Isolation, userCodeBoundary?: BoundaryChoice) => {
    const shape = testPool({ isolation });
    const spec = { hostId: 'hst-1', generation: 0, token: new Secret('token'), shape };
    const all = { ...settings, ...(userCodeBoundary === undefined ? {} : { userCodeBoundary }) };
    const environment = hostEnvironment(spec, all, runtimeSettings);
    return [environment.SVC_USER_CODE_BOUNDARY, environment.SVC_USER_CODE_MEMORY_MB];
  };
  expect(boundaryOf('container')).toEqual(['require', '192']);
  expect(boundaryOf('process')).toEqual(['auto', '192']);
  // These isolations have kernels of their own, which separate hosts and may lack Landlock.
  expect(boundaryOf('gvisor')).toEqual(['auto', '192']);
  expect(boundaryOf('container', 'auto')).toEqual(['auto', '192']);
  expect(boundaryOf('process', 'require')).toEqual(['require', '192']);
});

it('a host opens no inspector on a signal', () => {
  // The process handles its own signal before the next line, and an inspector would open in the next turn of its loop.
  const say = 'setTimeout(() => console.log(require("node:inspector").url() ?? "closed"), 100)';
  const { stdout, stderr } = node(`process.kill(process.pid, "SIGUSR1"); ${say}`, 512);
  expect([stdout.trim(), stderr]).toEqual(['closed', '']);
});

it('the C library of a host is set to keep little free memory', () => {
  expect(hostWith(512)).toMatchObject({
    MALLOC_ARENA_MAX: '1',
    MALLOC_TRIM_THRESHOLD_: '131072',
  });
});

it('the smallest host gets a heap, too', () => {
  expect(heapOptions(16)).toBe('--max-old-space-size=6 --max-semi-space-size=1');
});
