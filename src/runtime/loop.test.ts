import { describe, expect, it, vi } from 'vitest';
import { createLog } from './log.ts';
import { type Loop, startLoop } from './loop.ts';

const often = { interval: 1 };

type Wait = { ms: number; hasEnded: boolean; end(): void };

/** Starts a loop; the test ends each of its ticks and waits. */
const drive = (options: { everyMs?: number; maxBackoffMs?: number } = {}) => {
  const ticks: PromiseWithResolvers<string>[] = [];
  const waits: Wait[] = [];
  const log = createLog('test', 'silent');
  const warn = vi.spyOn(log, 'warn');
  const wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const one: Wait = { ms, hasEnded: false, end };
      function end() {
        one.hasEnded = true;
        resolve();
      }
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
      waits.push(one);
    });
  const loop: Loop<string> = startLoop({
    name: 'driven',
    everyMs: 1_000,
    ...options,
    log,
    wait,
    tick: (signal) => {
      const ticked = Promise.withResolvers<string>();
      signal.addEventListener('abort', () => ticked.reject(signal.reason), { once: true });
      ticks.push(ticked);
      return ticked.promise;
    },
  });
  const nthTick = async (count: number) => {
    await vi.waitUntil(() => ticks.length >= count, often);
    return ticks[count - 1] as PromiseWithResolvers<string>;
  };
  const nthWait = async (count: number) => {
    await vi.waitUntil(() => waits.length >= count, often);
    return waits[count - 1] as Wait;
  };
  /** Lets `count` ticks fail; returns how long the loop waited after each of them, in milliseconds. */
  const fail = async (count: number, message = 'no'): Promise<number[]> => {
    const lengths: number[] = [];
    for (let at = 1; at <= count; at += 1) {
      (await nthTick(at)).reject(new Error(message));
      const waited = await nthWait(at);
      lengths.push(waited.ms);
      if (at < count) waited.end();
    }
    return lengths;
  };
  return { loop, ticks, waits, warn, nthTick, nthWait, fail };
};

describe('a loop', () => {
  it('waits between its ticks, and reports the result of the last one', async () => {
    const { loop, nthTick, nthWait } = drive();
    (await nthTick(1)).resolve('one');
    const first = await nthWait(1);
    expect(first.ms).toBe(1_000);
    expect(loop.status()).toMatchObject({ ticks: 1, failures: 0, last: 'one' });
    first.end();
    (await nthTick(2)).resolve('two');
    await nthWait(2);
    expect(loop.status()).toMatchObject({ ticks: 2, last: 'two', isStopped: false });
    await loop.stop();
    expect(loop.status().isStopped).toBe(true);
  });

  it('does not wait after a tick that waits by itself', async () => {
    const { loop, nthTick, waits } = drive({ everyMs: 0 });
    (await nthTick(1)).resolve('one');
    await nthTick(2);
    expect(waits).toEqual([]);
    await loop.stop();
  });

  it('ends its wait early when it is nudged', async () => {
    const { loop, nthTick, nthWait } = drive();
    (await nthTick(1)).resolve('one');
    const waited = await nthWait(1);
    loop.nudge();
    expect(waited.hasEnded).toBe(true);
    await nthTick(2);
    await loop.stop();
  });

  it('ticks again at once when it was nudged during a tick, and only once', async () => {
    const { loop, nthTick, nthWait, ticks, waits } = drive();
    const first = await nthTick(1);
    loop.nudge();
    loop.nudge();
    first.resolve('one');
    (await nthTick(2)).resolve('two');
    await nthWait(1);
    expect(ticks).toHaveLength(2);
    expect(waits).toHaveLength(1);
    await loop.stop();
  });

  it('backs off after each consecutive failure, up to a bound and with jitter', async () => {
    const { loop, fail } = drive({ maxBackoffMs: 300 });
    const lengths = await fail(6);
    for (const [index, most] of [50, 100, 200, 300, 300, 300].entries()) {
      expect(lengths[index]).toBeGreaterThanOrEqual(most / 2);
      expect(lengths[index]).toBeLessThanOrEqual(most);
    }
    expect(new Set(lengths).size).toBeGreaterThan(3);
    await loop.stop();
  });

  it('keeps the backoff when it is nudged during a tick that fails', async () => {
    const { loop, nthTick, nthWait, ticks } = drive();
    const first = await nthTick(1);
    loop.nudge();
    first.reject(new Error('no'));
    expect((await nthWait(1)).hasEnded).toBe(false);
    expect(ticks).toHaveLength(1);
    await loop.stop();
  });

  it('keeps the backoff when it is nudged during the backoff', async () => {
    const { loop, fail, ticks, waits, nthTick } = drive();
    await fail(1);
    loop.nudge();
    expect(waits[0]?.hasEnded).toBe(false);
    expect(ticks).toHaveLength(1);
    waits[0]?.end();
    await nthTick(2);
    await loop.stop();
  });

  it('logs a repeated failure once, until a tick succeeds', async () => {
    const { loop, fail, warn, waits, nthTick, nthWait } = drive();
    await fail(3);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(loop.status()).toMatchObject({ failures: 3, failuresInARow: 3, lastError: 'no' });
    waits[2]?.end();
    (await nthTick(4)).resolve('good');
    expect((await nthWait(4)).ms).toBe(1_000);
    const status = loop.status();
    expect(status).toMatchObject({ failures: 3, failuresInARow: 0, lastError: undefined });
    await loop.stop();
  });

  it('stops during a tick, a wait and a backoff', async () => {
    const ticking = drive();
    await ticking.nthTick(1);
    await ticking.loop.stop();
    expect(ticking.loop.status()).toMatchObject({ failures: 0, isStopped: true });
    const waiting = drive();
    (await waiting.nthTick(1)).resolve('one');
    await waiting.nthWait(1);
    await waiting.loop.stop();
    const failing = drive();
    await failing.fail(1);
    await failing.loop.stop();
    expect([...ticking.ticks, ...waiting.ticks, ...failing.ticks]).toHaveLength(3);
  });
});
