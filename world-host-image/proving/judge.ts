/** Grades a run for a proof, and returns the verdict and which checks passed. */
import type { Verdict } from '#domain/grade.ts';
import { gradeSession } from '../grading/grade.ts';
import type { Session } from '../session/session.ts';

export type Judged = {
  verdict: Verdict;
  checks: { name: string; verdict: Verdict }[];
  /** Reason why there is no verdict, or the detail of the first failed check; null if there is neither. */
  detail: string | null;
};

const mostDetailChars = 300;
/** Maximum number of changes that the check of a closed world names. */
const mostNamed = 5;

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

export const judge = async (session: Session): Promise<Judged> => {
  const grader = session.task?.grader;
  if (grader === undefined) {
    return { verdict: 'unknown', checks: [], detail: 'the task has no grader' };
  }
  const { verdict, checks, error } = await gradeSession(session, grader, {
    offset: 0,
    limit: mostNamed,
  });
  const failed = checks.find((check) => check.verdict !== 'pass');
  const found = [failed?.found, failed?.detail].filter((part) => part != null).map(textOf);
  const why = failed && [failed.name, found.join('; ')].filter(Boolean).join(': ');
  const detail = error === undefined ? why : `${error.code}: ${error.message}`;
  return {
    verdict,
    checks: checks.map((check) => ({ name: check.name, verdict: check.verdict })),
    detail: detail?.slice(0, mostDetailChars) ?? null,
  };
};
