import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import type { BrowserOrder, BrowserOrders, BrowserReport } from '#wire/browser-link/exchange.ts';
import { WorldLink } from './world-link.ts';

const waiting = { timeoutMs: 10_000 };

/** Fake world host that collects reports, and holds a report open until there is an order. */
const createWorld = () => {
  const world = {
    resets: 0,
    taken: 0,
    isAway: false,
    orders: [] as BrowserOrder[],
    noted: [] as { operation: string; detail: Record<string, unknown> }[],
    answers: [] as BrowserReport['answers'],
    reports: [] as BrowserReport[],
    async exchange(report: BrowserReport, signal: AbortSignal): Promise<BrowserOrders> {
      await setImmediate(); // delay, as a network has
      if (world.isAway) throw new Error('there is no answer');
      world.reports.push(report);
      for (const [index, entry] of report.entries.entries()) {
        if (report.first + index < world.taken) continue;
        world.taken = report.first + index + 1;
        world.noted.push(entry);
      }
      world.answers.push(...report.answers);
      const answer = () => ({ resets: world.resets, taken: world.taken, orders: world.orders });
      const seen = report.resets;
      if (report.hold > 0) {
        await until(() => signal.aborted || world.orders.length > 0 || world.resets > seen, {
          ...waiting,
          what: 'an order',
        });
      }
      return answer();
    },
  };
  return world;
};

let link: WorldLink | undefined;

afterEach(async () => {
  await link?.stop(0);
  link = undefined;
});

type Given = { resets?: number; carryOut?: (order: BrowserOrder) => Promise<unknown> };

const connect = (world: ReturnType<typeof createWorld>, { resets, carryOut }: Given = {}) => {
  const done: string[] = [];
  const opened = new WorldLink({
    hostId: 'hst-1',
    generation: 1,
    exchange: world.exchange,
    carryOut: carryOut ?? (async () => 'done'),
    reset: async () => void done.push('reset'),
    resets,
    onResets: (count) => done.push(`seen ${count}`),
    log: createLog('browser', 'silent'),
  });
  link = opened;
  return { opened, done };
};

const entry = (operation: string) => ({ at: '2026-03-01T00:00:00.000Z', operation, detail: {} });
const order = (id: number): BrowserOrder => ({
  id,
  do: 'screenshot',
  format: 'png',
  fullPage: false,
});

describe('an entry for the ledger', () => {
  it('is delivered once and in order, even after the world host was away', async () => {
    const world = createWorld();
    world.isAway = true;
    const { opened } = connect(world);
    for (const name of ['one', 'two', 'three']) opened.note(entry(name));
    world.isAway = false;
    await until(() => world.noted.length === 3, { ...waiting, what: 'three entries' });
    expect(world.noted.map(({ operation }) => operation)).toEqual(['one', 'two', 'three']);
  });

  it('is dropped when a thousand are queued, and the next entry has the number of dropped ones', async () => {
    const world = createWorld();
    world.isAway = true;
    const { opened } = connect(world);
    for (let count = 0; count < 1_005; count += 1) opened.note(entry('many'));
    world.isAway = false;
    await until(() => world.noted.length === 1_000, { ...waiting, what: 'a thousand entries' });
    opened.note(entry('next'));
    await until(() => world.noted.length === 1_001, { ...waiting, what: 'the next entry' });
    expect(world.noted.at(-1)).toMatchObject({ operation: 'next', detail: { leftOut: 5 } });
    expect(Math.max(...world.reports.map(({ entries }) => entries.length))).toBe(100);
  });

  it('is delivered when the link is stopped', async () => {
    const world = createWorld();
    const { opened } = connect(world);
    opened.note(entry('last'));
    await opened.stop(1_000);
    link = undefined;
    expect(world.noted).toHaveLength(1);
  });
});

describe('an order', () => {
  it('is executed once, even if it is received repeatedly, and answered', async () => {
    const world = createWorld();
    const carried: number[] = [];
    world.orders = [order(4)];
    connect(world, { carryOut: async ({ id }) => carried.push(id) });
    await until(() => world.answers.length > 0, { ...waiting, what: 'an answer' });
    world.orders = [];
    expect(carried).toEqual([4]);
    expect(world.answers[0]).toEqual({ id: 4, output: 1 });
  });

  it('that fails is answered with the reason', async () => {
    const world = createWorld();
    world.orders = [order(1)];
    const carryOut = async () => {
      throw new Error('there is no tab');
    };
    connect(world, { carryOut });
    const answer = await until(() => world.answers[0], { ...waiting, what: 'an answer' });
    world.orders = [];
    expect(answer.error).toMatchObject({
      code: 'browser_unavailable',
      message: expect.stringContaining('there is no tab'),
    });
  });
});

describe('a reset of the session', () => {
  it('resets the profile once, and is reported to the world host', async () => {
    const world = createWorld();
    const { done } = connect(world, { resets: 0 });
    world.resets = 1;
    await until(() => world.reports.some(({ resets }) => resets === 1), {
      ...waiting,
      what: 'that it is done',
    });
    expect(done).toEqual(['seen 1', 'reset']);
  });

  it('does not affect a profile that is newer than the reset', async () => {
    const world = createWorld();
    world.resets = 3;
    const { done } = connect(world);
    await until(() => world.reports.some(({ resets }) => resets === 3), {
      ...waiting,
      what: 'that it is known',
    });
    expect(done).toEqual(['seen 3']);
  });
});
