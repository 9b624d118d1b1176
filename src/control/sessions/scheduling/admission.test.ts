import { expect, it } from 'vitest';
import type { HostWish } from '#domain/pool.ts';
import type { Backlog } from '../../db/sessions/backlog.ts';
import { createAdmission } from './admission.ts';

const project = 'prj-1';
const wish: HostWish = { tier: 'standard', isolation: null, size: 'standard' };
const crowded: Backlog = { waiting: 12, longestWaitMs: 400, projects: [project], toCome: 3 };

/** Creates an admission with a fake clock; every look returns `crowding`. */
const start = (crowding: Backlog, limits = { most: 50, waitMs: 250 }) => {
  let nowMs = 0;
  const looks: HostWish[] = [];
  const admission = createAdmission(
    limits,
    async (asked) => {
      looks.push(asked);
      return crowding;
    },
    () => nowMs,
  );
  return {
    opened: admission.opened,
    enter: admission.enter,
    /** Admits an open that is served at once. */
    check: async (projectId: string, asked: HostWish) =>
      (await admission.enter(projectId, asked))(true),
    crowding,
    looks,
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** Places `count` sessions now. */
    place(count: number, placed = wish) {
      for (let nth = 0; nth < count; nth += 1) admission.placed(placed);
    },
  };
};

it('opens that find warm hosts are let in without a look', async () => {
  const { check, opened, place, looks } = start(crowded);
  place(20);
  opened(wish, false);
  await check(project, wish);
  expect(looks).toEqual([]);
});

it('an open is refused when hosts pass on quickly, all are taken, and the first has waited too long', async () => {
  const { check, opened, place } = start(crowded);
  place(20);
  opened(wish, true);
  await expect(check(project, wish)).rejects.toMatchObject({
    code: 'exhausted',
    message: expect.stringContaining('SVC_OPEN_WAIT_MS is 250'),
    detail: { waiting: 12, longestWaitMs: 400, retryAfterMs: 1_200 },
  });
});

it.each([
  ['a host can still come for each', { toCome: 12 }, 20],
  ['no pool says how many hosts there may be', { toCome: null }, 20],
  ['the first has not waited for long', { longestWaitMs: 249 }, 20],
  ['sessions are long, and hosts pass on slowly', {}, 3],
])('an open waits when %s', async (_, change, placed) => {
  const { check, opened, place } = start({ ...crowded, ...change });
  place(placed);
  opened(wish, true);
  await check(project, wish);
});

it('no more wait than may, those let in since the last look among them', async () => {
  const crowding = { waiting: 48, longestWaitMs: 0, projects: [project], toCome: 100 };
  const { check, opened } = start(crowding);
  opened(wish, true);
  await check(project, wish);
  await check(project, wish);
  await expect(check(project, wish)).rejects.toMatchObject({
    code: 'exhausted',
    message: expect.stringContaining('SVC_OPEN_QUEUE is 50'),
    detail: { waiting: 48, retryAfterMs: 5_000 },
  });
});

it('a wish that many wait with keeps out no other', async () => {
  const { check, opened, place } = start(crowded);
  place(20);
  opened(wish, true);
  await check(project, { ...wish, size: 'large' });
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
});

it('hosts that pass on quickly between sessions of another wish do not count', async () => {
  const { check, opened, place } = start(crowded);
  place(20, { ...wish, size: 'large' });
  opened(wish, true);
  await check(project, wish);
  place(20);
  await expect(check(project, wish)).rejects.toMatchObject({ detail: { retryAfterMs: 1_300 } });
});

it('many that come at once share one look, and the next is taken when it is old', async () => {
  const { check, opened, looks, pass } = start({ ...crowded, longestWaitMs: 0 });
  opened(wish, true);
  await Promise.all([check(project, wish), check(project, wish), check(project, wish)]);
  await check(project, wish);
  expect(looks).toHaveLength(1);
  pass(100);
  await check(project, wish);
  expect(looks).toHaveLength(2);
});

it('opens are let in again as soon as the queue is short, and without a look when it is empty', async () => {
  const { check, opened, place, looks, pass, crowding } = start({ ...crowded });
  place(20);
  opened(wish, true);
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  pass(20);
  crowding.waiting = 4;
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  pass(20);
  crowding.waiting = 3; // As many hosts can still come.
  await check(project, wish);
  pass(20);
  crowding.waiting = 0;
  crowding.longestWaitMs = 0;
  await check(project, wish);
  await check(project, wish);
  expect(looks).toHaveLength(4);
});

it('where more is asked for than is borne, nobody is let in to wait behind others until that is over', async () => {
  const { check, opened, place, pass, crowding } = start({ ...crowded, longestWaitMs: 50 });
  place(20);
  opened(wish, true);
  await check(project, wish);
  crowding.longestWaitMs = 250;
  pass(100);
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  crowding.longestWaitMs = 1;
  for (let nth = 0; nth < 3; nth += 1) {
    pass(900);
    place(20);
    await expect(check(project, wish)).rejects.toMatchObject({
      code: 'exhausted',
      message: expect.stringContaining('SVC_OPEN_WAIT_MS is 250; while this goes on nobody'),
    });
  }
  pass(1_000);
  await check(project, wish);
});

it('a look that fails is that of those who shared it, and the next open takes another', async () => {
  let fails = true;
  const admission = createAdmission({ most: 1, waitMs: 1 }, async () => {
    if (fails) throw new Error('the database is gone');
    return { waiting: 0, longestWaitMs: 0, projects: [project], toCome: 100 };
  });
  admission.opened(wish, true);
  await expect(admission.enter(project, wish)).rejects.toThrow('the database is gone');
  fails = false;
  await admission.enter(project, wish);
});

it('a project that has nobody in the queue is let in once, whatever others ask for', async () => {
  const { check, opened, place } = start(crowded);
  place(20);
  opened(wish, true);
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  await check('prj-2', wish);
  await expect(check('prj-2', wish)).rejects.toMatchObject({ code: 'exhausted' });
});

it('where more is asked for than is borne, no more are under way than serve what is served, and a project has one', async () => {
  const { check, enter, opened, place, pass, crowding } = start({ ...crowded });
  place(20);
  opened(wish, true);
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  pass(20);
  Object.assign(crowding, { waiting: 0, longestWaitMs: 0, projects: [] });
  const ends = [await enter(project, wish), await enter(project, wish)];
  await expect(enter(project, wish)).rejects.toMatchObject({
    code: 'exhausted',
    message: expect.stringContaining('than can be served'),
    detail: { waiting: 0, longestWaitMs: 0, retryAfterMs: 1_000 },
  });
  await enter('prj-2', wish);
  await enter(project, { ...wish, size: 'large' });
  for (const end of ends) end(true);
  await enter(project, wish);
});

it('opens wait for hosts on their way, however many are under way', async () => {
  const { enter, opened, place, pass, crowding } = start({ ...crowded });
  place(20);
  opened(wish, true);
  await expect(enter(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  pass(20);
  Object.assign(crowding, { waiting: 5, longestWaitMs: 20, toCome: 9 });
  for (let nth = 0; nth < 4; nth += 1) await enter(project, wish);
});
