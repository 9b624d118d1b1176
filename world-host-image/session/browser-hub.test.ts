import { beforeEach, describe, expect, it } from 'vitest';
import type { BrowserEntry, BrowserReport } from '#wire/browser-link/exchange.ts';
import type { LedgerNote } from '../ledger/ledger.ts';
import { BrowserHub } from './browser-hub.ts';

let hub: BrowserHub;
let noted: LedgerNote[];

const open = (patienceMs?: number): void => {
  noted = [];
  const ledger = { note: (entry: LedgerNote) => noted.push(entry) };
  hub = new BrowserHub({ ledger, ...(patienceMs === undefined ? {} : { patienceMs }) });
};

beforeEach(() => open());

const never = new AbortController().signal;

const entry = (operation: string): BrowserEntry => ({
  ...{ at: '2026-03-01T00:00:00.000Z', operation, path: 'http://page/' },
  detail: { of: operation },
});

const report = (parts: Partial<BrowserReport> = {}): BrowserReport => ({
  ...{ generation: 1, resets: 0, first: 0, entries: [], answers: [], hold: 0 },
  ...parts,
});

const say = (parts: Partial<BrowserReport> = {}) => hub.exchange(report(parts), never);

const operations = (): string[] => noted.map(({ operation }) => operation ?? '');

describe('an event of a browser', () => {
  it('is recorded as an event of the browser, with its details', async () => {
    const { taken } = await say({ entries: [entry('navigated')] });
    expect(taken).toBe(1);
    expect(noted).toEqual([
      expect.objectContaining({
        ...{ via: 'browser', operation: 'navigated', path: 'http://page/' },
        request: { of: 'navigated' },
      }),
    ]);
  });

  it('is recorded once, however often it is reported', async () => {
    const entries = [entry('one'), entry('two')];
    await say({ entries });
    await say({ entries: [...entries, entry('three')] });
    expect((await say({ first: 2, entries: [entry('three')] })).taken).toBe(3);
    expect(operations()).toEqual(['one', 'two', 'three']);
  });

  it('is recorded even if a browser that replaces another numbers its events from the start again', async () => {
    await say({ entries: [entry('before')] });
    expect((await say({ generation: 2, entries: [entry('after')] })).taken).toBe(1);
    expect(operations()).toEqual(['before', 'after']);
  });

  it('is acknowledged but not recorded if it happened before a reset', async () => {
    await say();
    const reset = hub.reset();
    expect((await say({ entries: [entry('late')] })).taken).toBe(1);
    await say({ resets: 1, first: 1, entries: [entry('fresh')] });
    expect(await reset).toBe(true);
    expect(operations()).toEqual(['fresh']);
  });
});

describe('a screenshot', () => {
  const wanted = { format: 'png', fullPage: false } as const;

  it('is requested from the browser until the browser answers, and then returned to the caller', async () => {
    const asked = hub.picture(wanted);
    const [order] = (await say()).orders;
    expect(order).toMatchObject({ do: 'screenshot', ...wanted });
    expect((await say({ generation: 2 })).orders).toEqual([order]);
    await say({ generation: 2, answers: [{ id: order?.id ?? 0, output: { base64: 'eA==' } }] });
    expect(await asked).toEqual({ output: { base64: 'eA==' } });
    expect((await say({ generation: 2 })).orders).toEqual([]);
  });

  it('fails with the browser’s error if the browser could not take it', async () => {
    const asked = hub.picture(wanted);
    const [order] = (await say()).orders;
    const error = { code: 'browser_unavailable', message: 'no tab' };
    await say({ answers: [{ id: order?.id ?? 0, error }] });
    expect(await asked).toEqual({ error });
  });

  it('fails after the time limit, and is no longer requested from the browser', async () => {
    open(1);
    const outcome = await hub.picture(wanted);
    expect(outcome).toMatchObject({ error: { code: 'browser_unavailable' } });
    expect((await say()).orders).toEqual([]);
  });

  it('is refused if twenty are pending', async () => {
    const asked = Array.from({ length: 20 }, () => hub.picture(wanted));
    expect(await hub.picture(wanted)).toMatchObject({ error: { code: 'too_many' } });
    const { orders } = await say();
    await say({ answers: orders.map(({ id }) => ({ id, output: id })) });
    expect(await Promise.all(asked)).toEqual(orders.map(({ id }) => ({ output: id })));
  });

  it('is ignored if the host did not request it', async () => {
    expect((await say({ answers: [{ id: 7, output: 'x' }] })).orders).toEqual([]);
  });
});

describe('a report that is held open', () => {
  it('is answered as soon as there is an order', async () => {
    const held = say({ hold: 20 });
    const asked = hub.picture({ format: 'png', fullPage: false });
    const { orders } = await held;
    expect(orders).toHaveLength(1);
    await say({ answers: [{ id: orders[0]?.id ?? 0, output: 1 }] });
    expect(await asked).toEqual({ output: 1 });
  });

  it('is answered when the session ends', async () => {
    const ending = new AbortController();
    const held = hub.exchange(report({ hold: 20 }), ending.signal);
    ending.abort();
    expect(await held).toEqual({ resets: 0, taken: 0, orders: [] });
    expect(await hub.exchange(report({ hold: 20 }), ending.signal)).toMatchObject({ orders: [] });
  });
});

describe('a reset', () => {
  it('is complete when the browser, which gets the order at once, has a fresh profile', async () => {
    const held = say({ hold: 20 });
    const reset = hub.reset();
    expect(await held).toMatchObject({ resets: 1 });
    await say({ resets: 1 });
    expect(await reset).toBe(true);
  });

  it('is incomplete until a browser has a fresh profile', async () => {
    open(1);
    expect(await hub.reset()).toBe(false);
  });
});
