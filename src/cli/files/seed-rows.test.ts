/** Tests the reading of rows that are sent in one request. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { testContext } from '#test/support/cli/context.ts';
import { readSeedRows } from './seed-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-seed-rows-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('readSeedRows reads rows whose entity has the name of an inherited member, so that the service can refuse them', async () => {
  writeFileSync(join(folder, 'rows.json'), '{"constructor":[{"id":1}]}');
  const files = ['rows.json', 'rows.json'];
  const { rows } = await readSeedRows(testContext({ cwd: folder }), files, {});
  expect(Object.entries(rows)).toEqual([['constructor', [{ id: 1 }, { id: 1 }]]]);
});
