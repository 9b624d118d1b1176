/** Seeding rows into an open session, including each kind of conflict with existing rows. */
import { afterAll, beforeEach, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { notesUpTo, serveApi } from '#test/support/worlds/api-world.ts';

const api = await serveApi({ operations: '', notes: notesUpTo(2, () => ({ state: 'open' })) });
beforeEach(() => api.reset());
afterAll(() => api.stop());

const seed = (mode: string, notes: Row[]) => api.call('seed', undefined, { mode, rows: { notes } });
const rows = async (): Promise<unknown> =>
  ((await api.call('state', undefined, { entity: 'notes' })).output as { rows: unknown }).rows;

it('rows seeded by merging change only the fields that they have, and are inserted if their key is new', async () => {
  const merged = await seed('merge', [
    { id: 2, state: 'done' },
    { id: 7, title: 'New', state: 'open' },
    { id: 7, state: 'done' },
  ]);
  expect(merged).toMatchObject({
    output: { counts: { notes: 3 } },
    changes: { notes: { inserted: 1, updated: 1, deleted: 0 } },
  });
  expect(await rows()).toMatchObject([
    { id: 1, title: 'Note 1', state: 'open' },
    { id: 2, title: 'Note 2', state: 'done' },
    { id: 7, title: 'New', state: 'done' },
  ]);
});

it.each<[string, Row[], string]>([
  ['lacks what a new row needs', [{ id: 1, state: 'done' }, { id: 9 }], '/rows/notes/1'],
  ['has a wrong value', [{ id: 1, title: 7 }], '/rows/notes/0'],
  ['has no key', [{ state: 'done' }], '/rows/notes/0'],
])(
  'if a row seeded by merging %s, it is refused with its place, and the seed writes nothing',
  async (_, notes, path) => {
    const before = await rows();
    const { error } = await seed('merge', notes);
    expect(error?.path?.startsWith(path)).toBe(true);
    expect(await rows()).toEqual(before);
  },
);

it('an unknown seed mode is refused with an error that names it', async () => {
  expect((await seed('upsert', [])).error).toMatchObject({
    ...{ code: 'invalid_input', path: '/mode' },
    message: 'mode must be "append" or "merge" or "replace"',
  });
});
