/** Tasks of a contract: the initial state of a session and its grading. */
import type { Check } from './checks.ts';
import type { Solution } from './solution.ts';

/** A row as JSON. The type repeats `Row` of the contract, because the contract imports this file. */
type Row = { [field: string]: unknown };

/** Changes that are allowed in addition to those that the checks require. Without `fields`, whole rows may change. */
export type Allowance = { entity: string; fields?: string[]; where?: Row };

/**
 * Treatment of other changes. If `closed` is true, a change that no check requires and `allow` does not cover fails the
 * task; otherwise it is only reported.
 */
export type GraderChanges = { closed?: boolean; allow?: Allowance[] };

/**
 * Grader of a task. `sql` is one `select` over the world's tables, which returns a row for each check: `passed`, 0 or
 * 1, and optionally `name`.
 */
export type Grader = (
  | { kind: 'assertions'; checks: Check[] }
  | { kind: 'python'; source: string }
  | { kind: 'sql'; source: string }
) & { changes?: GraderChanges };

/**
 * Mode in which a seed's rows are combined with the world's rows. `append` adds the seed's rows. `merge` changes the
 * top-level fields of rows with the same primary key, and adds the others. `replace` replaces all rows of their
 * entities.
 */
export const seedModes = ['append', 'merge', 'replace'] as const;
export type SeedMode = (typeof seedModes)[number];

/** A task: an instruction, rows that are added to the world's, and a grader. */
export type Task = {
  name: string;
  description: string | null;
  /** Tools that the agent is offered; null if it is offered all. */
  tools: string[] | null;
  instruction: string | null;
  seed: { mode: SeedMode; rows: Record<string, Row[]> };
  grader: Grader | null;
  /** Solution that proofs use; it is never shown to an agent. */
  solution?: Solution;
  /** Further solutions that are as right as `solution`. */
  alternatives?: Solution[];
};
