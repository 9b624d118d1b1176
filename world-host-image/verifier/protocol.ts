/**
 * What the host and the process that runs a verifier say to each other. The host sends lines: the
 * question, then each row as an entity's number, a tab and the row's JSON. The process says `loaded` on
 * a line when it has read them all, then what came of the query, and ends.
 */
import type { EntityContract } from '#language/contract.ts';

export type Question = {
  /** Tables by the numbers that rows name them by. */
  entities: EntityContract[];
  source: string;
  /** The file of base rows that the rows that are sent come on top of; undefined: they are all. */
  file?: string | undefined;
};

export type Verdict = { name: string | null; passed: boolean };

export type Judged = { ok: true; checks: Verdict[] } | { ok: false; message: string };

/** Begins the line of a row of the file that does not count; the entity's number and its position follow. */
export const gone = 'gone ';

/** The line that says that the query begins. */
export const loaded = 'loaded';

/** Rows that a verifier may answer, and characters of a name. */
export const verdictLimits = { rows: 1_000, nameChars: 200 };

/** What the process writes as its last word when it takes more. */
export const outOfMemory = 'out of memory';
