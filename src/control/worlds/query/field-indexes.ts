/**
 * Indexes of mapped fields. An index is built when a query filters by its field for the first time
 * (`#data/query/field-index.ts`). One process builds one index at a time. An index is stored next to the unpacked
 * snapshot, for as long as the snapshot is in use.
 */
import type { FieldIndexPlan } from '#data/query/field-index.ts';
import { AppError } from '#domain/error.ts';
import type { JobProgram } from '../compile/process.ts';
import { createJobPool, type EndedJob, type ProcessPool } from '../compile/process-pool.ts';
import { queryProgramFile } from './queries.ts';

export type FieldIndexJob = { kind: 'field_index'; plan: FieldIndexPlan };

/** Limits of the process. An index over ten million rows takes some 20 s. */
const limits = { processes: 1, queued: 64, timeLimitMs: 600_000, memoryMb: 128 };

const program: JobProgram<FieldIndexJob, never> = {
  file: queryProgramFile,
  called: 'a process that makes an index',
  words: { undone: 'the query was not answered', waits: 'to query data', quota: 'query_queue' },
  complete: () => undefined,
};

export type FieldIndexes = Pick<ProcessPool, 'load' | 'stop'> & {
  /** Writes an index; the job waits in the fair queue of the given project. */
  write(plan: FieldIndexPlan, project: string): Promise<void>;
};

/** Creates the process pool. No process runs before the first index. */
export const createFieldIndexes = (onEnd: (job: EndedJob<'field_index'>) => void): FieldIndexes => {
  const pool = createJobPool<'field_index', FieldIndexJob, null, never>(program, limits, onEnd);
  return {
    load: () => pool.load(),
    stop: () => pool.stop(),
    async write(plan, project) {
      const end = await pool.run({ kind: 'field_index', plan }, { project });
      if (end.kind === 'done') return;
      throw new AppError('timeout', `the index of "${plan.field}" was not built in time`);
    },
  };
};
