import { describe, expect, it, vi } from 'vitest';
import { createProjectQueue, forNoProject, forProject } from './project-queue.ts';

/** Starts work that ends when the test says so, and records the order in which the work began. */
const bench = (all: number, ofProject = all, waiting = 1_000) => {
  const queue = createProjectQueue({ all, ofProject, waiting, waitMs: 1_000 });
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (project: string | undefined, name: string): Promise<void> => {
    const work = () => {
      began.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      return promise;
    };
    const take = () => queue.take(work);
    return project === undefined ? take() : forProject(project, take);
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await settle();
  };
  return { queue, began, ask, settle, endOne };
};

describe('the project queue', () => {
  it('serves the projects in turn, and the work of each in order', async () => {
    const { began, ask, settle, endOne } = bench(1);
    const asked = [
      ...Array.from({ length: 100 }, (_, index) => ask('greedy', `greedy ${index}`)),
      ask('other', 'other 0'),
      ask('other', 'other 1'),
    ];
    await settle();
    for (let index = 0; index < 5; index += 1) await endOne();
    expect(began).toEqual(['greedy 0', 'greedy 1', 'other 0', 'greedy 2', 'other 1', 'greedy 3']);
    for (let index = 0; index < 100; index += 1) await endOne();
    await Promise.all(asked);
  });

  it('starts work at once below its limit, and always if the work belongs to no project', async () => {
    const { began, ask, settle, endOne } = bench(2);
    const asked = [ask('a', 'a'), ask('a', 'b'), ask('a', 'c'), ask(undefined, 'inside')];
    await settle();
    expect(began).toEqual(['a', 'b', 'inside']);
    for (let index = 0; index < 4; index += 1) await endOne();
    await Promise.all(asked);
    expect(began).toEqual(['a', 'b', 'inside', 'c']);
  });

  it('refuses all work of a request if none of it has begun in time', async () => {
    vi.useFakeTimers();
    try {
      const { queue, began, ask } = bench(1);
      const first = ask('a', 'first');
      const ran: string[] = [];
      const both = forProject('a', () =>
        Promise.allSettled(
          ['rows', 'count'].map((name) => queue.take(async () => void ran.push(name))),
        ),
      );
      await vi.advanceTimersByTimeAsync(1_000);
      expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect([began, ran, queue.waiting()]).toEqual([['first'], [], 0]);
      first.catch(() => undefined);
    } finally {
      vi.useRealTimers();
    }
  });

  it('frees the slot of work that fails, and takes no second slot for work within other work', async () => {
    const { queue } = bench(1);
    const nested = forProject('a', () => queue.take(() => queue.take(async () => 'done')));
    expect(await nested).toBe('done');
    const failing = forProject('a', () => queue.take(() => Promise.reject(new Error('no'))));
    await expect(failing).rejects.toThrow('no');
    expect(await forProject('a', () => queue.take(async () => 'again'))).toBe('again');
  });

  it('never gives all slots to one project, however long its work takes', async () => {
    const { began, ask, settle, endOne } = bench(3, 2);
    const asked = ['a1', 'a2', 'a3', 'a4'].map((name) => ask('a', name));
    await settle();
    asked.push(ask('b', 'b1'), ask('b', 'b2'));
    await settle();
    expect(began).toEqual(['a1', 'a2', 'b1']);
    await endOne();
    expect(began).toEqual(['a1', 'a2', 'b1', 'a3']);
    for (let index = 0; index < 5; index += 1) await endOne();
    await Promise.all(asked);
    expect(began).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
  });

  it('starts shared work at once, whichever project requested it', async () => {
    const { began, ask, settle, endOne } = bench(1);
    const asked = [ask('a', 'a1'), ask('a', 'a2')];
    asked.push(forProject('a', () => forNoProject(() => ask(undefined, 'shared'))));
    await settle();
    expect(began).toEqual(['a1', 'shared']);
    for (let index = 0; index < 3; index += 1) await endOne();
    await Promise.all(asked);
  });

  it('refuses new requests if too many wait, but no request whose work has begun', async () => {
    const { queue, ask, settle, endOne } = bench(1, 1, 2);
    const steps = forProject('a', async () => {
      await queue.take(async () => undefined);
      await queue.take(async () => undefined);
      return 'to its end';
    });
    const asked = [ask('a', 'a1'), ask('a', 'a2')];
    await expect(ask('a', 'a3')).rejects.toMatchObject({ code: 'exhausted' });
    expect(queue.waiting()).toBe(2);
    const other = ask('b', 'b1');
    for (let index = 0; index < 6; index += 1) {
      await settle();
      await endOne();
    }
    expect(await steps).toBe('to its end');
    await Promise.all([...asked, other]);
    expect(queue.waiting()).toBe(0);
  });

  it('refuses work that has not begun after the maximum wait', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { began, ask, settle, endOne } = bench(1);
      const first = ask('a', 'first');
      const late = expect(ask('a', 'late')).rejects.toMatchObject({ code: 'exhausted' });
      vi.advanceTimersByTime(1_000);
      await late;
      const next = ask('a', 'next');
      for (let index = 0; index < 2; index += 1) await endOne();
      await Promise.all([first, next]);
      await settle();
      expect(began).toEqual(['first', 'next']);
    } finally {
      vi.useRealTimers();
    }
  });
});
