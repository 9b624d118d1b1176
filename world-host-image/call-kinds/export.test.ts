/** Tests the export of a session for its archive: it is complete, paged, and read from one state. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';
import type { RecordPage } from '#wire/host-api/session-archive.ts';

const noteCount = 1_500;
const long = 'x'.repeat(2_000);

let world: Awaited<ReturnType<typeof serveApi>>;
beforeAll(async () => {
  world = await serveApi({
    operations: operation('GET', '/notes'),
    tools: { create_notes: { input: { type: 'object' }, output: true } },
    notes: notesUpTo(noteCount).map((note) => ({ ...note, title: `${note.title} ${long}` })),
  });
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const ask = async (input?: Row): Promise<RecordPage> => {
  const { output, error } = await world.call('export', undefined, input);
  expect(error).toBeUndefined();
  return output as RecordPage;
};

const readAll = async (): Promise<RecordPage[]> => {
  const pages = [await ask()];
  for (let last = pages[0]; last?.next; last = pages.at(-1)) {
    pages.push(await ask({ stamp: last.stamp, from: last.next }));
  }
  return pages;
};

const linesOf = (pages: RecordPage[], part: string): unknown[] =>
  pages.flatMap(({ sections }) => sections).flatMap((one) => (one.part === part ? one.lines : []));

const add = async (id: number): Promise<void> => {
  const { error } = await world.call('tool', 'create_notes', { id, title: 'new' });
  expect(error).toBeUndefined();
};

it('an export returns every row, change and ledger entry once, on pages that are read from one state', async () => {
  await add(noteCount + 1);
  const pages = await readAll();
  expect(pages.length).toBeGreaterThan(2);
  expect(new Set(pages.map(({ stamp }) => stamp)).size).toBe(1);
  const ids = linesOf(pages, 'rows').map((line) => (line as { row: { id: number } }).row.id);
  expect(ids).toEqual(Array.from({ length: noteCount + 1 }, (_, index) => index + 1));
  expect(linesOf(pages, 'changes')).toMatchObject([
    { world: null, entity: 'notes', key: `[${noteCount + 1}]`, before: null },
  ]);
  expect(linesOf(pages, 'ledger')).toMatchObject([{ operation: 'create_notes' }]);
  expect(pages[0]?.head).toMatchObject({
    grade: null,
    state: { rows: 'all', counts: { notes: noteCount + 1 }, ledger: { missing: 0 }, answer: null },
  });
});

it('an export is not recorded in the ledger', async () => {
  await readAll();
  expect(linesOf(await readAll(), 'ledger')).toEqual([]);
});

it('an export fails if the state changes between its pages', async () => {
  const { stamp, next } = await ask();
  await add(noteCount + 1);
  const { error } = await world.call('export', undefined, { stamp, from: next });
  expect(error).toMatchObject({ code: 'moved' });
});
