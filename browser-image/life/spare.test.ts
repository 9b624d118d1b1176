/** Tests when a spare browser is started, handed over and ended. The fake browser here only reports when it ended. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLog } from '#runtime/log.ts';
import type { Instance } from './instance.ts';
import { createSpare } from './spare.ts';

const afterMs = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Waits until a requested spare is ready. */
const soon = () => vi.advanceTimersByTimeAsync(afterMs);

const playInstance = () => {
  const { promise: ended, resolve } = Promise.withResolvers<NodeJS.Signals | null>();
  let isGone = false;
  const end = (): void => {
    isGone = true;
    resolve('SIGKILL');
  };
  const instance = { ended, isGone: () => isGone, stop: async () => end() };
  return { instance: instance as unknown as Instance, end };
};

const keep = (start?: () => Promise<Instance>) => {
  const started: ReturnType<typeof playInstance>[] = [];
  const startOne = async (): Promise<Instance> => {
    started.push(playInstance());
    return started.at(-1)?.instance as Instance;
  };
  const log = createLog('browser', 'silent');
  return { started, spare: createSpare({ afterMs, start: start ?? startOne, log }) };
};

it('a spare browser starts some time after it is requested, is handed out once, and is replaced on request', async () => {
  const { started, spare } = keep();
  spare.want();
  spare.want();
  await vi.advanceTimersByTimeAsync(afterMs - 1);
  expect([spare.take(), started.length]).toEqual([undefined, 0]);
  await soon();
  expect(spare.take()).toBe(started[0]?.instance);
  expect(spare.take()).toBeUndefined();
  await soon();
  expect(started).toHaveLength(1);
  spare.want();
  await soon();
  expect(spare.take()).toBe(started[1]?.instance);
});

it('a spare browser that has ended is not handed out, and is replaced a limited number of times', async () => {
  const { started, spare } = keep();
  spare.want();
  for (const count of [1, 2, 3]) {
    await soon();
    expect(started).toHaveLength(count);
    started[count - 1]?.end();
  }
  await soon();
  expect(started).toHaveLength(3);
  expect(spare.take()).toBeUndefined();
});

it('stopping ends the spare browser, and one that is still starting', async () => {
  const { started, spare } = keep();
  spare.want();
  await soon();
  await spare.discard();
  expect(started[0]?.instance.isGone()).toBe(true);
  const late = playInstance();
  const coming = Promise.withResolvers<Instance>();
  const slow = keep(() => coming.promise).spare;
  slow.want();
  await soon();
  const discarded = slow.discard();
  coming.resolve(late.instance);
  await discarded;
  expect(late.instance.isGone()).toBe(true);
});

it('there is no spare browser when it does not start', async () => {
  let starts = 0;
  const { spare } = keep(async () => {
    starts += 1;
    throw new Error('no memory');
  });
  spare.want();
  await soon();
  expect([starts, spare.take()]).toEqual([1, undefined]);
  await spare.discard();
});
