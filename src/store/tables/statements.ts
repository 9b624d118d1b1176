/**
 * Caches prepared statements by their SQL text, with a limit: queries are built from callers' filters, so there are
 * many texts, of which few are hot.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Number of statements in one generation of the cache; the cache holds at most two generations. */
const maxStatements = 128;

export type Statements = (sql: string) => StatementSync;

/**
 * Creates the cache, which prepares each text once. It drops statements that were not used while `maxStatements` other
 * statements were prepared or found again. Using a hot statement costs one lookup and moves no entry.
 */
export const createStatements = (db: DatabaseSync): Statements => {
  let recent = new Map<string, StatementSync>();
  let earlier = new Map<string, StatementSync>();
  return (sql) => {
    const known = recent.get(sql);
    if (known !== undefined) return known;
    const statement = earlier.get(sql) ?? db.prepare(sql);
    if (recent.size >= maxStatements) {
      earlier = recent;
      recent = new Map();
    }
    recent.set(sql, statement);
    return statement;
  };
};
