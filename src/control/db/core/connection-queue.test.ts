import { describe, expect, it, vi } from 'vitest';
import { createConnectionQueue } from './connection-queue.ts';

const bench = (limits: Parameters<typeof createConnectionQueue>[0]) => {
  const queue = createConnectionQueue(limits);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (name: string) =>
    queue.take(() => {
      began.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      return promise;
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { queue, began, ask, settle, endOne: () => ends.shift()?.() };
};

describe('the connection queue', () => {
  it('serves up to its limit at once, and the rest in order', async () => {
    const { queue, began, ask, settle, endOne } = bench({ served: 2, waiting: 5, waitMs: 60_000 });
    const asked = ['a', 'b', 'c', 'd'].map(ask);
    await settle();
    expect([began, queue.waiting()]).toEqual([['a', 'b'], 2]);
    endOne();
    await settle();
    expect(began).toEqual(['a', 'b', 'c']);
    for (let index = 0; index < 4; index += 1) {
      endOne();
      await settle();
    }
    await Promise.all(asked);
    expect([began, queue.waiting()]).toEqual([['a', 'b', 'c', 'd'], 0]);
    const failing = queue.take(() => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await queue.take(async () => 'again')).toBe('again');
  });

  it('refuses with `exhausted` when it is full', async () => {
    const { began, ask, settle, endOne } = bench({ served: 1, waiting: 1, waitMs: 60_000 });
    const asked = ['a', 'b'].map(ask);
    await expect(ask('c')).rejects.toMatchObject({
      code: 'exhausted',
      detail: { retryAfterMs: 1_000 },
    });
    endOne();
    await settle();
    endOne();
    await Promise.all(asked);
    expect(began).toEqual(['a', 'b']);
  });

  it('refuses a waiter after the maximum wait', async () => {
    vi.useFakeTimers();
    try {
      const { began, ask, endOne } = bench({ served: 1, waiting: 9, waitMs: 1_000 });
      const first = ask('a');
      const late = expect(ask('late')).rejects.toMatchObject({ code: 'exhausted' });
      await vi.advanceTimersByTimeAsync(1_000);
      await late;
      const next = ask('next');
      endOne();
      await first;
      await vi.advanceTimersByTimeAsync(0);
      endOne();
      await next;
      expect(began).toEqual(['a', 'next']);
    } finally {
      vi.useRealTimers();
    }
  });
});
