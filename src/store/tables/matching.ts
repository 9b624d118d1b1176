/**
 * Adds `svc_matches(pattern, text)` to a store's database: returns 1 if a regular expression is found in a text, else
 * 0. It runs on RE2, in time linear in the text.
 */
import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { compilePattern, type Pattern } from '#language/schema/patterns.ts';

/** Maximum number of cached patterns. A query has few patterns, and each is applied to every row. */
const mostPatterns = 32;

const compiled = new LRUCache<string, Pattern>({ max: mostPatterns });

const patternOf = (source: string): Pattern => {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = compilePattern(source);
  compiled.set(source, pattern);
  return pattern;
};

/** Adds the function to a database. */
export const addMatching = (db: DatabaseSync): void =>
  db.function('svc_matches', { deterministic: true, directOnly: true }, (pattern, text) =>
    typeof pattern === 'string' && typeof text === 'string' && patternOf(pattern).test(text)
      ? 1
      : 0,
  );
