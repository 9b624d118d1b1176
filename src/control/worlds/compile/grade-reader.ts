/** Reads grades: small ones at once, large ones in a process of their own, as it does with bodies. */
import { limits } from '#domain/limits.ts';
import { type GradeSummary, summarizeGrade } from '../../base/contracts/grade-summary.ts';
import type { ProcessPool } from './process-pool.ts';

/** The summary of what a host answered; undefined for what is no grade, or takes too much to read. */
export type GradeReader = (
  outputJson: string,
  projectId: string,
) => Promise<GradeSummary | undefined>;

/** Makes it over the processes that large bodies are read in. */
export const createGradeReader =
  (processes: Pick<ProcessPool, 'run'>): GradeReader =>
  async (outputJson, project) => {
    if (outputJson.length <= limits.directBodyBytes) return summarizeGrade(outputJson);
    const job = { kind: 'read-grade', outputJson } as const;
    const end = await processes.run(job, { project, signal: undefined });
    return end.kind === 'done' ? (end.outcome as GradeSummary | undefined) : undefined;
  };
