import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { ControlLink } from '#hosting/link.ts';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { type Ledger, type LedgerNote, openLedger } from '../ledger/ledger.ts';
import { LedgerDelivery } from './deliver-ledger.ts';

const stopping = new AbortController();
let delivery: LedgerDelivery | undefined;
afterEach(() => delivery?.finish({ isStopping: false }));

const note = (ledger: Ledger, operation: string, more: Partial<LedgerNote> = {}) =>
  ledger.note({
    at: '2026-01-01T00:00:00.000Z',
    via: 'api',
    operation,
    method: 'GET',
    path: '/',
    status: 200,
    request: null,
    response: null,
    duration_ms: 1,
    changes: {},
    call_id: null,
    ...more,
  });

type Sent = { generation: number; entries: string[] };

/** Starts to deliver a ledger's entries to `take`, which may throw. */
const start = (ledger: Ledger, take: (operations: string[]) => void): void => {
  const send = (async (_shape: unknown, { body }: { body: Sent }) => {
    take(body.entries.map((text) => JSON.parse(text).operation));
    return {};
  }) as unknown as ControlLink['send'];
  delivery = new LedgerDelivery(
    {
      link: { send, sendOnce: send },
      log: createLog('test', 'silent'),
      identity: { hostId: 'hst-1', generation: 1 },
      stopping: stopping.signal,
    },
    { id: 'ses-1', ledger },
  );
};

describe('delivering a ledger', () => {
  it('sends entries while the session is served, and the remaining entries when the session ends', async () => {
    const ledger = openLedger();
    const taken: string[][] = [];
    note(ledger, 'one');
    start(ledger, (operations) => taken.push(operations));
    await until(() => taken[0], { timeoutMs: 1_000, what: 'the first delivery' });
    for (let n = 0; n < 700; n += 1) note(ledger, `later ${n}`);
    ledger.close();
    await delivery?.finish({ isStopping: false });
    expect(taken.map((operations) => operations.length)).toEqual([1, 500, 200]);
    expect(taken.flat().at(-1)).toBe('later 699');
  });

  it('sends all waiting webhook deliveries at once, and never drops a delivery for a later entry', async () => {
    const ledger = openLedger();
    const body = 'x'.repeat(200_000);
    for (let n = 1; n <= 100; n += 1) note(ledger, `hook ${n}`, { via: 'webhook', request: body });
    for (let n = 1; n <= 6_000; n += 1) note(ledger, 'later');
    const taken: string[] = [];
    start(ledger, (operations) => taken.push(...operations));
    await until(() => ledger.backlog.size() === 0, { timeoutMs: 30_000, what: 'all to be given' });
    expect(taken.filter((operation) => operation.startsWith('hook'))).toHaveLength(100);
    expect(taken).toHaveLength(100 + limits.sessionRequests);
  });

  it('sends the newest entry when time runs out, so that missing entries can be counted', async () => {
    const ledger = openLedger();
    for (let n = 1; n <= 1_200; n += 1) note(ledger, `${n}`);
    const taken: string[][] = [];
    start(ledger, (operations) => {
      if (operations.length > 1) throw new AppError('unavailable', 'away');
      taken.push(operations);
    });
    await delivery?.finish({ isStopping: true });
    expect(taken).toEqual([['1200']]);
  });

  it('continues after the end of a session for as long as the control plane is unavailable', async () => {
    const ledger = openLedger();
    note(ledger, 'one');
    const now = vi.spyOn(performance, 'now');
    onTestFinished(() => now.mockRestore());
    const taken: string[] = [];
    let failures = 0;
    start(ledger, (operations) => {
      failures += 1;
      now.mockReturnValue(failures * 60_000);
      if (failures < 4) throw new AppError('unavailable', 'away');
      taken.push(...operations);
    });
    await delivery?.finish({ isStopping: false });
    expect(taken).toEqual(['one']);
    expect(delivery?.lost()).toBeUndefined();
  });

  it('counts as lost the entries that an available control plane does not accept in time', async () => {
    const ledger = openLedger();
    for (let n = 1; n <= 5; n += 1) note(ledger, `${n}`);
    const now = vi.spyOn(performance, 'now');
    onTestFinished(() => now.mockRestore());
    let failures = 0;
    start(ledger, () => {
      failures += 1;
      now.mockReturnValue(failures * 60_000);
      throw new AppError('internal', 'broken');
    });
    await delivery?.finish({ isStopping: false });
    expect(delivery?.lost()).toEqual({ entries: 5, lastEntry: 5 });
  });

  it('drops only the entry that the control plane rejects', async () => {
    const ledger = openLedger();
    const taken: string[] = [];
    for (const operation of ['a', 'bad', 'c']) note(ledger, operation);
    start(ledger, (operations) => {
      if (operations.includes('bad')) throw new AppError('invalid', 'not this one');
      taken.push(...operations);
    });
    await delivery?.finish({ isStopping: false });
    expect(taken).toEqual(['a', 'c']);
    expect(delivery?.lost()).toEqual({ entries: 1, lastEntry: 3 });
  });

  it('stops when the session has been assigned to another host', async () => {
    const ledger = openLedger();
    note(ledger, 'late');
    start(ledger, () => {
      throw new AppError('conflict', 'stale');
    });
    await delivery?.finish({ isStopping: false });
    expect(ledger.backlog.size()).toBe(1);
  });
});
