/**
 * Messages between the host and the process that runs a verifier. The host sends lines: first the question, then the
 * rows, each as the number of its entity, a tab and its JSON. When the process has read them all, it prints the line
 * `loaded`. Then it prints the result of the query, and ends.
 */
import type { EntityContract } from '#language/contract.ts';

export type Question = {
  /** Entities to create tables for. The number of an entity in a row's line is its index in this list. */
  entities: EntityContract[];
  source: string;
  /** File of base rows, to which the sent rows are added; undefined if all rows are sent. */
  file?: string | undefined;
};

export type Verdict = { name: string | null; passed: boolean };

export type Judged = { ok: true; checks: Verdict[] } | { ok: false; message: string };

/**
 * Prefix of a line that says that a row of the file no longer exists; the entity's number and the row's position
 * follow.
 */
export const gone = 'gone ';

/** Line that reports that all rows are loaded and the query begins. */
export const loaded = 'loaded';

/** Maximum number of rows that a verifier may return, and maximum length of a check's name in characters. */
export const verdictLimits = { rows: 1_000, nameChars: 200 };

/** Last text that the process prints when it exceeds its memory limit. */
export const outOfMemory = 'out of memory';
