import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { scratchTables } from './database.ts';
import { mergedPageSql } from './merge.ts';

it('a page of merged rows is found by row id, without a scan of all rows of the entity', () => {
  const db = new DatabaseSync(':memory:');
  db.exec(`ATTACH ':memory:' AS scratch; ATTACH ':memory:' AS base;
    CREATE TABLE base.notes (n INTEGER PRIMARY KEY, payload TEXT); ${scratchTables}`);
  const entity = { table: 'notes', position: 'n' };
  for (const hasBase of [true, false]) {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${mergedPageSql(entity, hasBase)}`).all('notes', 0);
    const steps = plan.map(({ detail }) => String(detail));
    expect(steps[0]).toBe('SEARCH m USING INTEGER PRIMARY KEY (rowid>?)');
    expect(steps.join()).not.toContain('TEMP B-TREE');
  }
  db.close();
});
