/**
 * Program of the import processes. A process runs one import over files in a folder, and exits when the import ends or
 * the parent process is gone. It has no secrets, no environment variables except the folder of its compiled code, and
 * no access to the database or to blobs.
 */

import type { ImportOutcome, ImportPlan, ImportProgress } from '#data/import/plan.ts';
import { runImport } from '#data/import/run.ts';
import { AppError, describeError } from '#domain/error.ts';

/** Messages that the process sends: `ready` once, then progress, and one of the other messages at the end. */
export type ImportMessage =
  | { kind: 'ready' }
  | { kind: 'progress'; progress: ImportProgress }
  | { kind: 'done'; outcome: ImportOutcome }
  | { kind: 'refused'; code: string; message: string }
  | { kind: 'failed'; message: string };

const say = (message: ImportMessage): void => {
  process.send?.(message);
};

const parent = process.ppid;

/**
 * Reports progress. The engine computes for a long time without a pause, so this function also checks whether the
 * parent process has ended.
 */
const report = (progress: ImportProgress): void => {
  if (process.ppid !== parent) process.exit(1);
  say({ kind: 'progress', progress });
};

const run = async (plan: ImportPlan): Promise<ImportMessage> => {
  try {
    return { kind: 'done', outcome: await runImport(plan, report) };
  } catch (error) {
    if (error instanceof AppError) {
      return { kind: 'refused', code: error.code, message: error.message };
    }
    return { kind: 'failed', message: (error as Error).stack ?? describeError(error) };
  }
};

// The parent decides when this process ends; a terminal sends its signals to both.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', async (plan: ImportPlan) => say(await run(plan)));
say({ kind: 'ready' });
