/** Tests `svc worlds session seed` by whole command lines, with files of rows in every format. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileTree } from '#language/compile/compile.ts';
import { call, runAnswered, session } from '#test/support/cli/service.ts';
import { notesWorld } from '#test/support/worlds/worlds.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-seed-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const rows = [{ id: 7, folder_id: 1, title: '07', done: true }];
const seeded = { body: { ...call, kind: 'seed', output: {} } };

/** Returns the answers of a service that has a version of the world and its contract. */
const contractAnswers = () => {
  const compiled = compileTree(notesWorld());
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const contract = Buffer.from(JSON.stringify(compiled.contract));
  const sha256 = createHash('sha256').update(contract).digest('hex');
  const files = [{ path: 'schema/runtime.json', sha256, sizeBytes: 1 }];
  return [{ body: { id: 'ver-1', slug: 'notes', number: 1, files } }, { body: contract }];
};

describe('svc worlds session seed', () => {
  it.each([
    ['notes.json', JSON.stringify({ notes: rows }), []],
    ['notes.json', `\ufeff${JSON.stringify(rows)}`, ['--entity', 'notes']],
    ['notes.jsonl', `\ufeff${JSON.stringify(rows[0])}\n`, ['--entity', 'notes']],
  ])('sends the rows of %s', async (name, text, more) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    const line = ['worlds session seed ses-1 --rows', path, ...more].join(' ');
    const { status, err, asked } = await runAnswered(line, seeded);
    expect([status, err]).toEqual([0, '']);
    expect(asked[0]?.body).toMatchObject({ kind: 'seed', input: { rows: { notes: rows } } });
  });

  it("parses the cells of a table by the types of the session's world", async () => {
    const path = join(folder, 'notes.csv');
    writeFileSync(path, '\ufeffid,folder_id,title,done\r\n7,1,07,true\r\n');
    const { status, err, asked } = await runAnswered(
      `worlds session seed ses-1 --rows ${path}`,
      ...[{ body: session }, ...contractAnswers(), seeded],
    );
    expect([status, err]).toEqual([0, '']);
    expect(asked[1]?.url).toBe('/api/public/worlds/notes/versions/ver-1');
    expect(asked.at(-1)?.body).toMatchObject({ kind: 'seed', input: { rows: { notes: rows } } });
  });
});
