/** Result of one check of a grader. It has the same form for every kind of grader. */

import type { Verdict } from '#domain/grade.ts';

export type CheckResult = {
  name: string;
  verdict: Verdict;
  /** True if the verdict is `pass`. */
  passed: boolean;
  /** Weight in the score; 1 if absent. */
  weight?: number;
  expected: string | null;
  found: string | null;
  detail: string | null;
};

/** Returns the verdict of a check: `pass` or `fail`. */
export const verdictOf = (passed: boolean): Pick<CheckResult, 'verdict' | 'passed'> => ({
  verdict: passed ? 'pass' : 'fail',
  passed,
});
