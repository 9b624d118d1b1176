/**
 * Combines the rows that a push keeps with those of its tree, in processes of their own (`#data/import/carry.ts`).
 * These rows are user input and may number ten million, so none of them is ever read in this process. Projects share
 * the processes by a fair queue.
 */
import { fileURLToPath } from 'node:url';
import type { CarryOutcome, CarryPlan } from '#data/import/carry.ts';
import { AppError } from '#domain/error.ts';
import type { JobProgram } from './process.ts';
import { createJobPool, type EndedJob, type JobContext, type ProcessPool } from './process-pool.ts';

export type CarryJob = {
  kind: 'carry';
  plan: Omit<CarryPlan, 'contract' | 'treeRows'>;
  /** JSON texts, as they come from compiling. */
  contractJson: string;
  treeRowsJson: string;
  /** Upper bound for the size of the version's database. */
  storeBytes: number;
};

/** Limits of these processes. Ten million rows take a minute or two. */
const limits = { processes: 2, queued: 64, timeLimitMs: 600_000, memoryMb: 256, leftMs: 2_000 };

const program: JobProgram<CarryJob, never> = {
  file: fileURLToPath(new URL('./carry-worker.ts', import.meta.url)),
  called: 'a process that carries rows',
  words: { undone: 'the push was not done', waits: 'to keep rows', quota: 'carry_queue' },
  complete: () => undefined,
};

export type RowCarrier = Pick<ProcessPool, 'load' | 'stop'> & {
  /**
   * Carries rows. Throws `exhausted` if too many jobs of the project wait, and `timeout` if it takes too long. Throws
   * `invalid` if the rows exceed the size of a world or the memory of the process.
   */
  run(job: CarryJob, context: JobContext<CarryJob, never>): Promise<CarryOutcome>;
};

/** Creates the process pool; no process runs before the first push that keeps rows. */
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
          : (['invalid', 'took more memory than it may'] as const);
      const way = 'push with "data": "replace" and import the rows again';
      throw new AppError(code, `keeping the rows that are not in the tree ${what}: ${way}`);
    },
  };
};
