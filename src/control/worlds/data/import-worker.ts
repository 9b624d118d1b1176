/**
 * The import process, a program of its own: one import over files in a folder, until it is done or whoever started it
 * is gone. It has no secrets, no environment but where its compiled code is kept, and knows no database and no blobs.
 */

import type { ImportOutcome, ImportPlan, ImportProgress } from '#data/import/plan.ts';
import { runImport } from '#data/import/run.ts';
import { AppError, describeError } from '#domain/error.ts';

/** What the process says: `ready` once, then how far it is, and one of the others at its end. */
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

/** The engine computes for long without a pause, so an end of the parent is looked for here as well. */
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

// Who started it decides when it ends; the signals of a terminal reach both.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', async (plan: ImportPlan) => say(await run(plan)));
say({ kind: 'ready' });
