import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { sampleContract } from '#test/support/worlds/sample-contract.ts';
import { createTablesSql } from './ddl.ts';
import { attachBase, openVerifierTables } from './verifier.ts';

const { entities } = sampleContract();

it('queries over tables and a base file use the indexes of both', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-verifier-'));
  const file = join(folder, 'base');
  const base = new DatabaseSync(file);
  base.exec(createTablesSql({ entities }));
  base.close();
  const database = openVerifierTables(entities);
  attachBase(database, file, entities);
  const planOf = (query: string): string[] =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${query}`)
      .all()
      .map(({ detail }) => String(detail));
  const queries = [
    'SELECT payload FROM issues WHERE id = 5',
    "SELECT count(*) FROM issues WHERE _key = '[5]'",
    "SELECT i.title FROM repos r JOIN issues i ON i.owner = r.owner AND i.repo = r.name WHERE r.owner = 'ann'",
  ];
  for (const query of queries) {
    const looks = planOf(query).filter((detail) => /^(SCAN|SEARCH) (base|main)\b/.test(detail));
    expect(looks.length, query).toBeGreaterThanOrEqual(2);
    expect(looks, query).toEqual(looks.map(() => expect.stringMatching(/^SEARCH .* USING INDEX/)));
  }
  database.close();
  rmSync(folder, { recursive: true });
});
