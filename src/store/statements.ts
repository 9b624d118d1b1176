/**
 * Prepared statements, kept by their SQL text and bounded: queries are built from callers' filters,
 * so their texts are many, while few of them are hot.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

const maxStatements = 256;

export type Statements = (sql: string) => StatementSync;

/** Prepares each text once; the one unused for longest makes room. */
export const createStatements = (db: DatabaseSync): Statements => {
  const kept = new Map<string, StatementSync>();
  return (sql) => {
    let statement = kept.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      if (kept.size >= maxStatements) {
        const [oldest] = kept.keys();
        if (oldest !== undefined) kept.delete(oldest);
      }
    } else {
      kept.delete(sql);
    }
    kept.set(sql, statement);
    return statement;
  };
};
