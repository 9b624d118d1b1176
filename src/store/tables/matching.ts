/**
 * `svc_matches(pattern, text)` of a store's database: whether a regular expression is found in a text, 1 or 0. It runs on
 * RE2, in time linear in the text.
 */
import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { compilePattern, type Pattern } from '#language/schema/patterns.ts';

/** A query asks for few of them, each for every row. */
const mostPatterns = 32;

const compiled = new LRUCache<string, Pattern>({ max: mostPatterns });

const patternOf = (source: string): Pattern => {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = compilePattern(source);
  compiled.set(source, pattern);
  return pattern;
};

/** Gives a database the function. */
export const addMatching = (db: DatabaseSync): void =>
  db.function('svc_matches', { deterministic: true, directOnly: true }, (pattern, text) =>
    typeof pattern === 'string' && typeof text === 'string' && patternOf(pattern).test(text)
      ? 1
      : 0,
  );
