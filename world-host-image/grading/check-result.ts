/** What came of one check of a grader, whatever kind of grader made it. */

/** `unknown`: the check could not be judged, which is never held against the agent. */
export type CheckVerdict = 'pass' | 'fail' | 'unknown';

export type CheckResult = {
  name: string;
  verdict: CheckVerdict;
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
