/**
 * Tests that drafts of OpenAPI documents can be served as worlds, and that a draft never overwrites the contents of a
 * folder.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { readTree } from '#runtime/tree.ts';
import { testContext } from '#test/support/cli/context.ts';
import { conformServed } from '#test/support/templates/conform-served.ts';
import { runCommandLine } from '../program.ts';

const documents = fileURLToPath(
  new URL('../../../test/support/worlds/api-documents/', import.meta.url),
);
const home = mkdtempSync(join(tmpdir(), 'svc-drafts-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const draft = async (name: string, folder: string, ...more: string[]) => {
  const context = testContext({ cwd: home });
  const words = ['worlds', 'connector', 'draft', join(documents, name), folder, ...more];
  return { status: await runCommandLine(words, context), ...context.written() };
};

describe('a draft', () => {
  it.each([
    ['helpdesk.yaml', 6],
    ['ledger.yaml', 4],
    ['odd.json', 3],
  ])(
    'of %s can be served, and its routes answer as its contract requires',
    async (name, served) => {
      const drafted = await draft(name, name);
      expect(drafted.status, drafted.err).toBe(0);
      const report = await conformServed(readTree(join(home, name)));
      expect(report.routes).toHaveLength(served);
      expect(report).toMatchObject({ fidelity: 100, differences: 0 });
    },
  );

  it('is not written into a non-empty folder, unless --force is given', async () => {
    const folder = join(home, 'held');
    mkdirSync(folder);
    writeFileSync(join(folder, '.gitignore'), '');
    expect(await draft('odd.json', 'held')).toMatchObject({ status: 0 });
    const names = readdirSync(folder);
    const again = await draft('odd.json', 'held');
    expect(again).toMatchObject({ status: 1, err: expect.stringContaining('held is not empty') });
    expect(readdirSync(folder)).toEqual(names);
    expect(await draft('odd.json', 'held', '--force')).toMatchObject({ status: 0 });
  });
});
