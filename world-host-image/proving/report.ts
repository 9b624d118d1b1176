/**
 * Collects the results of a proof: its rows, the checks that have failed at least once, and the steps that no check
 * grades.
 */
import type { Proof, ProofRow } from '#wire/public-api/evaluation/proof.ts';
import type { Judged } from './judge.ts';

/**
 * Maximum number of rows in a report. If a proof has more, rows that are ok are left out first; counts and lists stay
 * complete.
 */
const mostRows = 2_000;
const mostChars = 300;

export const createReport = () => {
  const rows: ProofRow[] = [];
  const bitten = new Set<number>();
  const notGraded: string[] = [];
  const summary = { tried: 0, ok: 0 };
  /** Makes space for a row by removing an ok row; returns false if the row must be left out instead. */
  const evictFor = (row: ProofRow): boolean => {
    if (rows.length < mostRows) return true;
    const spare = row.ok ? -1 : rows.findLastIndex(({ ok }) => ok);
    if (spare !== -1) rows.splice(spare, 1);
    return spare !== -1;
  };
  return {
    add(row: ProofRow): void {
      summary.tried += 1;
      if (row.ok) summary.ok += 1;
      if (!evictFor(row)) return;
      rows.push({ ...row, detail: row.detail === null ? null : row.detail.slice(0, mostChars) });
    },
    /** Records which checks failed. */
    saw({ checks }: Judged): void {
      for (const [index, { verdict }] of checks.entries()) {
        if (verdict === 'fail') bitten.add(index);
      }
    },
    hasBitten: (check: number): boolean => bitten.has(check),
    notGraded: (step: string): void => void notGraded.push(step),
    /** Builds the report. `checks` are the names of the checks that the proof examines, in their order. */
    end(checks: readonly string[]): Proof {
      const { tried, ok } = summary;
      return {
        passed: tried > 0 && ok === tried,
        summary: { tried, ok },
        rows,
        notGraded,
        neverBites: checks.filter((_, index) => !bitten.has(index)),
      };
    },
  };
};
export type Report = ReturnType<typeof createReport>;
