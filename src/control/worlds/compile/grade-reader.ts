/** Parses grades. Small grades are parsed at once, large ones in a separate process, like request bodies. */
import { limits } from '#domain/limits.ts';
import { type GradeSummary, summarizeGrade } from '../../base/contracts/grade-summary.ts';
import type { ProcessPool } from './process-pool.ts';

/**
 * Returns the summary of the grade in a host's answer; undefined if the answer is no grade, or takes too much time or
 * memory to parse.
 */
export type GradeReader = (
  outputJson: string,
  projectId: string,
) => Promise<GradeSummary | undefined>;

/** Creates the reader. It uses the processes that parse large bodies. */
export const createGradeReader =
  (processes: Pick<ProcessPool, 'run'>): GradeReader =>
  async (outputJson, project) => {
    if (outputJson.length <= limits.directBodyBytes) return summarizeGrade(outputJson);
    const job = { kind: 'read-grade', outputJson } as const;
    const end = await processes.run(job, { project, signal: undefined });
    return end.kind === 'done' ? (end.outcome as GradeSummary | undefined) : undefined;
  };
