/**
 * Messages between the host and the process that runs a verifier. The host sends lines: the question, then each row as
 * an entity's number, a tab and the row's JSON. The process prints `loaded` on a line when it has read them all, then
 * the result of the query, and ends.
 */
import type { EntityContract } from '#language/contract.ts';

export type Question = {
  /** Tables, in the order of the numbers by which rows refer to them. */
  entities: EntityContract[];
  source: string;
  /** File of base rows that the sent rows are added to; undefined if the sent rows are all. */
  file?: string | undefined;
};

export type Verdict = { name: string | null; passed: boolean };

export type Judged = { ok: true; checks: Verdict[] } | { ok: false; message: string };

/** Prefix of a line that invalidates a row of the file; the entity's number and the row's position follow. */
export const gone = 'gone ';

/** Line that reports that all rows are loaded and the query begins. */
export const loaded = 'loaded';

/** Maximum number of rows that a verifier may return, and maximum characters of a name. */
export const verdictLimits = { rows: 1_000, nameChars: 200 };

/** Last text of the process when it exceeds its memory. */
export const outOfMemory = 'out of memory';
