/**
 * Patterns of projects: held to their bounds when they are given, and looked for, in processes. What was looked for
 * once is remembered for its project alone, as models have few names. A limit is no verdict: what was not looked for
 * in time is not remembered as absent.
 */
import { LRUCache } from 'lru-cache';
import type { Log } from '#runtime/log.ts';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import type { Compiler } from '../../worlds/compile/compiler.ts';
import type { PatternsFound } from '../../worlds/compile/match-patterns.ts';
import type { ProcessPool } from '../../worlds/compile/process-pool.ts';

/** Longer texts have no pattern in them. */
const mostTextChars = 200;

/** Bytes of the cache for all projects, and bytes of an entry besides its texts. */
const mostBytes = 32 * 1024 * 1024;
const entryBytes = 256;
const bytesPerChar = 2;

/** After a limit was met, the patterns of the project are looked for no more for so long; a write ends within that. */
const restMs = 10_000;
const mostResting = 10_000;

/** What is wrong with patterns of a project, by their places; throws `exhausted` when it has spent its time. */
export const judgePatterns = async (
  compiler: Compiler,
  projectId: string,
  patterns: readonly string[],
): Promise<readonly (string | null)[]> => {
  const job = { kind: 'judge-patterns', patterns } as const;
  const judged = await compiler.run(job, { project: projectId });
  if (judged.ok) return judged.faults;
  return patterns.map(() => 'takes more time or memory to compile than there is for it');
};

/** Looks for patterns of a project in texts; what comes back may be of the first texts only, or of none. */
export type FindPatterns = (
  projectId: string,
  patterns: readonly string[],
  texts: readonly string[],
) => Promise<PatternsFound>;

/** Looks for them in the processes that large bodies are read in. */
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

/** Patterns of a project at one time. */
export type PatternSet = {
  projectId: string;
  /** Names these patterns among all that the project ever has. */
  id: string;
  patterns: readonly string[];
};

/** Patterns found in a text; undefined: they were not looked for, or not in time. */
type Found = ReadonlySet<string> | undefined;

export type KnownMatches = {
  /** Looks for the patterns in all texts, as far as that is not known and there is time for it. */
  learn(set: PatternSet, texts: Iterable<string>): Promise<void>;
  /** Returns those found in a text. */
  of(set: PatternSet, text: string): Found;
};

const keyOf = ({ projectId, id }: PatternSet, text: string): string =>
  `${projectId}\0${id}\0${text}`;

const none: ReadonlySet<string> = new Set();

/** Makes it. */
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
