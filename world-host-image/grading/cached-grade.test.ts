/**
 * Tests the pages of a grade. They come from the cached grade as long as nothing has happened; after any event, the
 * session is graded again.
 */
import { expect, it } from 'vitest';
import { notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';

const open = async (checks: object[]) => {
  const api = await serveApi({
    operations: operation('GET', '/notes'),
    tools: { create_notes: { input: { type: 'object' }, output: true } },
    notes: notesUpTo(2),
  });
  const grader = { kind: 'assertions', checks, changes: { closed: true } };
  api.session.task = { grader } as TaskSpec;
  const add = async (id: number, parts: object = {}): Promise<void> => {
    const { error } = await api.call('tool', 'create_notes', { id, title: `Note ${id}`, ...parts });
    expect(error).toBeUndefined();
  };
  const grade = async (changes?: object): Promise<Grade> => {
    const { output, error } = await api.call('grade', undefined, changes && { changes });
    expect(error).toBeUndefined();
    return output as Grade;
  };
  /** Counts how often the world's changes are read: once for each grade, and never for a cached page. */
  const { store } = api.session.world;
  const { changesSinceTask } = store;
  let reads = 0;
  store.changesSinceTask = () => {
    reads += 1;
    return changesSinceTask();
  };
  return { ...api, add, grade, reads: () => reads };
};

const all = [{ entity: 'notes', where: { id: { gt: 2 } }, count: 3 }];
const keys = ({ changes }: Grade) => changes?.rows.map(({ key }) => key.id);

it('a page of a grade’s changes is read from the cached grade, with the same verdict and bytes each time', async () => {
  const world = await open(all);
  for (const id of [3, 4, 5]) await world.add(id);
  const first = await world.grade();
  expect(first.verdict).toBe('pass');
  const graded = world.reads();
  const page = await world.grade({ offset: 1, limit: 1 });
  expect([keys(page), page.changes?.next]).toEqual([[4], 2]);
  expect({ ...page, changes: 0 }).toEqual({ ...first, changes: 0 });
  expect(JSON.stringify(await world.grade({ offset: 1, limit: 1 }))).toBe(JSON.stringify(page));
  expect(JSON.stringify(await world.grade({}))).toBe(JSON.stringify(first));
  expect(world.reads()).toBe(graded);
  expect(JSON.stringify(await world.grade())).toBe(JSON.stringify(first));
  expect(world.reads()).toBeGreaterThan(graded);
  await world.stop();
});

it('a page of a grade’s changes is computed by grading again after a change, a request, an answer or a reset', async () => {
  const asked = { entity: 'svc_requests', where: { via: 'api' }, count: 0 };
  const world = await open([...all, asked, { kind: 'answer', equals: 1 }]);
  const verdicts = async () => (await world.grade({})).checks.map(({ verdict }) => verdict);
  for (const id of [3, 4, 5]) await world.add(id);
  expect(await verdicts()).toEqual(['pass', 'pass', 'fail', 'pass']);
  await world.call('answer', undefined, { answer: 1 });
  expect(await verdicts()).toEqual(['pass', 'pass', 'pass', 'pass']);
  await world.get('/notes');
  expect(await verdicts()).toEqual(['pass', 'fail', 'pass', 'pass']);
  await world.add(6);
  expect((await verdicts())[0]).toBe('fail');
  await world.reset();
  expect(await verdicts()).toEqual(['fail', 'pass', 'fail', 'pass']);
  expect(keys(await world.grade({}))).toEqual([]);
  await world.stop();
});

it('a grade that is too large for the cache is computed again for each page', async () => {
  const world = await open(all);
  // Ten rows of 900 KB exceed 8 MiB, the limit of the cache.
  for (let id = 3; id < 13; id += 1) await world.add(id, { key: `${id}${'x'.repeat(900_000)}` });
  await world.grade();
  const graded = world.reads();
  expect(keys(await world.grade({ offset: 8, limit: 1 }))).toEqual([11]);
  expect(world.reads()).toBeGreaterThan(graded);
  await world.stop();
});
