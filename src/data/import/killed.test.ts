/**
 * Tests that an import whose process is killed at any moment and run again gives the same bytes as an uninterrupted
 * one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { createImportFiles, importApplied, planOf } from '#test/support/data/import-files.ts';
import type { ImportPlan } from './plan.ts';
import { runImport } from './run.ts';

const files = createImportFiles();
afterAll(() => files.remove());

const program = fileURLToPath(
  new URL('../../../test/support/data/import-program.ts', import.meta.url),
);

/** Runs the plan in a process that is killed at its n-th progress report. */
const killAt = async (plan: ImportPlan, reports: number): Promise<void> => {
  const file = files.folder();
  writeFileSync(file, JSON.stringify(plan));
  const child = spawn(process.execPath, [program, file, String(reports)], { stdio: 'ignore' });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
};

it('an import that is killed in any phase and restarted makes the same snapshot as an uninterrupted one', async () => {
  const rows = Array.from({ length: 8_000 }, (_, id) =>
    JSON.stringify({
      login: `user-${(id * 7919) % 8_009}`,
      id,
      profile: { email: `${id}@example.test` },
    }),
  );
  const chunks = [0, 1].map((ordinal) =>
    files.chunk(ordinal, rows.slice(ordinal * 4_000, (ordinal + 1) * 4_000), 'users'),
  );
  let reports = 0;
  const whole = await runImport(planOf(files.folder(), { chunks }), () => {
    reports += 1;
  });
  if (whole.kind === 'refused') throw new Error('the import was refused');
  const torn = planOf(files.folder(), { chunks });
  // Kills the import in the first chunk and in the second, when all rows are read, and before the snapshot is written.
  for (const at of [1, reports - 3, reports - 1, reports]) await killAt(torn, at);
  const again = await importApplied(torn);
  expect(again.snapshot?.digest).toBe(whole.snapshot?.digest);
  expect(readFileSync(again.snapshot?.file ?? '')).toEqual(
    readFileSync(whole.snapshot?.file ?? ''),
  );
});
