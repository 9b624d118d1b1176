/** What a proof has found until now: its rows, which checks were ever seen to fail, which steps nobody grades. */
import type { Proof, ProofRow } from '#wire/public-api/evaluation/proof.ts';
import type { Judged } from './judge.ts';

/** Rows that a report has; what a task could need more for is summed up by its checks. */
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
    /** Notes which checks saw something. */
    saw({ checks }: Judged): void {
      for (const [index, { verdict }] of checks.entries()) {
        if (verdict === 'fail') bitten.add(index);
      }
    },
    hasBitten: (check: number): boolean => bitten.has(check),
    notGraded: (step: string): void => void notGraded.push(step),
    /** The report. `checks` are names by their position, of those that a proof looks at. */
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
