/**
 * Tests the limit on the memory that all processes of user code take together, if each of them is within its own
 * limits.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, startBench } from '#test/support/host/user-code.ts';
import { createMemoryPool } from './watch.ts';

describe('a pool of memory', () => {
  const notified: string[] = [];
  const member = (name: string, privateBytes: number | undefined) => ({
    gauge: {
      read: () =>
        privateBytes === undefined
          ? undefined
          : { privateBytes, residentBytes: 1_000, threads: 1, descriptors: 3 },
      close: () => undefined,
    },
    onFull: () => void notified.push(name),
  });

  it('notifies only the largest process if all processes together use too much', () => {
    const pool = createMemoryPool(100);
    pool.join(member('gone', undefined));
    pool.join(member('small', 40));
    const leave = pool.join(member('large', 60));
    pool.look();
    expect(notified).toEqual([]);
    pool.join(member('last', 1));
    pool.look();
    expect(notified).toEqual(['large']);
    leave();
    pool.look();
    expect(notified).toEqual(['large']);
  });
});

describe('a Python and a TypeScript run at the same time', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench({ memoryMb: 96 });
    await bench.load({
      'tools.py': `
import time
def hold(mb, ms):
    held = bytearray(b"x") * (mb * 2**20)
    time.sleep(ms / 1000)
    return len(held) // 2**20
`,
      'tools.ts': `
export const hold = async ({ mb, ms }) => {
  const held = Array.from({ length: mb }, () => Buffer.alloc(2 ** 20, 'x'));
  await new Promise((resolve) => setTimeout(resolve, ms));
  return held.length;
};
`,
    });
  });
  afterAll(() => bench.close());

  it('are limited together: if both use too much memory, the larger process is ended, and the other continues', async () => {
    expect(await bench.value('typescript', 'hold', { input: { mb: 90, ms: 100 } })).toBe(90);
    const results = await Promise.all([
      bench.run('python', 'hold', { input: { mb: 70, ms: 1_000 } }),
      bench.run('typescript', 'hold', { input: { mb: 120, ms: 1_000 } }),
    ]);
    expect(results).toMatchObject([
      { ok: true, value: 70 },
      { ok: false, error: { code: 'out_of_memory' } },
    ]);
    expect(await bench.value('typescript', 'hold', { input: { mb: 1, ms: 1 } })).toBe(1);
  });
});
