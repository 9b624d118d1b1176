/**
 * Patterns that strangers wrote, looked for in texts that strangers sent. The engine's time is linear in both, but one
 * of many patterns and many texts adds up; so it runs in a process.
 */
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { patternSize } from '#language/schema/patterns.ts';

export type PatternsGiven = { patterns: readonly string[]; texts: readonly string[] };

/** Matching patterns by index, for each text by index; shorter than the texts when time ran out. */
export type PatternsFound = number[][];

/** Patterns that a process keeps ready. */
const mostReady = 2_000;

/** Processor time of one job, after which it begins no further text: others wait for the process. */
const mostMs = 2_000;

const usedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Makes what looks for patterns; it keeps those ready that come again. */
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

/** Characters of a pattern with its repeats. */
const mostPatternSize = 500;

/** What is wrong with a pattern in RE2's own notation; null: nothing. */
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

/** What is wrong with patterns, by their places. */
export const judgePatterns = (patterns: readonly string[]) => ({
  ok: true as const,
  faults: patterns.map(faultOf),
});
