import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AppError } from '#domain/error.ts';
import { WriteBatches, type WriteLimits } from './write-batches.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const limits: WriteLimits = {
  running: 3,
  runningOfProject: 1,
  overlapSize: 2,
  overlapMs: 10,
  batchSize: 3,
  waiting: 6,
  waitingOfProject: 5,
  waitMs: 1_000,
  retryMs: 100,
};

type Write = PromiseWithResolvers<void> & {
  projectId: string;
  items: readonly string[];
  isRetry: boolean;
};

/** Creates batches whose writes end only when the test ends them, and a list of the writes that have begun. */
const open = (given: Partial<WriteLimits> = {}, isThrottled = (): boolean => false) => {
  const writes: Write[] = [];
  const batches = new WriteBatches<string>(
    { ...limits, ...given },
    {
      write: (projectId, items, { isRetry }) => {
        const write = { projectId, items, isRetry, ...Promise.withResolvers<void>() };
        writes.push(write);
        return write.promise;
      },
      sizeOf: ({ length }) => length,
      kindOf: (item) => item.startsWith('!'),
      concernsItems: (error) => !(error instanceof AppError) || error.code === 'invalid',
      isThrottled,
    },
  );
  const begun = () => writes.map(({ projectId, items }) => [projectId, ...items].join(' '));
  return { batches, writes, begun };
};

const settled = () => vi.advanceTimersByTimeAsync(0);

/** Writes the items and records the outcome of each as soon as it is known. */
const writeAll = (batches: WriteBatches<string>, projectId: string, items: readonly string[]) => {
  const became: Record<string, string> = {};
  for (const item of items) {
    batches.write(projectId, item).then(
      () => {
        became[item] = 'written';
      },
      (error: Error) => {
        became[item] = error.message;
      },
    );
  }
  return became;
};

it('WriteBatches writes the first request of a project at once, and batches the requests that arrive meanwhile in order', async () => {
  const { batches, writes, begun } = open();
  const became = writeAll(batches, 'one', ['a', 'b', 'c', 'd', 'e']);
  await settled();
  expect(begun()).toEqual(['one a']);
  writes[0]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'one b c d']);
  expect(became).toEqual({ a: 'written' });
  writes[1]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'one b c d', 'one e']);
  expect(became).toEqual({ a: 'written', b: 'written', c: 'written', d: 'written' });
  writes[2]?.resolve();
  await settled();
  expect(became.e).toBe('written');
  expect(batches.state()).toEqual({ running: 0, waiting: 0, refused: 0 });
});

it('WriteBatches writes an item alone if it is larger than a batch', async () => {
  const { batches, writes, begun } = open();
  writeAll(batches, 'one', ['a', 'much', 'b', 'c']);
  await settled();
  for (const index of [0, 1, 2]) {
    writes[index]?.resolve();
    await settled();
  }
  expect(begun()).toEqual(['one a', 'one much', 'one b c']);
});

it('WriteBatches starts a second write of a project once enough requests wait, or after a short delay', async () => {
  const { batches, writes, begun } = open({ runningOfProject: 2 });
  writeAll(batches, 'one', ['a', 'b']);
  await settled();
  expect(begun()).toEqual(['one a']);
  writeAll(batches, 'one', ['c']);
  await settled();
  expect(begun()).toEqual(['one a', 'one b c']);
  writes[1]?.resolve();
  writeAll(batches, 'one', ['d']);
  await settled();
  expect(begun()).toEqual(['one a', 'one b c']);
  await vi.advanceTimersByTimeAsync(limits.overlapMs);
  expect(begun()).toEqual(['one a', 'one b c', 'one d']);
  expect(batches.state()).toEqual({ running: 2, waiting: 0, refused: 0 });
});

it('WriteBatches leaves slots and queue space to other projects when one project floods the queue', async () => {
  const { batches, begun } = open({ runningOfProject: 2, overlapSize: 1 });
  const flood = writeAll(batches, 'flood', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  const quiet = writeAll(batches, 'quiet', ['x', 'y']);
  await settled();
  expect(begun()).toEqual(['flood a', 'flood b', 'quiet x']);
  expect(batches.state()).toEqual({ running: 3, waiting: 6, refused: 1 });
  expect(flood).toEqual({ h: expect.stringContaining('too much is being ingested') });
  expect(quiet).toEqual({});
});

it('WriteBatches lets projects write in turn, however many requests of one project wait', async () => {
  const { batches, writes, begun } = open({ running: 1 }, () => true);
  writeAll(batches, 'flood', ['a', 'b', 'c']);
  writeAll(batches, 'other', ['m', 'n']);
  writeAll(batches, 'quiet', ['x']);
  for (let index = 0; index < 5; index += 1) {
    await settled();
    writes[index]?.resolve();
  }
  await settled();
  expect(begun()).toEqual(['flood a', 'other m', 'quiet x', 'flood b', 'other n', 'flood c']);
});

it('WriteBatches refuses, if the queue is full, the last request of the project that has most requests in it', async () => {
  const { batches, begun } = open({ running: 2 });
  const flood = writeAll(batches, 'flood', ['a', 'b', 'c', 'd', 'e']);
  const other = writeAll(batches, 'other', ['m', 'n', 'o']);
  await settled();
  const quiet = writeAll(batches, 'quiet', ['x', 'y']);
  await settled();
  expect(begun()).toEqual(['flood a', 'other m']);
  const refusal = expect.stringContaining('too much is being ingested');
  expect([flood, other, quiet]).toEqual([{ d: refusal, e: refusal }, {}, {}]);
  const more = writeAll(batches, 'other', ['p']);
  await settled();
  expect(more).toEqual({ p: refusal });
  expect(batches.state()).toEqual({ running: 2, waiting: 6, refused: 3 });
});

it('WriteBatches retries a batch by halves when one of its items is invalid', async () => {
  const { batches, writes, begun } = open({ batchSize: 4 });
  const became = writeAll(batches, 'one', ['a', 'b', 'c', 'd', 'e']);
  const bad = new Error('the bad one');
  const outcomes = [null, new AppError('invalid', 'a value cannot be kept'), null, bad, bad, null];
  for (const [index, outcome] of outcomes.entries()) {
    await settled();
    if (outcome === null) writes[index]?.resolve();
    else writes[index]?.reject(outcome);
  }
  await settled();
  expect(begun()).toEqual(['one a', 'one b c d e', 'one b c', 'one d e', 'one d', 'one e']);
  expect(writes.map(({ isRetry }) => isRetry)).toEqual([false, false, true, true, true, true]);
  const written = 'written';
  expect(became).toEqual({ a: written, b: written, c: written, d: 'the bad one', e: written });
  expect(batches.state()).toEqual({ running: 0, waiting: 0, refused: 0 });
});

it('WriteBatches refuses the rest of a failed batch once its retries take too long', async () => {
  const { batches, writes, begun } = open();
  const became = writeAll(batches, 'one', ['a', 'b', 'c', 'd']);
  await settled();
  writes[0]?.resolve();
  await settled();
  writes[1]?.reject(new AppError('invalid', 'no'));
  await settled();
  await vi.advanceTimersByTimeAsync(limits.retryMs + 1);
  writes[2]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'one b c d', 'one b']);
  const refusal = expect.stringContaining('too much is being ingested');
  expect(became).toEqual({ a: 'written', b: 'written', c: refusal, d: refusal });
  expect(batches.state()).toMatchObject({ running: 0, waiting: 0 });
});

it('WriteBatches batches only items of the same kind', async () => {
  const { batches, writes, begun } = open({ batchSize: 10 });
  writeAll(batches, 'one', ['a', 'b', 'c', '!d', '!e', 'f']);
  for (let index = 0; index < 3; index += 1) {
    await settled();
    writes[index]?.resolve();
  }
  await settled();
  expect(begun()).toEqual(['one a', 'one b c', 'one !d !e', 'one f']);
});

it('WriteBatches writes first for the project whose last write began longest ago, even if one of its requests was refused since', async () => {
  const { batches, writes, begun } = open({ running: 1 }, () => true);
  writeAll(batches, 'quiet', ['v']);
  writeAll(batches, 'one', ['a']);
  await settled();
  writes[0]?.resolve();
  await settled();
  const quiet = writeAll(batches, 'quiet', ['w']);
  await vi.advanceTimersByTimeAsync(limits.waitMs);
  expect(quiet).toEqual({ w: expect.stringContaining('too much is being ingested') });
  writeAll(batches, 'one', ['b']);
  writeAll(batches, 'quiet', ['x']);
  await settled();
  writes[1]?.resolve();
  await settled();
  expect(begun()).toEqual(['quiet v', 'one a', 'quiet x']);
});

it('WriteBatches starts waiting writes once writes are no longer throttled, even if no other request arrives', async () => {
  let isThrottled = true;
  const { batches, begun } = open({}, () => isThrottled);
  writeAll(batches, 'one', ['a']);
  writeAll(batches, 'other', ['x']);
  await settled();
  expect(begun()).toEqual(['one a']);
  isThrottled = false;
  await vi.advanceTimersByTimeAsync(100);
  expect(begun()).toEqual(['one a', 'other x']);
});

it('WriteBatches fails every request of a batch when the database does not answer', async () => {
  const { batches, writes, begun } = open();
  const became = writeAll(batches, 'one', ['a', 'b', 'c']);
  await settled();
  writes[0]?.resolve();
  await settled();
  writes[1]?.reject(new AppError('unavailable', 'no answer'));
  await settled();
  expect(begun()).toEqual(['one a', 'one b c']);
  expect(became).toEqual({ a: 'written', b: 'no answer', c: 'no answer' });
});

it('WriteBatches writes one request at a time while throttled, and full batches afterwards', async () => {
  let isThrottled = true;
  const { batches, writes, begun } = open({}, () => isThrottled);
  writeAll(batches, 'one', ['a', 'b', 'c']);
  writeAll(batches, 'other', ['x', 'y']);
  await settled();
  writes[0]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'other x']);
  isThrottled = false;
  writes[1]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'other x', 'one b c', 'other y']);
});

it('WriteBatches refuses a request when the queue is full, and a request that has waited too long', async () => {
  const { batches, writes, begun } = open({ waiting: 1 });
  const became = writeAll(batches, 'one', ['a', 'b']);
  const other = writeAll(batches, 'other', ['x']);
  await settled();
  const last = writeAll(batches, 'one', ['c']);
  await settled();
  expect(last).toEqual({ c: expect.stringContaining('too much is being ingested') });
  await vi.advanceTimersByTimeAsync(limits.waitMs);
  expect(became).toEqual({ b: expect.stringContaining('too much is being ingested') });
  expect(batches.state()).toEqual({ running: 2, waiting: 0, refused: 2 });
  for (const { resolve } of writes) resolve();
  await settled();
  expect({ ...became, ...other }).toMatchObject({ a: 'written', x: 'written' });
  const next = writeAll(batches, 'one', ['d']);
  await settled();
  expect(begun()).toEqual(['one a', 'other x', 'one d']);
  writes[2]?.resolve();
  await settled();
  expect(next).toEqual({ d: 'written' });
});
