/**
 * Matches patterns of users against texts of users. The engine's time is linear in both, but many patterns and many
 * texts add up, so it runs in a process.
 */
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { patternSize } from '#language/schema/patterns.ts';

export type PatternsGiven = { patterns: readonly string[]; texts: readonly string[] };

/** Indexes of the matching patterns for each text; shorter than the texts if the time ran out. */
export type PatternsFound = number[][];

/** Upper bound for the compiled patterns that a process caches. */
const mostReady = 2_000;

/** Processor time of one job after which it begins no further text, since other jobs wait for the process. */
const mostMs = 2_000;

const usedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Creates the matcher; it caches compiled patterns. */
export const createPatternMatch = (
  clock: () => number = usedMs,
): ((given: PatternsGiven) => PatternsFound) => {
  const ready = new LRUCache<string, RE2JS>({ max: mostReady });
  const readyFor = (pattern: string): RE2JS => {
    const compiled = ready.get(pattern) ?? RE2JS.compile(pattern);
    ready.set(pattern, compiled);
    return compiled;
  };
  return ({ patterns, texts }) => {
    const end = clock() + mostMs;
    const compiled = patterns.map(readyFor);
    const found: PatternsFound = [];
    for (const text of texts) {
      if (clock() >= end) break;
      found.push(compiled.flatMap((pattern, place) => (pattern.test(text) ? [place] : [])));
    }
    return found;
  };
};

/** Upper bound for the characters of a pattern with its repeats expanded. */
const mostPatternSize = 500;

/** Returns the problem of a pattern in RE2's syntax; null if it has none. */
const faultOf = (pattern: string): string | null => {
  const size = patternSize(pattern);
  if (size > mostPatternSize) {
    return `is ${size} characters with its repeats, more than ${mostPatternSize}`;
  }
  try {
    RE2JS.compile(pattern);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `is no regular expression of RE2: ${why}`;
  }
};

/** Returns the problems of patterns, by their position. */
export const judgePatterns = (patterns: readonly string[]) => ({
  ok: true as const,
  faults: patterns.map(faultOf),
});
