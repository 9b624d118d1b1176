/**
 * Runs queries of world data in processes, off the event loop that all requests share. Patterns and rows are user
 * input, and the time of a scan depends on them. Projects share the processes by a fair queue, and no project may
 * occupy all of them.
 */

import { fileURLToPath } from 'node:url';
import type { QueryOutcome } from '#data/query/plan.ts';
import type { ReadContract } from '#data/query/store-file.ts';
import { AppError } from '#domain/error.ts';
import type { QueryLimits } from '../../config.ts';
import type { JobProgram } from '../compile/process.ts';
import {
  createJobPool,
  type EndedJob,
  type JobContext,
  type ProcessPool,
} from '../compile/process-pool.ts';
import type { QueryJob } from './job.ts';

type Contracts = Record<string, ReadContract>;

/** Maximum number of queries, of all projects together, that wait for a process. */
const queued = 256;
/** Time for which a query continues after its client has disconnected, in milliseconds. */
const leftMs = 500;

/** Path of the program that query processes run. */
export const queryProgramFile = fileURLToPath(new URL('./worker.ts', import.meta.url));

const program: JobProgram<QueryJob, Contracts> = {
  file: queryProgramFile,
  called: 'a query process',
  words: { undone: 'the query was not answered', waits: 'to query data', quota: 'query_queue' },
  complete: (job, contracts) => ({ ...job, contracts }),
};

export type Queries = Pick<ProcessPool<QueryJob, QueryOutcome, Contracts>, 'load' | 'stop'> & {
  /**
   * Answers a query. Throws `timeout` if the query takes too long, `invalid` if it takes too much memory, and
   * `exhausted` if too many queries of the project wait.
   */
  run(job: QueryJob, context: JobContext<QueryJob, Contracts>): Promise<QueryOutcome>;
};

/** Creates the process pool. No process runs before the first query. */
export const createQueries = (
  limits: QueryLimits,
  onEnd: (job: EndedJob<'query'>) => void,
): Queries => {
  const pool = createJobPool<'query', QueryJob, QueryOutcome, Contracts>(
    program,
    { ...limits, queued, leftMs },
    onEnd,
  );
  return {
    load: () => pool.load(),
    stop: () => pool.stop(),
    async run(job, context) {
      const end = await pool.run(job, context);
      if (end.kind === 'done') return end.outcome;
      const [what, code] =
        end.kind === 'out_of_time'
          ? ([`took longer than ${limits.timeLimitMs / 1_000} s`, 'timeout'] as const)
          : (['took more memory than is allowed', 'invalid'] as const);
      const way =
        'filter by a field that has an index (see "Data" of the API), or request less at once';
      throw new AppError(code, `the query ${what}: ${way}`);
    },
  };
};
