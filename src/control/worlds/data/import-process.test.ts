/** Tests imports that exceed a limit. Each ends with the limit as its reason and leaves no process running. */
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, truncateSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createImportFiles, planOf } from '#test/support/data/import-files.ts';
import { runImportProcess } from './import-process.ts';
import { diskOf, memoryOf } from './process-use.ts';

const files = createImportFiles();
afterAll(() => files.remove());

const plenty = { timeLimitMs: 600_000, memoryMb: 512, diskMib: 1_024 };

/** Rows that take some time to import. */
const lines = Array.from(
  { length: 250_000 },
  (_, index) => `{"login":"user-${index}-${'x'.repeat(150)}","id":${index + 1}}`,
);

const run = (limits: Partial<typeof plenty>, signal = new AbortController().signal, rows = lines) =>
  runImportProcess({
    plan: planOf(files.folder(), { chunks: [files.chunk(0, rows, 'users')] }),
    limits: { ...plenty, ...limits },
    onProgress: () => undefined,
    signal,
  });

describe('an import', () => {
  it('is ended if it takes too much time, disk space or memory', async () => {
    await expect(run({ timeLimitMs: 1 })).rejects.toMatchObject({ code: 'out_of_time' });
    await expect(run({ diskMib: 1 })).rejects.toMatchObject({ code: 'out_of_disk' });
    await expect(run({ memoryMb: 24 })).rejects.toMatchObject({ code: 'out_of_memory' });
  });

  it('completes within its limits, and ends when it is cancelled', async () => {
    const off = new AbortController();
    const done = await run({}, off.signal, lines.slice(0, 20_000));
    expect(done).toMatchObject({ kind: 'applied', landed: { users: 20_000 } });
    const running = run({}, off.signal);
    off.abort();
    await expect(running).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the disk space of a process', () => {
  it('includes deleted files that are still open', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-use-'));
    const path = join(folder, 'gone');
    const descriptor = openSync(path, 'w');
    truncateSync(path, 5_000_000);
    unlinkSync(path);
    const child = spawn('sleep', ['60'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] });
    try {
      expect(await diskOf(child.pid ?? 0, folder)).toBe(5_000_000);
      expect(await memoryOf(child.pid ?? 0)).toBeGreaterThan(0);
    } finally {
      child.kill();
      rmSync(folder, { recursive: true });
    }
  });
});
