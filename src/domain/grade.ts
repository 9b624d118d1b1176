/** Verdicts of a grade, and of the checks that it consists of. */

/** Possible verdicts. `unknown`: the check could not be judged, which says nothing about the graded agent. */
export const verdicts = ['pass', 'fail', 'unknown'] as const;
export type Verdict = (typeof verdicts)[number];

/** Combines the verdicts of checks: `fail` if one fails, else `unknown` if one could not be judged, else `pass`. */
export const verdictOfAll = (checks: readonly { verdict: Verdict }[]): Verdict => {
  if (checks.some(({ verdict }) => verdict === 'fail')) return 'fail';
  return checks.some(({ verdict }) => verdict === 'unknown') ? 'unknown' : 'pass';
};
