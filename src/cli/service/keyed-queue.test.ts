/** Tests keyed queues: the order within a key, the limit of concurrent keys, and the bound of held items. */
import { describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { KeyedQueue } from './keyed-queue.ts';

/** Creates a keyed queue whose work ends when the test says. */
const controlled = (limits: { atOnce: number; most: number }) => {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const queue = new KeyedQueue<string>({
    ...limits,
    work(item) {
      begun.push(item);
      const end = Promise.withResolvers<void>();
      ends.set(item, end);
      return end.promise;
    },
  });
  const began = (count: number) =>
    until(() => begun.length >= count, { timeoutMs: 30_000, what: `${count} begun` });
  return { queue, begun, began, ends };
};

/** Returns true if a promise settles at once, including everything that follows without waiting. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol('pending');
  const turn = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([promise, turn])) !== pending;
};

describe('KeyedQueue', () => {
  it('keeps the order of each key, and runs keys concurrently', async () => {
    const { queue, begun, began, ends } = controlled({ atOnce: 2, most: 10 });
    for (const item of ['a1', 'a2', 'b1', 'c1']) queue.add(item.slice(0, 1), item);
    expect(begun).toEqual(['a1', 'b1']);
    ends.get('b1')?.resolve();
    await began(3);
    ends.get('c1')?.resolve();
    expect(await isSettled(queue.drained())).toBe(false);
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    ends.get('a1')?.resolve();
    await began(4);
    ends.get('a2')?.resolve();
    await queue.drained();
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('makes callers wait while the maximum number of items is held', async () => {
    const { queue, ends } = controlled({ atOnce: 1, most: 2 });
    await queue.capacity();
    queue.add('a', 'a1');
    await queue.capacity();
    queue.add('b', 'b1');
    const waiting = queue.capacity();
    expect(await isSettled(waiting)).toBe(false);
    ends.get('a1')?.resolve();
    await waiting;
  });

  it('starts nothing more after a failure, and reports it', async () => {
    const { queue, begun, ends } = controlled({ atOnce: 1, most: 1 });
    queue.add('a', 'a1');
    queue.add('a', 'a2');
    queue.add('b', 'b1');
    const waiting = Promise.allSettled([queue.capacity(), queue.drained()]);
    ends.get('a1')?.reject(new Error('refused for good'));
    for (const end of await waiting) {
      expect(end).toMatchObject({ status: 'rejected', reason: { message: 'refused for good' } });
    }
    await expect(queue.capacity()).rejects.toThrow('refused for good');
    expect(begun).toEqual(['a1']);
  });

  it('is drained at once if nothing was added', async () => {
    await controlled({ atOnce: 1, most: 1 }).queue.drained();
  });
});
