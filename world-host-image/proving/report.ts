/**
 * Collects the results of a proof: its rows, the checks that have failed at least once, and the steps that no check
 * grades.
 */
import type { Proof, ProofRow } from '#wire/public-api/evaluation/proof.ts';
import type { Judged } from './judge.ts';

/** Maximum number of rows in a report. Further rows are dropped; the lists of checks and steps stay complete. */
const mostRows = 2_000;
const mostChars = 300;

export const createReport = () => {
  const rows: ProofRow[] = [];
  const bitten = new Set<number>();
  const notGraded: string[] = [];
  return {
    add(row: ProofRow): void {
      if (rows.length < mostRows) {
        rows.push({ ...row, detail: row.detail === null ? null : row.detail.slice(0, mostChars) });
      }
    },
    /** Records which checks failed. */
    saw({ checks }: Judged): void {
      for (const [index, { verdict }] of checks.entries()) {
        if (verdict === 'fail') bitten.add(index);
      }
    },
    hasBitten: (check: number): boolean => bitten.has(check),
    notGraded: (step: string): void => void notGraded.push(step),
    /** Builds the report. `checks` are the names, by position, of the checks that the proof examines. */
    end(checks: readonly string[]): Proof {
      const ok = rows.filter((row) => row.ok).length;
      return {
        passed: rows.length > 0 && ok === rows.length,
        summary: { tried: rows.length, ok },
        rows,
        notGraded,
        neverBites: checks.filter((_, index) => !bitten.has(index)),
      };
    },
  };
};
export type Report = ReturnType<typeof createReport>;
