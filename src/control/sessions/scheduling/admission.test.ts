import { expect, it } from 'vitest';
import type { HostWish } from '#domain/pool.ts';
import type { Backlog } from '../../db/sessions/backlog.ts';
import { Admission } from './admission.ts';

const project = 'prj-1';
const wish: HostWish = { tier: 'standard', isolation: null, size: 'standard' };
const overloaded: Backlog = { waiting: 12, longestWaitMs: 400, projects: [project], toCome: 3 };

/** Creates an admission controller with a fake clock; every read of the backlog returns `backlog`. */
const start = (backlog: Backlog, limits = { most: 50, waitMs: 250 }) => {
  let nowMs = 0;
  const reads: HostWish[] = [];
  const admission = new Admission(
    limits,
    async (asked) => {
      reads.push(asked);
      return backlog;
    },
    () => nowMs,
  );
  return {
    opened: (asked: HostWish, waits: boolean) => admission.opened(asked, waits),
    enter: (projectId: string, asked: HostWish) => admission.enter(projectId, asked),
    /** Admits an open that is served at once. */
    check: async (projectId: string, asked: HostWish) =>
      (await admission.enter(projectId, asked))(true),
    backlog,
    reads,
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** Records `count` assignments of hosts at the current time. */
    assign(count: number, assigned = wish) {
      for (let nth = 0; nth < count; nth += 1) admission.assigned(assigned);
    },
  };
};

it('opens are admitted without a read of the backlog while they find warm hosts', async () => {
  const { check, opened, assign, reads } = start(overloaded);
  assign(20);
  opened(wish, false);
  await check(project, wish);
  expect(reads).toEqual([]);
});

it('an open is refused if hosts change sessions quickly, no host can be added, and the first in the queue waited too long', async () => {
  const { check, opened, assign } = start(overloaded);
  assign(20);
  opened(wish, true);
  await expect(check(project, wish)).rejects.toMatchObject({
    code: 'exhausted',
    message: expect.stringContaining('SVC_OPEN_WAIT_MS is 250'),
    detail: { waiting: 12, longestWaitMs: 400, retryAfterMs: 1_200 },
  });
});

it.each([
  ['a host can still come for each waiting session', { toCome: 12 }, 20],
  ['no pool publishes a maximum number of hosts', { toCome: null }, 20],
  ['the first in the queue has not waited for long', { longestWaitMs: 249 }, 20],
  ['sessions are long, so hosts change sessions slowly', {}, 3],
])('an open waits when %s', async (_, change, assigned) => {
  const { check, opened, assign } = start({ ...overloaded, ...change });
  assign(assigned);
  opened(wish, true);
  await check(project, wish);
});

it('the queue limit also counts the opens admitted since the backlog was last read', async () => {
  const backlog = { waiting: 48, longestWaitMs: 0, projects: [project], toCome: 100 };
  const { check, opened } = start(backlog);
  opened(wish, true);
  await check(project, wish);
  await check(project, wish);
  await expect(check(project, wish)).rejects.toMatchObject({
    code: 'exhausted',
    message: expect.stringContaining('SVC_OPEN_QUEUE is 50'),
    detail: { waiting: 48, retryAfterMs: 5_000 },
  });
});

it('a long queue for one wish refuses no open with another wish', async () => {
  const { check, opened, assign } = start(overloaded);
  assign(20);
  opened(wish, true);
  await check(project, { ...wish, size: 'large' });
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
});

it('assignments for another wish do not count as hosts that change sessions quickly', async () => {
  const { check, opened, assign } = start(overloaded);
  assign(20, { ...wish, size: 'large' });
  opened(wish, true);
  await check(project, wish);
  assign(20);
  await expect(check(project, wish)).rejects.toMatchObject({ detail: { retryAfterMs: 1_300 } });
});

it('concurrent opens share one read of the backlog, and a backlog that is too old is read again', async () => {
  const { check, opened, reads, pass } = start({ ...overloaded, longestWaitMs: 0 });
  opened(wish, true);
  await Promise.all([check(project, wish), check(project, wish), check(project, wish)]);
  await check(project, wish);
  expect(reads).toHaveLength(1);
  pass(100);
  await check(project, wish);
  expect(reads).toHaveLength(2);
});

it('opens are admitted again once the queue is short, and without reading the backlog once it is empty', async () => {
  const { check, opened, assign, reads, pass, backlog } = start({ ...overloaded });
  assign(20);
  opened(wish, true);
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  pass(20);
  backlog.waiting = 4;
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  pass(20);
  backlog.waiting = 3; // As many hosts can still come.
  await check(project, wish);
  pass(20);
  backlog.waiting = 0;
  backlog.longestWaitMs = 0;
  await check(project, wish);
  await check(project, wish);
  expect(reads).toHaveLength(4);
});

it('under overload no open may queue behind another until the overload ends', async () => {
  const { check, opened, assign, pass, backlog } = start({ ...overloaded, longestWaitMs: 50 });
  assign(20);
  opened(wish, true);
  await check(project, wish);
  backlog.longestWaitMs = 250;
  pass(100);
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  backlog.longestWaitMs = 1;
  for (let nth = 0; nth < 3; nth += 1) {
    pass(900);
    assign(20);
    await expect(check(project, wish)).rejects.toMatchObject({
      code: 'exhausted',
      message: expect.stringContaining('SVC_OPEN_WAIT_MS is 250; while this lasts, no open'),
    });
  }
  pass(1_000);
  await check(project, wish);
});

it('a failed read of the backlog fails the opens that share it, and the next open reads again', async () => {
  let fails = true;
  const admission = new Admission({ most: 1, waitMs: 1 }, async () => {
    if (fails) throw new Error('the database is gone');
    return { waiting: 0, longestWaitMs: 0, projects: [project], toCome: 100 };
  });
  admission.opened(wish, true);
  await expect(admission.enter(project, wish)).rejects.toThrow('the database is gone');
  fails = false;
  await admission.enter(project, wish);
});

it('one open of a project without a session in the queue is admitted despite the load of other projects', async () => {
  const { check, opened, assign } = start(overloaded);
  assign(20);
  opened(wish, true);
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  await check('prj-2', wish);
  await expect(check('prj-2', wish)).rejects.toMatchObject({ code: 'exhausted' });
});

it('under overload the opens in flight are limited, but each project may have one in flight', async () => {
  const { check, enter, opened, assign, pass, backlog } = start({ ...overloaded });
  assign(20);
  opened(wish, true);
  await expect(check(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  pass(20);
  Object.assign(backlog, { waiting: 0, longestWaitMs: 0, projects: [] });
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

it('any number of opens may wait if hosts are starting for all of them', async () => {
  const { enter, opened, assign, pass, backlog } = start({ ...overloaded });
  assign(20);
  opened(wish, true);
  await expect(enter(project, wish)).rejects.toMatchObject({ code: 'exhausted' });
  pass(20);
  Object.assign(backlog, { waiting: 5, longestWaitMs: 20, toCome: 9 });
  for (let nth = 0; nth < 4; nth += 1) await enter(project, wish);
});
