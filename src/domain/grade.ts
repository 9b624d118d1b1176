/** What a grade, or one check of it, comes to. */

/** `unknown`: it could not be judged, which says nothing about whoever is graded. */
export const verdicts = ['pass', 'fail', 'unknown'] as const;
export type Verdict = (typeof verdicts)[number];

/** What checks come to together: one that fails decides, then one that could not be judged. */
export const verdictOfAll = (checks: readonly { verdict: Verdict }[]): Verdict => {
  if (checks.some(({ verdict }) => verdict === 'fail')) return 'fail';
  return checks.some(({ verdict }) => verdict === 'unknown') ? 'unknown' : 'pass';
};
