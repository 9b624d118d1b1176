/** Call `faults`, and faults of tools: which faults apply and for how long, and the errors for invalid inputs. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

const limit = `[[api.rate_limits]]
name = "core"
limit = 10
seconds = 60
[api.rate_limits.headers]
X-Left = "remaining"

[[api.faults.rules]]
name = "declared"
nth = 1
status = 503
`;

const api = await serveApi({
  api: limit,
  operations: [
    operation('GET', '/notes', '', { name: 'find_notes' }),
    operation('POST', '/notes', 'action = "create"', { name: 'create_note' }),
  ].join(''),
  notes: notesUpTo(2),
  tools: {
    find_notes: { input: { type: 'object' }, output: true },
    create_notes: { input: { type: 'object' }, output: true },
    list_notes: { input: { type: 'object' }, output: true },
  },
});
beforeEach(() => api.reset());
afterAll(() => api.stop());

const set = (input: Row) => api.call('faults', undefined, input);
const status = async (): Promise<number> => (await api.get('/notes')).status;
const down = { name: 'down', status: 500 };

describe('a `faults` call', () => {
  it('lists the faults in force, each with the number of requests that it applied to', async () => {
    await status();
    await status();
    expect(await set({})).toEqual({
      output: {
        declared: true,
        faults: {
          tools: false,
          rules: [{ name: 'declared', nth: 1, times: 1, status: 503, body: '', headers: {} }],
        },
        met: [{ name: 'declared', requests: 2, met: 1 }],
      },
      changes: {},
    });
  });

  it('replaces the faults until the next reset, which restores the declared ones', async () => {
    expect((await set({ rules: [down] })).error).toBeUndefined();
    expect([await status(), await status()]).toEqual([500, 500]);
    await api.reset();
    expect([await status(), await status()]).toEqual([503, 200]);
  });

  it('turns all faults off, and restores the declared ones with fresh counts', async () => {
    await set({ rules: [] });
    expect([await status(), await status()]).toEqual([200, 200]);
    await set({ declared: true });
    expect([await status(), await status()]).toEqual([503, 200]);
  });

  it('accepts as input the list of faults that it returned', async () => {
    const rules = [
      { ...down, routes: ['find_notes'], chance: 0.5, body: '{"a":1}', headers: { 'x-why': 'b' } },
      { name: 'slow', latency_ms: 5 },
      { name: 'cut', nth: 2, times: 3, drop: 'after' },
      { name: 'tight', rate_limit: 'core', limit: 3, seconds: 10, retry_after: false, status: 403 },
    ];
    const { output } = await set({ tools: true, rules });
    const { faults } = output as { faults: Row };
    expect((await set(faults)).output).toEqual(output);
    expect(faults).toMatchObject({ tools: true, rules });
  });

  it('is recorded in the ledger if it sets faults, not if it reads them, and changes no rows', async () => {
    await set({});
    await set({ rules: [down] });
    expect(await api.requests()).toMatchObject([
      { via: 'session', operation: 'faults', request: { rules: [down] }, changes: {} },
    ]);
  });

  it.each<[string, Row, string, RegExp]>([
    [
      'an unknown route',
      { rules: [{ ...down, routes: ['find_note'] }] },
      '/rules/0/routes/0',
      /find_notes/,
    ],
    [
      'a status of success',
      { rules: [{ name: 'x', status: 200 }] },
      '/rules/0/status',
      /400 to 599/,
    ],
    [
      'latency beyond a minute',
      { rules: [{ name: 'x', latency_ms: 60_001 }] },
      '/rules/0/latency_ms',
      /60000/,
    ],
    ['a chance beyond 1', { rules: [{ ...down, chance: 2 }] }, '/rules/0/chance', /0 to 1/],
    ['a request with the number 0', { rules: [{ ...down, nth: 0 }] }, '/rules/0/nth', /from 1/],
    ['nth and chance', { rules: [{ ...down, nth: 1, chance: 0 }] }, '/rules/0/chance', /not both/],
    [
      'an unknown limit',
      { rules: [{ name: 'x', rate_limit: 'cor' }] },
      '/rules/0/rate_limit',
      /core/,
    ],
    ['a rule without a name', { rules: [{ status: 500 }] }, '/rules/0/name', /missing/],
    ['a rule that does nothing', { rules: [{ name: 'x' }] }, '/rules/0', /no effect/],
    ['rules that are no list', { rules: {} }, '/rules', /list/],
    ['a misspelt member', { rule: [] }, '/rule', /rules/],
    [
      'the member "declared" together with rules',
      { declared: true, rules: [] },
      '/rules',
      /not a member of the input/,
    ],
    ['a member "declared" that is not true', { declared: false }, '/declared', /true/],
    [
      'more headers than a client takes',
      {
        rules: [
          {
            ...down,
            headers: Object.fromEntries(
              Array.from({ length: 21 }, (_, index) => [`x-${index}`, '1']),
            ),
          },
        ],
      },
      '/rules/0/headers',
      /21/,
    ],
    [
      'more rules than there may be',
      { rules: Array.from({ length: 101 }, (_, index) => ({ ...down, name: `r${index}` })) },
      '/rules',
      /101/,
    ],
  ])('refuses %s, and does not change the faults in force', async (_, input, path, words) => {
    const { error } = await set(input);
    expect(error).toMatchObject({ code: 'invalid_input', path });
    expect(error?.message).toMatch(words);
    expect([await status(), await status()]).toEqual([503, 200]);
  });
});

describe('a tool', () => {
  const call = (name: string, input: Row = {}) => api.call('tool', name, input);

  it('is not affected by faults unless they apply to tools', async () => {
    await set({ rules: [down] });
    expect((await call('find_notes')).error).toBeUndefined();
    expect(await status()).toBe(500);
  });

  it('is affected by the faults of its route if it is bound to an operation', async () => {
    const rules = [
      { name: 'busy', routes: ['/notes'], nth: 2, status: 503, body: '{"message":"busy"}' },
    ];
    await set({ tools: true, rules });
    expect(await status()).toBe(200);
    expect((await call('find_notes')).error).toEqual({
      code: 'refused',
      message: 'find_notes answered 503: {"message":"busy"}',
      details: { status: 503, body: { message: 'busy' } },
    });
    expect((await call('list_notes')).error).toBeUndefined();
    const noted = (await api.requests()).find(({ via }) => via === 'tool');
    expect(noted).toMatchObject({
      operation: 'find_notes',
      response: {
        faults: [{ name: 'busy', kind: 'status', status: 503 }],
        error: { code: 'refused' },
      },
    });
  });

  it('is affected by rules without routes if it is not bound to an operation, and changes nothing if it is dropped', async () => {
    await set({ tools: true, rules: [{ name: 'lost', nth: 1, drop: 'after' }] });
    const note = { id: 3, title: 'x' };
    expect((await call('create_notes', note)).error).toMatchObject({ code: 'unavailable' });
    expect(api.rows('notes', { id: 3 })).toEqual([]);
    expect((await call('create_notes', note)).error).toBeUndefined();
  });

  it('answers late if a fault has latency, and the ledger records the delay', async () => {
    await set({ tools: true, rules: [{ name: 'slow', latency_ms: 20 }] });
    expect((await call('list_notes')).output).toHaveLength(2);
    expect((await api.requests()).at(-1)?.response).toMatchObject({
      faults: [{ name: 'slow', kind: 'latency', ms: 20 }],
      output: [{ id: 1 }, { id: 2 }],
    });
  });
});
