/** Keyed queues: order within a key, the limit of concurrent keys, and the bound of held items. */
import { describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { createLanes } from './lanes.ts';

/** Creates keyed queues whose work ends when the test says. */
const controlled = (limits: { atOnce: number; most: number }) => {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const lanes = createLanes<string>({
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
  return { lanes, begun, began, ends };
};

/** Returns true if a promise is settled now, together with everything that follows at once. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol('pending');
  const turn = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([promise, turn])) !== pending;
};

describe('lanes', () => {
  it('keep the order of each, and do not wait for one another', async () => {
    const { lanes, begun, began, ends } = controlled({ atOnce: 2, most: 10 });
    for (const item of ['a1', 'a2', 'b1', 'c1']) lanes.add(item.slice(0, 1), item);
    expect(begun).toEqual(['a1', 'b1']);
    ends.get('b1')?.resolve();
    await began(3);
    ends.get('c1')?.resolve();
    expect(await isSettled(lanes.drained())).toBe(false);
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    ends.get('a1')?.resolve();
    await began(4);
    ends.get('a2')?.resolve();
    await lanes.drained();
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('have room when less is held than may be', async () => {
    const { lanes, ends } = controlled({ atOnce: 1, most: 2 });
    await lanes.room();
    lanes.add('a', 'a1');
    await lanes.room();
    lanes.add('b', 'b1');
    const room = lanes.room();
    expect(await isSettled(room)).toBe(false);
    ends.get('a1')?.resolve();
    await room;
  });

  it('begin nothing more once something has failed, and tell what it was', async () => {
    const { lanes, begun, ends } = controlled({ atOnce: 1, most: 1 });
    lanes.add('a', 'a1');
    lanes.add('a', 'a2');
    lanes.add('b', 'b1');
    const waiting = Promise.allSettled([lanes.room(), lanes.drained()]);
    ends.get('a1')?.reject(new Error('refused for good'));
    for (const end of await waiting) {
      expect(end).toMatchObject({ status: 'rejected', reason: { message: 'refused for good' } });
    }
    await expect(lanes.room()).rejects.toThrow('refused for good');
    expect(begun).toEqual(['a1']);
  });

  it('are drained when nothing was added', async () => {
    await controlled({ atOnce: 1, most: 1 }).lanes.drained();
  });
});
