/**
 * Prepared statements, kept by their SQL text and bounded: queries are built from callers' filters,
 * so their texts are many, while few of them are hot.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Twice as many are kept at most. */
const maxStatements = 128;

export type Statements = (sql: string) => StatementSync;

/**
 * Prepares each text once. Those that were not used while `maxStatements` others were prepared or found
 * again make room, so that a hot one costs one look and moves nothing.
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
