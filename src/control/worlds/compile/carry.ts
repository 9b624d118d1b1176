/**
 * Combines the kept rows and the tree's rows of a push, in separate processes (`#data/import/carry.ts`). The rows are
 * user input and may number ten million, so this process never reads any of them. Projects share the processes by a
 * fair queue.
 */
import { fileURLToPath } from 'node:url';
import type { CarryOutcome, CarryPlan } from '#data/import/carry.ts';
import { AppError } from '#domain/error.ts';
import type { JobProgram } from './process.ts';
import { createJobPool, type EndedJob, type JobContext, type ProcessPool } from './process-pool.ts';

export type CarryJob = {
  kind: 'carry';
  plan: Omit<CarryPlan, 'contract' | 'treeRows'>;
  /** Contract and rows of the tree as JSON texts, as the compiler returns them. */
  contractJson: string;
  treeRowsJson: string;
  /** Maximum size of the version's database, in bytes. */
  storeBytes: number;
};

/** Limits of the processes that combine rows. Combining ten million rows takes one to two minutes. */
const limits = { processes: 2, queued: 64, timeLimitMs: 600_000, memoryMb: 256, leftMs: 2_000 };

const program: JobProgram<CarryJob, never> = {
  file: fileURLToPath(new URL('./carry-worker.ts', import.meta.url)),
  called: 'a process that carries rows',
  words: { undone: 'the push was not done', waits: 'to keep rows', quota: 'carry_queue' },
  complete: () => undefined,
};

export type RowCarrier = Pick<ProcessPool, 'load' | 'stop'> & {
  /**
   * Combines rows. Throws `exhausted` if too many jobs of the project wait, `timeout` if the job takes too long, and
   * `invalid` if the rows exceed the maximum size of a world or the memory of the process.
   */
  run(job: CarryJob, context: JobContext<CarryJob, never>): Promise<CarryOutcome>;
};

/** Creates the process pool. No process runs before the first push that keeps rows. */
export const createRowCarrier = (onEnd: (job: EndedJob<'carry'>) => void): RowCarrier => {
  const pool = createJobPool<'carry', CarryJob, CarryOutcome, never>(program, limits, onEnd);
  return {
    load: () => pool.load(),
    stop: () => pool.stop(),
    async run(job, context) {
      const end = await pool.run(job, context);
      if (end.kind === 'done') return end.outcome;
      const [code, what] =
        end.kind === 'out_of_time'
          ? (['timeout', `took longer than ${limits.timeLimitMs / 1_000} s`] as const)
          : (['invalid', 'took more memory than is allowed'] as const);
      const way = 'push with "data": "replace" and import the rows again';
      throw new AppError(code, `keeping the rows that are not in the tree ${what}: ${way}`);
    },
  };
};
