/**
 * Declared faults as clients of the API observe them: the requests that they apply to, the answers, and the ledger's
 * entries. The requests go to a host's own server.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { ServeOptions } from '#test/support/host/serve-world.ts';
import {
  type ApiClient,
  type ApiWorld,
  notesUpTo,
  operation,
  serveApi,
} from '#test/support/worlds/api-world.ts';

let api: ApiClient;
afterEach(() => api.stop());

const limit = `[[api.rate_limits]]
name = "core"
limit = 5000
seconds = 3600
uncounted = ["/free"]
[api.rate_limits.headers]
X-Limit = "limit"
X-Left = "remaining"
X-Used = "used"
`;

const serve = async (faults: string, world: Partial<ApiWorld> = {}, options?: ServeOptions) => {
  api = await serveApi(
    {
      operations: [
        operation('GET', '/notes', '', { name: 'list_notes' }),
        operation('POST', '/notes', 'action = "create"', { name: 'create_note' }),
        operation('GET', '/free', '', { name: 'free' }),
      ].join(''),
      tools: {
        list_notes: { input: { type: 'object' }, output: true },
        create_notes: { input: { type: 'object' }, output: true },
      },
      notes: notesUpTo(2),
      ...world,
      api: `${limit}\n${faults}`,
    },
    options,
  );
};

const rule = (lines: string): string => `[[api.faults.rules]]\n${lines}\n`;

const statuses = async (count: number, path = '/notes'): Promise<number[]> => {
  const seen: number[] = [];
  for (let index = 0; index < count; index += 1) seen.push((await api.get(path)).status);
  return seen;
};

/** Sends a request. Returns its status, or the error code if the connection broke. */
const ending = async (method: string, path: string, body?: Row): Promise<number | string> => {
  try {
    return (await api.ask(method, path, { body })).status;
  } catch (error) {
    return ((error as Error).cause as { code: string }).code;
  }
};

describe('a declared error status', () => {
  it('is answered at the nth request, with its body and headers, and the request is not executed', async () => {
    await serve(
      rule(`name = "flaky"
routes = ["create_note"]
nth = 2
times = 2
status = 503
body = '{"message":"later"}'
headers = { Retry-After = "1" }`),
    );
    const asked: unknown[] = [];
    for (const id of [3, 4, 5, 6]) {
      const { status, json, headers } = await api.ask('POST', '/notes', {
        body: { id, title: 'x' },
      });
      asked.push([status, status === 503 ? json : null, headers.get('retry-after')]);
    }
    const refused = [503, { message: 'later' }, '1'];
    expect(asked).toEqual([[201, null, null], refused, refused, [201, null, null]]);
    expect(api.rows('notes', {}).map(({ id }) => id)).toEqual([1, 2, 3, 6]);
    const [made, failed] = await api.requests();
    expect(made?.response).not.toHaveProperty('faults');
    expect(failed).toMatchObject({
      operation: 'create_note',
      status: 503,
      changes: {},
      rows: [],
      request: { body: { id: 4, title: 'x' } },
      response: {
        faults: [{ name: 'flaky', kind: 'status', status: 503 }],
        body: { message: 'later' },
        reason: 'a declared fault: flaky',
      },
    });
  });

  it('does not apply to other routes, unauthenticated requests and unknown paths', async () => {
    await serve(rule('name = "down"\nroutes = ["/notes"]\nstatus = 503'));
    expect(await statuses(1)).toEqual([503]);
    expect(await statuses(1, '/free')).toEqual([200]);
    expect(await statuses(1, '/nowhere')).toEqual([404]);
    expect((await fetch(`${api.url}/notes`)).status).toBe(401);
  });

  it('occurs by a chance that the seed determines: the same after a reset, different for another seed', async () => {
    const lines = rule('name = "dice"\nstatus = 500\nchance = 0.3');
    await serve(lines, {}, { seed: 7 });
    const first = await statuses(60);
    expect(first.filter((status) => status === 500).length).toBeGreaterThan(5);
    expect(first.filter((status) => status === 500).length).toBeLessThan(35);
    await api.reset();
    expect(await statuses(60)).toEqual(first);
    await api.stop();
    await serve(lines, {}, { seed: 8 });
    expect(await statuses(60)).not.toEqual(first);
  });

  it('does not change the identifiers that a seed draws', async () => {
    await serve(rule('name = "never"\nstatus = 500\nchance = 0'), {}, { seed: 7 });
    await statuses(3);
    const drawn = api.session.ids.uuid();
    await api.reset();
    await api.call('faults', undefined, { rules: [] });
    await statuses(3);
    expect(api.session.ids.uuid()).toBe(drawn);
  });
});

describe('a rate limit in force', () => {
  const clock = { at: '2026-03-01T09:00:00.000Z', mode: 'stepped', rate: 10 } as const;

  it('refuses requests above the limit until its window ends, and counts them in headers', async () => {
    await serve(
      rule('name = "tight"\nrate_limit = "core"\nlimit = 2\nseconds = 60\nstatus = 403'),
      {},
      { clock },
    );
    const counts: unknown[] = [];
    for (let index = 0; index < 7; index += 1) {
      const { status, headers } = await api.get('/notes');
      counts.push([
        status,
        headers.get('x-limit'),
        headers.get('x-left'),
        headers.get('retry-after'),
      ]);
    }
    // Each request, also a rejected one, advances the clock by 10 s.
    expect(counts).toEqual([
      [200, '2', '1', null],
      [200, '2', '0', null],
      [403, '2', '0', '40'],
      [403, '2', '0', '30'],
      [403, '2', '0', '20'],
      [403, '2', '0', '10'],
      [200, '2', '1', null],
    ]);
    expect((await api.requests())[2]?.response).toMatchObject({
      faults: [{ name: 'tight', kind: 'rate_limit', limit: 'core', status: 403 }],
    });
  });

  it('does not refuse routes that it does not count, and reports the remaining requests', async () => {
    await serve(rule('name = "tight"\nrate_limit = "core"\nlimit = 1'));
    await statuses(2);
    const { status, headers } = await api.get('/free');
    expect([status, headers.get('x-left'), headers.get('x-used')]).toEqual([200, '0', '1']);
  });
});

describe('a connection that a fault drops', () => {
  it('is closed either before or after the request is executed', async () => {
    await serve(
      rule('name = "lost"\nnth = 1\ndrop = "before"\nroutes = ["create_note"]') +
        rule('name = "unheard"\nnth = 2\ndrop = "after"\nroutes = ["create_note"]'),
    );
    expect(await ending('POST', '/notes', { id: 3, title: 'x' })).toBe('UND_ERR_SOCKET');
    expect(api.rows('notes', { id: 3 })).toEqual([]);
    expect(await ending('POST', '/notes', { id: 3, title: 'x' })).toBe('UND_ERR_SOCKET');
    expect(api.rows('notes', { id: 3 })).toHaveLength(1);
    expect(await ending('GET', '/notes')).toBe(200);
    expect(await api.requests()).toMatchObject([
      { status: null, changes: {}, response: { faults: [{ name: 'lost', at: 'before' }] } },
      {
        status: null,
        changes: { notes: { inserted: 1 } },
        response: { faults: [{ name: 'unheard', at: 'after' }], body: { id: 3 } },
      },
      { status: 200 },
    ]);
  });
});

describe('latency', () => {
  it('delays the answer but not the request’s execution, and other requests are served meanwhile', async () => {
    await serve(rule('name = "slow"\nroutes = ["create_note"]\nlatency_ms = 400'));
    const order: string[] = [];
    const slow = api
      .ask('POST', '/notes', { body: { id: 3, title: 'x' } })
      .then(({ status }) => order.push(`slow ${status}`));
    while (api.rows('notes', { id: 3 }).length === 0) await api.get('/free');
    order.push('quick');
    await slow;
    expect(order).toEqual(['quick', 'slow 201']);
    const noted = (await api.requests()).find(({ operation: name }) => name === 'create_note');
    expect(noted).toMatchObject({
      status: 201,
      response: { faults: [{ name: 'slow', kind: 'latency', ms: 400 }] },
    });
  });
});
