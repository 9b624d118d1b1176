/**
 * Validates patterns of users and matches them, in child processes. Matches are cached by project, because the models
 * of a project match few names. A search that exceeds a limit has no result: a text that was not searched in time is
 * not cached as unmatched.
 */
import { LRUCache } from 'lru-cache';
import type { Log } from '#runtime/log.ts';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import type { Compiler } from '../../worlds/compile/compiler.ts';
import type { PatternsFound } from '../../worlds/compile/match-patterns.ts';
import type { ProcessPool } from '../../worlds/compile/process-pool.ts';

/** Maximum length of a text that is searched, in characters; a longer text counts as unmatched. */
const mostTextChars = 200;

/** Size of the cache for all projects, and size of an entry without its texts, in bytes. */
const mostBytes = 32 * 1024 * 1024;
const entryBytes = 256;
const bytesPerChar = 2;

/**
 * Time for which a project's texts are not searched after a search exceeded its limits, in milliseconds. It is longer
 * than a write takes.
 */
const restMs = 10_000;
const mostResting = 10_000;

/** Returns the fault of each invalid pattern, by index; throws `exhausted` if the project has used up its CPU time. */
export const judgePatterns = async (
  compiler: Compiler,
  projectId: string,
  patterns: readonly string[],
): Promise<readonly (string | null)[]> => {
  const job = { kind: 'judge-patterns', patterns } as const;
  const judged = await compiler.run(job, { project: projectId });
  if (judged.ok) return judged.faults;
  return patterns.map(() => 'takes too much time or memory to compile');
};

/**
 * Searches texts for patterns of a project. If a search exceeds its limits, the result covers only the first texts, or
 * none.
 */
export type FindPatterns = (
  projectId: string,
  patterns: readonly string[],
  texts: readonly string[],
) => Promise<PatternsFound>;

/**
 * Creates the function that searches texts for patterns. Each search runs in one of the processes that also parse large
 * request bodies.
 */
export const findInProcesses =
  (lane: Pick<ProcessPool, 'run'>, log: Log): FindPatterns =>
  async (project, patterns, texts) => {
    const job = { kind: 'match-patterns', patterns, texts } as const;
    const end = await lane.run(job, { project, signal: undefined });
    const found = end.kind === 'done' ? (end.outcome as PatternsFound) : [];
    if (found.length < texts.length) {
      const counts = { texts: texts.length, done: found.length, patterns: patterns.length };
      log.warn({ projectId: project, limit: end.kind, ...counts }, 'patterns of models take long');
    }
    return found;
  };

/** Patterns of a project as they are at one time. */
export type PatternSet = {
  projectId: string;
  /** Identifies this set of patterns among all sets that the project ever has. */
  id: string;
  patterns: readonly string[];
};

/** Patterns found in a text; undefined if the text was not searched, or not in time. */
type Found = ReadonlySet<string> | undefined;

export type KnownMatches = {
  /** Searches those texts that are not cached yet, as far as the limits allow. */
  learn(set: PatternSet, texts: Iterable<string>): Promise<void>;
  /** Returns the patterns found in a text. */
  of(set: PatternSet, text: string): Found;
};

const keyOf = ({ projectId, id }: PatternSet, text: string): string =>
  `${projectId}\0${id}\0${text}`;

const none: ReadonlySet<string> = new Set();

/** Creates the cache. */
export const createKnownMatches = (find: FindPatterns): KnownMatches => {
  const known = createFairCache<ReadonlySet<string>>(mostBytes);
  const resting = new LRUCache<string, true>({ max: mostResting, ttl: restMs });
  const of = (set: PatternSet, text: string): Found =>
    set.patterns.length === 0 || text.length > mostTextChars ? none : known.get(keyOf(set, text));

  const keep = (set: PatternSet, text: string, found: ReadonlySet<string>): void => {
    const key = keyOf(set, text);
    const chars = [...found].reduce((sum, { length }) => sum + length, key.length);
    const bytes = entryBytes + chars * bytesPerChar;
    known.keep({ key, owner: set.projectId, bytes, value: found });
  };

  return {
    of,
    async learn(set, texts) {
      const { projectId, patterns } = set;
      const fresh = [...new Set(texts)].filter((text) => of(set, text) === undefined);
      if (fresh.length === 0 || resting.has(projectId)) return;
      const found = await find(projectId, patterns, fresh);
      if (found.length < fresh.length) resting.set(projectId, true);
      for (const [place, text] of fresh.slice(0, found.length).entries()) {
        keep(set, text, new Set(found[place]?.flatMap((index) => patterns[index] ?? [])));
      }
    },
  };
};
