/** When a spare browser is started, given away and ended; what stands for a browser here only says when it ended. */
import { expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { pause, until } from '#runtime/pause.ts';
import type { Instance } from './instance.ts';
import { createSpare } from './spare.ts';

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
  return { started, spare: createSpare({ afterMs: 5, start: start ?? startOne, log }) };
};

const waiting = { timeoutMs: 5_000, everyMs: 1, what: 'a spare' };

it('starts one when it is wanted, gives it away once, and another when it is wanted again', async () => {
  const { started, spare } = keep();
  expect(spare.take()).toBeUndefined();
  spare.want();
  spare.want();
  const first = await until(() => spare.take(), waiting);
  expect(first).toBe(started[0]?.instance);
  expect(spare.take()).toBeUndefined();
  await pause(20);
  expect(started).toHaveLength(1);
  spare.want();
  expect(await until(() => spare.take(), waiting)).toBe(started[1]?.instance);
});

it('gives away none that has ended, and starts another in its place, so often and no more', async () => {
  const { started, spare } = keep();
  spare.want();
  for (const count of [1, 2, 3]) {
    await until(() => started.length === count, waiting);
    await pause(2);
    started[count - 1]?.end();
  }
  await pause(30);
  expect(started).toHaveLength(3);
  expect(spare.take()).toBeUndefined();
});

it('ends what it has, and what is only coming up', async () => {
  const { started, spare } = keep();
  spare.want();
  await until(() => started.length === 1, waiting);
  await pause(2);
  await spare.discard();
  expect(started[0]?.instance.isGone()).toBe(true);
  const late = playInstance();
  const coming = Promise.withResolvers<Instance>();
  let begun = false;
  const slow = keep(() => {
    begun = true;
    return coming.promise;
  }).spare;
  slow.want();
  await until(() => begun, waiting);
  const discarded = slow.discard();
  coming.resolve(late.instance);
  await discarded;
  expect(late.instance.isGone()).toBe(true);
});

it('does without one that does not come up', async () => {
  const { spare } = keep(() => Promise.reject(new Error('no memory')));
  spare.want();
  await pause(20);
  expect(spare.take()).toBeUndefined();
  await spare.discard();
});
