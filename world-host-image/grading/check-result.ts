/** What came of one check of a grader, whatever kind of grader made it. */

import type { Verdict } from '#domain/grade.ts';

export type CheckResult = {
  name: string;
  verdict: Verdict;
  /** Whether the verdict is `pass`. */
  passed: boolean;
  /** What it counts for in the score; absent: 1. */
  weight?: number;
  expected: string | null;
  found: string | null;
  detail: string | null;
};

/** What a check comes to that found its task done, or not. */
export const verdictOf = (passed: boolean): Pick<CheckResult, 'verdict' | 'passed'> => ({
  verdict: passed ? 'pass' : 'fail',
  passed,
});
