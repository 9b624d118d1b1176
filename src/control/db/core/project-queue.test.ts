import { describe, expect, it, vi } from 'vitest';
import { createProjectQueue, forNoProject, forProject } from './project-queue.ts';

/** Starts work that ends when the test ends it, and records the order in which it began. */
const bench = (all: number, ofProject = all, waiting = 1_000) => {
  const turns = createProjectQueue({ all, ofProject, waiting, waitMs: 1_000 });
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (project: string | undefined, name: string): Promise<void> => {
    const work = () => {
      began.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      return promise;
    };
    const take = () => turns.take(work);
    return project === undefined ? take() : forProject(project, take);
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await settle();
  };
  return { turns, began, ask, settle, endOne };
};

describe('turns', () => {
  it('go round the projects, in order within each', async () => {
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

  it('are not waited for while there is room, nor by what is for no project', async () => {
    const { began, ask, settle, endOne } = bench(2);
    const asked = [ask('a', 'a'), ask('a', 'b'), ask('a', 'c'), ask(undefined, 'inside')];
    await settle();
    expect(began).toEqual(['a', 'b', 'inside']);
    for (let index = 0; index < 4; index += 1) await endOne();
    await Promise.all(asked);
    expect(began).toEqual(['a', 'b', 'inside', 'c']);
  });

  it('refuse a request whole when none of what it asks for has begun in time', async () => {
    vi.useFakeTimers();
    try {
      const { turns, began, ask } = bench(1);
      const first = ask('a', 'first');
      const ran: string[] = [];
      const both = forProject('a', () =>
        Promise.allSettled(
          ['rows', 'count'].map((name) => turns.take(async () => void ran.push(name))),
        ),
      );
      await vi.advanceTimersByTimeAsync(1_000);
      expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect([began, ran, turns.waiting()]).toEqual([['first'], [], 0]);
      first.catch(() => undefined);
    } finally {
      vi.useRealTimers();
    }
  });

  it('are given back by what fails, and include what the work itself asks for', async () => {
    const { turns } = bench(1);
    const nested = forProject('a', () => turns.take(() => turns.take(async () => 'done')));
    expect(await nested).toBe('done');
    const failing = forProject('a', () => turns.take(() => Promise.reject(new Error('no'))));
    await expect(failing).rejects.toThrow('no');
    expect(await forProject('a', () => turns.take(async () => 'again'))).toBe('again');
  });

  it('are never all of one project, however long what it asks for takes', async () => {
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

  it('are not waited for by what all share, whichever project started it', async () => {
    const { began, ask, settle, endOne } = bench(1);
    const asked = [ask('a', 'a1'), ask('a', 'a2')];
    asked.push(forProject('a', () => forNoProject(() => ask(undefined, 'shared'))));
    await settle();
    expect(began).toEqual(['a1', 'shared']);
    for (let index = 0; index < 3; index += 1) await endOne();
    await Promise.all(asked);
  });

  it('are refused to what comes when too much waits, and not to what was let in', async () => {
    const { turns, ask, settle, endOne } = bench(1, 1, 2);
    const steps = forProject('a', async () => {
      await turns.take(async () => undefined);
      await turns.take(async () => undefined);
      return 'to its end';
    });
    const asked = [ask('a', 'a1'), ask('a', 'a2')];
    await expect(ask('a', 'a3')).rejects.toMatchObject({ code: 'exhausted' });
    expect(turns.waiting()).toBe(2);
    const other = ask('b', 'b1');
    for (let index = 0; index < 6; index += 1) {
      await settle();
      await endOne();
    }
    expect(await steps).toBe('to its end');
    await Promise.all([...asked, other]);
    expect(turns.waiting()).toBe(0);
  });

  it('are waited for no longer than it says, by what has not begun', async () => {
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
