import { afterEach, describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import type { ControlLink } from './control-link.ts';
import { type LedgerDelivery, startLedgerDelivery } from './deliver-ledger.ts';
import { type Ledger, openLedger } from './ledger.ts';

let delivery: LedgerDelivery | undefined;
afterEach(() => delivery?.finish());

const note = (ledger: Ledger, operation: string) =>
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
  });

type Sent = { generation: number; entries: string[] };

/** Delivers a ledger's entries to `take`, which may throw. */
const start = (ledger: Ledger, take: (operations: string[]) => void): void => {
  const send = (async (_shape: unknown, { body }: { body: Sent }) => {
    take(body.entries.map((text) => JSON.parse(text).operation));
    return {};
  }) as unknown as ControlLink['send'];
  delivery = startLedgerDelivery(
    {
      link: { send, sendOnce: send },
      log: createLog('test', 'silent'),
      standing: { hostId: 'hst-1', generation: 1 },
    },
    { id: 'ses-1', ledger },
  );
};

describe('delivering a ledger', () => {
  it('gives what there is while the session lives, and the rest when it ends', async () => {
    const ledger = openLedger();
    const taken: string[][] = [];
    note(ledger, 'one');
    start(ledger, (operations) => taken.push(operations));
    await until(() => taken[0], { timeoutMs: 1_000, what: 'the first delivery' });
    for (let n = 0; n < 700; n += 1) note(ledger, `later ${n}`);
    ledger.close();
    await delivery?.finish();
    expect(taken.map((operations) => operations.length)).toEqual([1, 500, 200]);
    expect(taken.flat().at(-1)).toBe('later 699');
  });

  it('leaves out the one entry that is refused', async () => {
    const ledger = openLedger();
    const taken: string[] = [];
    for (const operation of ['a', 'bad', 'c']) note(ledger, operation);
    start(ledger, (operations) => {
      if (operations.includes('bad')) throw new AppError('invalid', 'not this one');
      taken.push(...operations);
    });
    await delivery?.finish();
    expect(taken).toEqual(['a', 'c']);
  });

  it('gives up when the session is another host’s', async () => {
    const ledger = openLedger();
    note(ledger, 'late');
    start(ledger, () => {
      throw new AppError('conflict', 'stale');
    });
    await delivery?.finish();
    expect(ledger.backlog.size()).toBe(1);
  });
});
