/**
 * Patterns of projects: held to their bounds when they are given, and looked for, in processes. What was looked for
 * once is remembered, as models have few names.
 */
import { LRUCache } from 'lru-cache';
import type { Log } from '#runtime/log.ts';
import type { Compiler } from '../compile/compiler.ts';
import type { Lane } from '../compile/lane.ts';
import type { PatternsFound } from '../compile/match-patterns.ts';

/** Longer texts have no pattern in them. */
const mostTextChars = 200;
const mostKnown = 200_000;

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

/** Looks for patterns of a project; undefined: it took too long. */
export type FindPatterns = (
  projectId: string,
  patterns: readonly string[],
  texts: readonly string[],
) => Promise<PatternsFound | undefined>;

/** Looks for them in the processes that large bodies are read in. */
export const findInLane =
  (lane: Pick<Lane, 'run'>, log: Log): FindPatterns =>
  async (project, patterns, texts) => {
    const job = { kind: 'match-patterns', patterns, texts } as const;
    const end = await lane.run(job, { project, signal: undefined });
    if (end.kind === 'done') return end.outcome as PatternsFound;
    log.warn({ projectId: project, limit: end.kind }, 'patterns of models take too long to match');
    return undefined;
  };

/** What was looked for, of all projects. */
export type KnownMatches = {
  /** Looks for all patterns in all texts, as far as that is not known. */
  learn(projectId: string, patterns: readonly string[], texts: readonly string[]): Promise<void>;
  /** Whether a pattern is in a text, of those that were learnt. */
  matches(pattern: string, text: string): boolean;
};

const placeOf = (pattern: string, text: string): string => `${pattern}\0${text}`;

/** Makes it. Patterns that took too long are taken for not found, for the texts that they were looked for in. */
export const createKnownMatches = (find: FindPatterns): KnownMatches => {
  const known = new LRUCache<string, boolean>({ max: mostKnown });
  return {
    async learn(projectId, patterns, texts) {
      const isNew = (text: string): boolean =>
        text.length <= mostTextChars &&
        patterns.some((pattern) => !known.has(placeOf(pattern, text)));
      const fresh = [...new Set(texts)].filter(isNew);
      if (fresh.length === 0) return;
      const found = await find(projectId, patterns, fresh);
      for (const [index, pattern] of patterns.entries()) {
        const places = new Set(found?.[index]);
        for (const [place, text] of fresh.entries()) {
          known.set(placeOf(pattern, text), places.has(place));
        }
      }
    },
    matches: (pattern, text) => known.get(placeOf(pattern, text)) ?? false,
  };
};
