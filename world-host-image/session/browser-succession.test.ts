/**
 * Entries that a session's world host records from successive browsers, if each browser's host counts its generations
 * by itself.
 */
import { describe, expect, it } from 'vitest';
import type { BrowserReport } from '#wire/browser-link/exchange.ts';
import { BrowserHub } from './browser-hub.ts';

const never = new AbortController().signal;

const report = (
  hostId: string,
  operations: string[],
  more: Partial<BrowserReport> = {},
): BrowserReport => ({
  hostId,
  generation: 1,
  resets: 0,
  first: 0,
  entries: operations.map((operation) => ({
    at: '2026-01-01T00:00:00.000Z',
    operation,
    detail: {},
  })),
  answers: [],
  hold: 0,
  ...more,
});

const startHub = () => {
  const noted: (string | null)[] = [];
  const hub = new BrowserHub({ ledger: { note: ({ operation }) => noted.push(operation) } });
  return { hub, noted };
};

describe('a session whose browser is replaced by a browser of another host', () => {
  it('records all entries of the new browser, although its generation is the same', async () => {
    const { hub, noted } = startHub();
    await hub.exchange(report('hst-1', ['navigated', 'downloaded']), never);
    const answer = await hub.exchange(report('hst-2', ['reclaimed']), never);
    expect(answer.taken).toBe(1);
    expect(noted).toEqual(['navigated', 'downloaded', 'reclaimed']);
  });

  it('records an entry once if it is sent twice', async () => {
    const { hub, noted } = startHub();
    await hub.exchange(report('hst-2', ['reclaimed']), never);
    await hub.exchange(report('hst-2', ['reclaimed', 'restored']), never);
    expect(noted).toEqual(['reclaimed', 'restored']);
  });

  it('records nothing more from the replaced browser, and sends it no orders', async () => {
    const { hub, noted } = startHub();
    await hub.exchange(report('hst-1', []), never);
    await hub.exchange(report('hst-2', ['reclaimed']), never);
    const picture = hub.picture({ format: 'png', fullPage: false });
    const late = await hub.exchange(report('hst-1', ['navigated']), never);
    expect(late).toEqual({ resets: 0, taken: 1, orders: [] });
    const { orders } = await hub.exchange(report('hst-2', [], { first: 1 }), never);
    const answers = orders.map(({ id }) => ({ id, output: 'a picture' }));
    await hub.exchange(report('hst-1', [], { answers }), never);
    await hub.exchange(report('hst-2', [], { first: 1, answers }), never);
    expect(await picture).toEqual({ output: 'a picture' });
    expect(noted).toEqual(['reclaimed']);
  });

  it('records entries of browsers of the previous release, which do not name their host', async () => {
    const { hub, noted } = startHub();
    const unnamed = (generation: number, operation: string) => {
      const { hostId: _, ...rest } = report('', [operation], { generation });
      return hub.exchange(rest, never);
    };
    await unnamed(2, 'navigated');
    await unnamed(1, 'reclaimed');
    await unnamed(2, 'restored');
    expect(noted).toEqual(['navigated', 'reclaimed', 'restored']);
  });
});
