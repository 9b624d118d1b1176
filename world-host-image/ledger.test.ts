import { describe, expect, it } from 'vitest';
import { type LedgerNote, openLedger } from './ledger.ts';

const note = (parts: Partial<LedgerNote> = {}): LedgerNote => ({
  at: '2026-01-01T00:00:00.000Z',
  via: 'api',
  operation: 'get_issue',
  method: 'GET',
  path: '/issues/1',
  status: 200,
  request: null,
  response: null,
  duration_ms: 1.5,
  changes: {},
  call_id: null,
  ...parts,
});

const read = (ledger: ReturnType<typeof openLedger>) =>
  ledger.query('svc_requests').map((text) => JSON.parse(text));

describe('request ledger', () => {
  it('is read like an entity', () => {
    const ledger = openLedger();
    ledger.note(note());
    ledger.note(note({ via: 'tool', operation: 'list_issues', status: null }));
    const where = [{ path: ['via'], match: 'equals' as const, value: 'tool' }];
    expect(ledger.count('svc_requests', where)).toBe(1);
    expect(read(ledger).map(({ id }) => id)).toEqual([1, 2]);
    ledger.clear();
    expect(read(ledger)).toEqual([]);
  });

  it('hides secrets by the names of their fields', () => {
    const ledger = openLedger();
    const request = {
      headers: { authorization: 'Bearer abc', 'x-api-key': 'abc', accept: '*/*' },
      body: [{ access_token: 'abc', clientSecret: 'abc', tokens: 5, note: 'tokenless' }],
    };
    ledger.note(note({ request, response: { password: '' } }));
    expect(read(ledger)[0]).toMatchObject({
      request: {
        headers: { authorization: 'Bearer ***', 'x-api-key': '***', accept: '*/*' },
        body: [{ access_token: '***', clientSecret: '***', tokens: 5, note: 'tokenless' }],
      },
      response: { password: '' },
    });
  });

  it('keeps the newest within its limits', () => {
    const ledger = openLedger({ entries: 3, bytes: 10_000, valueBytes: 100 });
    for (let round = 0; round < 5; round += 1) ledger.note(note());
    expect(read(ledger).map(({ id }) => id)).toEqual([3, 4, 5]);
    ledger.note(note({ response: 'x'.repeat(5_000) }));
    expect(read(ledger).at(-1).response).toMatchObject({ truncated: true, bytes: 5_002 });
    const small = openLedger({ entries: 100, bytes: 1_000, valueBytes: 100 });
    for (let round = 0; round < 50; round += 1) small.note(note());
    expect(read(small).length).toBeLessThan(6);
  });
});
