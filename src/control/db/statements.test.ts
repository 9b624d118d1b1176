import { describe, expect, it } from 'vitest';
import { isTest, sourceFiles } from '#test/support/repository/imports.ts';
import { replannedStatement, statement } from './core/database.ts';

describe('statements', () => {
  it('are all declared, and each prepared statement has a unique name', async () => {
    const files = sourceFiles('src/control/db').filter((file) => !isTest(file));
    const declaring = files.filter((file) => !file.includes('/migrations/'));
    expect(declaring.length).toBeGreaterThan(90);
    const refused: unknown[] = [];
    for (const file of declaring) {
      await import(`../../../${file}`).catch((error) => refused.push(`${file}: ${error}`));
    }
    expect(refused).toEqual([]);
  });

  it('cannot be declared with the name of another prepared statement, as on a connection', () => {
    statement('test_named_twice', 'select 1');
    expect(() => statement('test_named_twice', 'select 2')).toThrow('are named "test_named_twice"');
  });

  it('may share a name if they are equal, or if they are planned at each execution and so are not prepared', () => {
    expect(statement('test_named_once', 'select :id')).toEqual(
      statement('test_named_once', 'select :id'),
    );
    const [first, second] = ['select 1', 'select 2'].map((text) =>
      replannedStatement('test_planned_anew', text),
    );
    expect(first?.text).not.toBe(second?.text);
  });

  it('cannot have a name that PostgreSQL would truncate', () => {
    expect(() => statement('n'.repeat(64), 'select 1')).toThrow('too long');
  });
});
