import { describe, expect, it, vi } from 'vitest';
import { createConnectionQueue } from './connection-queue.ts';

const bench = (limits: Parameters<typeof createConnectionQueue>[0]) => {
  const line = createConnectionQueue(limits);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (name: string) =>
    line.take(() => {
      began.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      return promise;
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { line, began, ask, settle, endOne: () => ends.shift()?.() };
};

describe('the line before the database', () => {
  it('serves so many at once, and the others in their order', async () => {
    const { line, began, ask, settle, endOne } = bench({ served: 2, waiting: 5, waitMs: 60_000 });
    const asked = ['a', 'b', 'c', 'd'].map(ask);
    await settle();
    expect([began, line.waiting()]).toEqual([['a', 'b'], 2]);
    endOne();
    await settle();
    expect(began).toEqual(['a', 'b', 'c']);
    for (let index = 0; index < 4; index += 1) {
      endOne();
      await settle();
    }
    await Promise.all(asked);
    expect([began, line.waiting()]).toEqual([['a', 'b', 'c', 'd'], 0]);
    const failing = line.take(() => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await line.take(async () => 'again')).toBe('again');
  });

  it('refuses as too much, and not as an outage, when it is full', async () => {
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

  it('lets nobody wait for longer than it says', async () => {
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
