/** Tests requests to sessions: reported by the hosts, stored beyond the end of the sessions, within limits. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import {
  closeSession,
  listSessionRequests,
  listWorldRequests,
  openSession,
} from '#wire/public-api/operations.ts';
import type { StartedControl } from '../../support/control/control.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { startNotesControl } from '../../support/control/own-control.ts';

let control: StartedControl;
let host: PlayedHost;
let sessionId: string;

beforeAll(async () => {
  control = await startNotesControl();
});
afterAll(() => control.stop());

/** Opens a session on a host of its own. */
const openOn = async (): Promise<[PlayedHost, string]> => {
  const own = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  await own.poll();
  await own.ready();
  return [own, body.id];
};

beforeEach(async () => {
  [host, sessionId] = await openOn();
});
afterEach(async () => {
  await control.sql('delete from requests');
  await clearPool(control);
});

const entry = (id: number, parts: Record<string, unknown> = {}) => ({
  id,
  at: new Date(Date.UTC(2026, 0, 1) + id * 1_000).toISOString(),
  via: 'api',
  operation: 'list_notes',
  method: 'GET',
  path: '/notes',
  status: 200,
  request: { query: {}, headers: {}, body: null },
  response: { body: [], reason: null },
  duration_ms: 1.25,
  changes: {},
  rows: [],
  call_id: null,
  ...parts,
});

const ofSession = async (query = {}, id = sessionId) =>
  (await control.read(listSessionRequests, { params: { sessionId: id }, query })).body;

const ofWorld = async (query = {}) =>
  (await control.read(listWorldRequests, { params: { slug: 'notes' }, query })).body;

const close = async (own = host, id = sessionId): Promise<void> => {
  await control.send(closeSession, { params: { sessionId: id }, body: {} });
  await own.calls();
  await own.closed();
};

describe('the requests of a session', () => {
  it('can be read during and after the session, as its host reported them', async () => {
    const changed = {
      via: 'tool',
      operation: 'create_notes',
      method: null,
      path: null,
      status: null,
      request: { title: 'a\u0000b\ud800', __proto__x: 1 },
      changes: { notes: { inserted: 1, updated: 0, deleted: 0 } },
      rows: [{ entity: 'notes', key: { id: 9 }, kind: 'inserted' }],
      call_id: 'call-1',
    };
    await host.requests([entry(1), entry(2, changed)]);
    const live = await ofSession();
    await close();
    const { data, meta } = await ofSession();
    expect(data).toEqual(live.data);
    expect(meta).toEqual({ page: 1, limit: 50, totalItems: 2, totalPages: 1, dropped: 0 });
    const { duration_ms: durationMs, call_id: callId, ...rest } = entry(2, changed);
    expect(data[1]).toEqual({ sessionId, durationMs, callId, ...rest });
  });

  it('may be reported after the session has ended, and more than once', async () => {
    await host.requests([entry(1)]);
    const { generation } = host;
    await close();
    host.generation = generation;
    await host.requests([entry(1, { operation: 'other' }), entry(2)]);
    expect((await ofSession()).data.map(({ operation }) => operation)).toEqual([
      'list_notes',
      'list_notes',
    ]);
  });

  it('can be filtered by channel, operation, status and position', async () => {
    await host.requests([
      entry(1),
      entry(2, { status: 404 }),
      entry(3, { via: 'tool', operation: 'create_notes', status: null }),
      entry(4, { via: 'webhook', operation: 'note.created', status: null }),
    ]);
    const ids = async (query: object) => (await ofSession(query)).data.map(({ id }) => id);
    expect(await ids({ via: 'api' })).toEqual([1, 2]);
    expect(await ids({ via: 'api', status: 404 })).toEqual([2]);
    expect(await ids({ status: 0 })).toEqual([3, 4]);
    expect(await ids({ via: 'webhook', status: 0 })).toEqual([4]);
    expect(await ids({ operation: 'note.created' })).toEqual([4]);
    expect(await ids({ after: 2 })).toEqual([3, 4]);
    expect(await ids({ page: 2, limit: 3 })).toEqual([4]);
    expect((await ofSession({ page: 9, limit: 3 })).meta).toMatchObject({ totalItems: 4 });
    for (const query of [{ via: 'post' }, { status: 'ok' }, { after: -1 }, { color: 'red' }]) {
      await expect(ofSession(query)).rejects.toMatchObject({ code: 'invalid' });
    }
    await expect(ofSession({}, 'ses-none')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are limited to the newest ones', async () => {
    const perBatch = limits.ledgerBatchEntries;
    for (let first = 1; first <= limits.sessionRequests + 1; first += perBatch) {
      await host.requests(Array.from({ length: perBatch }, (_, n) => entry(first + n)));
    }
    const { data, meta } = await ofSession({ limit: 1 });
    expect(meta.totalItems).toBe(limits.sessionRequests);
    expect(meta.dropped).toBe(perBatch);
    expect(data[0]?.id).toBe(perBatch + 1);
    const large = { request: { body: 'x'.repeat(900_000) } };
    for (let id = 6_000; id < 6_024; id += 1) await host.requests([entry(id, large)]);
    const kept = (await ofSession()).meta.totalItems;
    expect(kept).toBe(Math.floor(limits.sessionRequestBytes / 900_200));
  });

  it('and webhook deliveries have separate limits, and dropped ones are counted', async () => {
    await host.requests([entry(1), entry(2)]);
    const sent = { via: 'webhook', status: null, request: { body: 'x'.repeat(900_000) } };
    for (let id = 3; id < 28; id += 1) await host.requests([entry(id, sent)]);
    expect((await ofSession()).meta).toMatchObject({ totalItems: 27, dropped: 0 });
    // Entries that a host could not report show as a gap in the ids.
    await host.requests([entry(31)]);
    expect((await ofSession()).meta).toMatchObject({ totalItems: 28, dropped: 3 });
    await control.sql(`update requests set bytes = $1::int where session_id = $2 and id = 20`, [
      limits.sessionDeliveryBytes,
      sessionId,
    ]);
    await host.requests([entry(32, sent)]);
    expect((await ofSession()).data.map(({ id }) => id)).toEqual([
      ...[1, 2, 21, 22, 23, 24, 25, 26, 27, 31, 32],
    ]);
    expect((await ofSession()).meta.dropped).toBe(21);
    const [noted] = await control.sql(
      'select dropped_entries, dropped_at is not null as noted from ledgers where session_id = $1',
      [sessionId],
    );
    expect(noted).toEqual({ dropped_entries: 18, noted: true });
  });
});

describe('the requests of a world', () => {
  it('are those of all its sessions, newest first', async () => {
    const [other, otherId] = await openOn();
    await host.requests([entry(1), entry(3), entry(5, { via: 'tool' })]);
    await other.requests([entry(2), entry(4)]);
    await close(other, otherId);
    const { data, meta } = await ofWorld();
    expect(data.map(({ id }) => id)).toEqual([5, 4, 3, 2, 1]);
    expect(data.map((request) => request.sessionId)).toEqual(
      [5, 4, 3, 2, 1].map((id) => (id % 2 === 0 ? otherId : sessionId)),
    );
    expect(meta.totalItems).toBe(5);
    expect((await ofWorld({ via: 'tool' })).data).toHaveLength(1);
    const after = { after: '2026-01-01T00:00:03Z' };
    expect((await ofWorld(after)).data.map(({ id }) => id)).toEqual([5, 4]);
    expect((await ofWorld({ after: '2026-01-02' })).data).toEqual([]);
    await expect(ofWorld({ after: 'yesterday' })).rejects.toMatchObject({
      fields: [{ path: ['after'], message: expect.stringContaining('2026-03-01') }],
    });
  });

  it('are each returned exactly once to a client that follows the cursor while more requests are added', async () => {
    await host.requests([1, 2, 3, 4, 5].map((id) => entry(id)));
    const walk = async (list: (query: object) => Promise<Awaited<ReturnType<typeof ofWorld>>>) => {
      const ids: number[] = [];
      const pages: number[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const { data, meta } = await list({ limit: 2, ...(cursor === '' ? {} : { cursor }) });
        ids.push(...data.map(({ id }) => id));
        pages.push(meta.page);
        cursor = meta.nextCursor;
        await host.requests([entry(5 + pages.length)]);
      }
      return { ids, pages };
    };
    expect(await walk(ofWorld)).toEqual({ ids: [5, 4, 3, 2, 1], pages: [1, 2, 3] });
    // Here new entries come last, so the walk returns them, too, and ends at the newest.
    expect(await walk((query) => ofSession({ ...query, via: 'api' }))).toMatchObject({
      ids: [1, 2, 3, 4, 5, 6, 7, 8],
      pages: [1, 2, 3, 4],
    });
    const { meta } = await ofWorld({ limit: 2, via: 'tool' });
    expect(meta).toEqual({ page: 1, limit: 2, totalItems: 0, totalPages: 0 });
  });

  it('are refused for an invalid cursor and for page numbers that are too large', async () => {
    const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const wrong = ['x', '{}', cursorOf({}), cursorOf([2]), cursorOf([2, 'x', 'ses', 1])];
    for (const cursor of [...wrong, cursorOf([2, 9e15, 'ses', 1]), cursorOf([2, 0, 'a\0', 1])]) {
      const fields = [{ path: ['cursor'] }];
      await expect(ofWorld({ cursor })).rejects.toMatchObject({ code: 'invalid', fields });
    }
    const cursor = cursorOf([2, 0, 'ses', 1]);
    await expect(ofWorld({ cursor, page: 2 })).rejects.toMatchObject({ code: 'invalid' });
    expect((await ofWorld({ cursor })).data).toEqual([]);
    await expect(ofWorld({ page: 1_000_000, limit: 100 })).rejects.toMatchObject({
      fields: [{ path: ['page'], message: expect.stringContaining('meta.nextCursor') }],
    });
  });

  it('are counted up to a limit, and a larger total is marked as a lower bound', async () => {
    await control.sql(
      `insert into requests (session_id, world_id, id, at, via, operation, duration_ms, request, response, changes, rows, bytes)
       select s.id, s.world_id, n, now(), case when n = 7 then 'tool' else 'api' end, 'many', 1, '0', '0', '{}', '[]', 4
         from sessions s cross join generate_series(1, $2::int) n where s.id = $1`,
      [sessionId, limits.countedItems + 1],
    );
    expect((await ofWorld()).meta).toMatchObject({
      totalItems: limits.countedItems,
      totalPages: limits.countedItems / 50,
      totalItemsIsLowerBound: true,
      nextCursor: expect.any(String),
    });
    const { data, meta } = await ofWorld({ via: 'tool' });
    expect([data.length, meta]).toEqual([1, { page: 1, limit: 50, totalItems: 1, totalPages: 1 }]);
    expect((await ofWorld({ page: limits.countedItems / 50 + 1 })).data).toHaveLength(1);
  });

  it('are refused for a world that the project does not have', async () => {
    const params = { slug: 'other' };
    const asked = control.read(listWorldRequests, { params, query: {} });
    await expect(asked).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a report of requests', () => {
  it('is refused from a host that does not serve the session', async () => {
    const [other] = await openOn();
    const own = { ...host, assignment: host.assignment };
    other.assignment = own.assignment;
    await expect(other.requests([entry(1)])).rejects.toMatchObject({ code: 'conflict' });
    host.generation -= 1;
    await expect(host.requests([entry(1)])).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is refused as a whole when one entry is invalid', async () => {
    const broken: [unknown, string][] = [
      ['{', 'is no entry'],
      ['null', 'is no entry'],
      [entry(0), 'is no entry'],
      [entry(2, { at: 'now' }), 'is no entry'],
      [entry(2, { at: '2026-13-45T00:00:00.000Z' }), 'is no entry'],
      [entry(2, { via: 'mail' }), 'is no entry'],
      [entry(2, { rows: [{ entity: 'notes' }] }), 'is no entry'],
      [`{"id": 2, "request": ${'['.repeat(300)}${']'.repeat(300)}}`, 'nests deeper'],
    ];
    for (const [text, message] of broken) {
      await expect(host.requests([entry(1), text])).rejects.toMatchObject({
        code: 'invalid',
        fields: [{ path: ['entries', '1'], message: expect.stringContaining(message) }],
      });
    }
    await expect(host.requests([])).rejects.toMatchObject({ code: 'invalid' });
    expect((await ofSession()).data).toEqual([]);
    const hostile = JSON.stringify(entry(1)).replace('"query":{}', '"__proto__":{"a":1}');
    await host.requests([hostile]);
    expect(JSON.stringify((await ofSession()).data)).toContain('"__proto__":{"a":1}');
  });
});
