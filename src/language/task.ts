/** What a session of a world is opened on and how it is judged, as a contract has it. */
import type { Check } from './checks.ts';
import type { Solution } from './solution.ts';

/** A row as JSON, as in a contract, which is above this. */
type Row = { [field: string]: unknown };

/** Changes that are expected beside those of the checks: of these fields, or of whole rows. */
export type Allowance = { entity: string; fields?: string[]; where?: Row };

/** `closed`: a change that no check asks for and that is not allowed fails; absent: it is only told. */
export type GraderChanges = { closed?: boolean; allow?: Allowance[] };

/**
 * `sql` is one `select` over the world's tables that answers a row for each check: `passed`, 0 or 1,
 * and optionally `name`.
 */
export type Grader = (
  | { kind: 'assertions'; checks: Check[] }
  | { kind: 'python'; source: string }
  | { kind: 'sql'; source: string }
) & { changes?: GraderChanges };

/**
 * Effect of a seed's rows: join the world's; change the top-level fields of rows with their primary keys, or join where
 * there is none; or stand in place of all rows of their entities.
 */
export const seedModes = ['append', 'merge', 'replace'] as const;
export type SeedMode = (typeof seedModes)[number];

/** What a session is opened on: an instruction, rows on top of the world's, and a grader. */
export type Task = {
  name: string;
  description: string | null;
  /** Tools the agent is given; null: all. */
  tools: string[] | null;
  instruction: string | null;
  seed: { mode: SeedMode; rows: Record<string, Row[]> };
  grader: Grader | null;
  /** How it is solved, for proofs; never shown to an agent. */
  solution?: Solution;
  /** Other ways that are as right. */
  alternatives?: Solution[];
};
