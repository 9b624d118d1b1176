/**
 * Matches patterns that users wrote against texts that users sent. The time of the regular expression engine is linear
 * in both, but many patterns and many texts add up, so the search runs in a process.
 */
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { patternSize } from '#language/schema/patterns.ts';

export type PatternsGiven = { patterns: readonly string[]; texts: readonly string[] };

/** Indexes of the matching patterns for each text. If the time ran out, the list covers only the first texts. */
export type PatternsFound = number[][];

/** Maximum number of compiled patterns that a process caches. */
const mostReady = 2_000;

/**
 * Processor time, in milliseconds, after which a job stops before its next text, because other jobs wait for the
 * process.
 */
const mostMs = 2_000;

const usedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Creates the matcher. It caches compiled patterns. */
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

/** Maximum length of a pattern after its repetitions are expanded, in characters. */
const mostPatternSize = 500;

/** Returns the problem of a pattern in RE2's syntax; null if the pattern is valid. */
const faultOf = (pattern: string): string | null => {
  const size = patternSize(pattern);
  if (size > mostPatternSize) {
    return `is ${size} characters with its repetitions expanded, more than ${mostPatternSize}`;
  }
  try {
    RE2JS.compile(pattern);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `is no valid RE2 regular expression: ${why}`;
  }
};

/** Returns the problems of patterns, each with the position of its pattern. */
export const judgePatterns = (patterns: readonly string[]) => ({
  ok: true as const,
  faults: patterns.map(faultOf),
});
