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

describe('the request ledger', () => {
  it('can be read like an entity', () => {
    const ledger = openLedger();
    ledger.note(note());
    ledger.note(note({ via: 'tool', operation: 'list_issues', status: null }));
    const where = [{ path: ['via'], match: 'equals' as const, value: 'tool' }];
    expect(ledger.count('svc_requests', where)).toBe(1);
    expect(read(ledger).map(({ id }) => id)).toEqual([1, 2]);
    ledger.clear(note({ via: 'session', operation: 'reset' }));
    expect(read(ledger)).toEqual([]);
    ledger.note(note());
    expect(read(ledger).map(({ id }) => id)).toEqual([4]);
    const operations = ledger.backlog.first({ entries: 9, chars: 10_000 }).map(({ id, json }) => {
      const entry = JSON.parse(json);
      expect(entry.id).toBe(id);
      return entry.operation;
    });
    expect(operations).toEqual(['get_issue', 'list_issues', 'reset', 'get_issue']);
  });

  it('masks secrets by the names of their fields', () => {
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

  it('lists the changed rows of a call, up to its limits', () => {
    const ledger = openLedger();
    const change = 'updated' as const;
    const rows = Array.from({ length: 500 }, (_, id) => ({
      entity: 'issues',
      key: { id },
      change,
    }));
    const long = { entity: 'files', key: { path: 'x'.repeat(2_000) }, change };
    ledger.note(note({ rows: [long, ...rows], path: `/${'x'.repeat(10_000)}` }));
    const [entry] = read(ledger);
    expect(entry.rows).toHaveLength(100);
    expect(entry.rows.slice(0, 2)).toEqual([
      { entity: 'files', key: null, kind: 'updated' },
      { entity: 'issues', key: { id: 0 }, kind: 'updated' },
    ]);
    expect(entry.path).toHaveLength(2_048);
    const filter = (path: string[], value: unknown) => ({ path, match: 'equals' as const, value });
    expect(ledger.count('svc_requests', [filter(['rows', '1', 'entity'], 'issues')])).toBe(1);
  });

  it('can be filtered by fields inside requests and answers', () => {
    const ledger = openLedger();
    for (let id = 1; id <= 200; id += 1) {
      ledger.note(note({ request: { body: { issue: { id } } }, response: { body: [id % 2] } }));
    }
    const filter = (path: string[], value: unknown) => ({ path, match: 'equals' as const, value });
    const where = [filter(['request', 'body', 'issue', 'id'], [7, 8, 900])];
    expect(ledger.query('svc_requests', { where, limit: 1, offset: 1 })).toHaveLength(1);
    expect(ledger.count('svc_requests', where)).toBe(2);
  });

  it('drops the oldest entries when it exceeds its limits', () => {
    const ledger = openLedger({ limits: { entries: 3, bytes: 10_000, valueChars: 100 } });
    for (let round = 0; round < 5; round += 1) ledger.note(note());
    expect(read(ledger).map(({ id }) => id)).toEqual([3, 4, 5]);
    ledger.note(note({ response: 'x'.repeat(5_000) }));
    expect(read(ledger).at(-1).response).toEqual({
      truncated: true,
      start: `"${'x'.repeat(49)}`,
    });
    const small = openLedger({ limits: { entries: 100, bytes: 1_000, valueChars: 100 } });
    for (let round = 0; round < 50; round += 1) small.note(note());
    expect(read(small).length).toBeLessThan(6);
  });
});
