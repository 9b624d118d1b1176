import { afterEach, expect, it, vi } from 'vitest';
import { createWriteBatcher } from './write-batcher.ts';

type Item = { owner: string; key: string };

/**
 * Creates a batcher with limits of `groups` concurrent batches and `items` in each. A batch ends when the test says so.
 */
const startGroup = ({ groups = 1, items = 3, gatherMs = 0, waiting = 10 } = {}) => {
  const begun: string[][] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  let values = (given: readonly Item[]): (string | undefined)[] => given.map(({ key }) => key);
  const group = createWriteBatcher<Item, string>({
    limits: { groups, items, gatherMs, waiting },
    ownerOf: ({ owner }) => owner,
    keyOf: ({ key }) => key,
    async together(given) {
      begun.push(given.map(({ key }) => key));
      const end = Promise.withResolvers<void>();
      ends.push(end);
      await end.promise;
      return values(given);
    },
    isOfOne: (error) => (error as Error).message === 'a value',
  });
  return {
    group,
    begun,
    take: (owner: string, key: string) => group.take({ owner, key }),
    answer: (how: typeof values) => {
      values = how;
    },
    /** Ends the batch that began first, and lets the next batch begin. */
    async end(error?: Error) {
      const end = ends.shift();
      if (error === undefined) end?.resolve();
      else end?.reject(error);
      await turn();
    },
  };
};

afterEach(() => {
  vi.useRealTimers();
});

/** Waits until everything that is queued now has begun, as far as the limits allow. */
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

it('the write batcher writes items that arrive together in one batch, and later items in the next batch', async () => {
  const { take, begun, end, group } = startGroup();
  const first = Promise.all([take('p', 'a'), take('p', 'b')]);
  await turn();
  const second = Promise.all([take('p', 'c'), take('p', 'd')]);
  await turn();
  expect(begun).toEqual([['a', 'b']]);
  expect(group.waiting()).toBe(2);
  await end();
  expect(begun).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(await first).toEqual(['a', 'b']);
  await end();
  expect(await second).toEqual(['c', 'd']);
});

it('the write batcher observes its limits on concurrent batches and on items in a batch', async () => {
  const { take, begun } = startGroup({ groups: 2, items: 2 });
  for (const key of 'abcde') void take('p', key);
  await turn();
  expect(begun).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

it('the write batcher writes a single item at once, but waits a moment for more items after a batch of several', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const { take, begun, end } = startGroup({ gatherMs: 1 });
  void take('p', 'a');
  await turn();
  await end();
  void take('p', 'b');
  await turn();
  expect(begun).toEqual([['a'], ['b']]);
  void take('p', 'c');
  await turn();
  await end();
  void take('p', 'd');
  await turn();
  expect(begun).toEqual([['a'], ['b']]);
  vi.advanceTimersByTime(1);
  await turn();
  await end();
  expect(begun.at(-1)).toEqual(['c', 'd']);
  void take('p', 'e');
  await turn();
  expect(begun).toHaveLength(3);
  vi.advanceTimersByTime(1);
  await turn();
  await end();
  void take('p', 'f');
  await turn();
  expect(begun.slice(3)).toEqual([['e'], ['f']]);
});

it('items that have waited for their gathering time are written as soon as the batch before them ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const { take, begun, end } = startGroup({ gatherMs: 1 });
  void take('p', 'a');
  await turn();
  void take('p', 'b');
  vi.advanceTimersByTime(1);
  await turn();
  expect(begun).toEqual([['a']]);
  await end();
  expect(begun).toEqual([['a'], ['b']]);
});

it('the write batcher serves owners in turn, however many items one of them has', async () => {
  const { take, begun, end } = startGroup();
  for (const key of ['a1', 'a2', 'a3', 'a4', 'a5']) void take('a', key);
  void take('b', 'b1');
  await turn();
  await end();
  expect(begun).toEqual([
    ['a1', 'b1', 'a2'],
    ['a3', 'a4', 'a5'],
  ]);
});

it('items with the same key are written one after another, in order', async () => {
  const { take, begun, end } = startGroup({ groups: 2 });
  const done: string[] = [];
  void take('p', 'a').then(() => done.push('a first'));
  void take('p', 'a').then(() => done.push('a second'));
  void take('p', 'b');
  await turn();
  expect(begun).toEqual([['a', 'b']]);
  await end();
  expect(begun).toEqual([['a', 'b'], ['a']]);
  await end();
  expect(done).toEqual(['a first', 'a second']);
});

it('take returns undefined for items that a batch left out, and for all items of a batch that failed because of one item', async () => {
  const { take, answer, end } = startGroup();
  answer(([first]) => [first?.key, undefined]);
  const some = Promise.all([take('p', 'a'), take('p', 'b')]);
  await turn();
  await end();
  expect(await some).toEqual(['a', undefined]);
  const failed = Promise.all([take('p', 'a'), take('p', 'b')]);
  await turn();
  await end(new Error('a value'));
  expect(await failed).toEqual([undefined, undefined]);
});

it('a batch that fails, but not because of an item, has all its items rejected, and the next batch is written', async () => {
  const { take, end } = startGroup({ items: 2 });
  const failed = Promise.allSettled([take('p', 'a'), take('p', 'b')]);
  const next = take('p', 'c');
  await turn();
  await end(new Error('the database is gone'));
  const reason = new Error('the database is gone');
  expect(await failed).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  await end();
  expect(await next).toBe('c');
});

it('take refuses items of an owner that has too many items waiting, but not items of other owners', async () => {
  const { take, group } = startGroup({ waiting: 2 });
  void take('a', 'a1');
  await turn();
  void take('a', 'a2');
  void take('a', 'a3');
  await expect(take('a', 'a4')).rejects.toMatchObject({
    code: 'exhausted',
    detail: { retryAfterMs: 1_000 },
  });
  void take('b', 'b1');
  expect(group.waiting()).toBe(3);
});
