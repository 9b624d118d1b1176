/**
 * Runs an import as a program, so that tests can kill or measure it: `import-program.ts <plan.json> [n]`. It reports
 * its progress with the time, then its outcome and its peak memory. After n progress reports it kills itself.
 */
import { readFileSync } from 'node:fs';
import type { ImportOutcome, ImportPlan, ImportProgress } from '#data/import/plan.ts';
import { runImport } from '#data/import/run.ts';

/** One line of the program's output. */
export type ImportLine =
  | { kind: 'progress'; progress: ImportProgress; atMs: number }
  | { kind: 'done'; outcome: ImportOutcome; atMs: number; peakBytes: number };

const say = (line: ImportLine): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

/** Returns the peak memory of this process, in bytes; 0 where the system does not report it. */
const peakBytes = (): number => {
  const [, kib = '0'] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kib) * 1024;
};

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ImportPlan;
const beganAt = performance.now();
const elapsed = (): number => performance.now() - beganAt;
const killAt = Number(process.argv[3] ?? 0);
let said = 0;
const outcome = await runImport(plan, (progress) => {
  said += 1;
  if (said === killAt) process.kill(process.pid, 'SIGKILL');
  say({ kind: 'progress', progress, atMs: elapsed() });
});
say({ kind: 'done', outcome, atMs: elapsed(), peakBytes: peakBytes() });
