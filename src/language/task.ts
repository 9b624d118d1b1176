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

/** What a session is opened on: an instruction, rows on top of the world's, and a grader. */
export type Task = {
  name: string;
  description: string | null;
  /** Tools the agent is given; null: all. */
  tools: string[] | null;
  instruction: string | null;
  seed: { mode: 'append' | 'replace'; rows: Record<string, Row[]> };
  grader: Grader | null;
  /** How it is solved, for proofs; never shown to an agent. */
  solution?: Solution;
  /** Other ways that are as right. */
  alternatives?: Solution[];
};
