/**
 * Tests webhook push: its setting, its destinations, and how deliveries are queued, claimed once, and ended with a
 * reason.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import {
  closeSession,
  listDestinations,
  openSession,
  removeDestination,
  setDestination,
  updateSettings,
} from '#wire/public-api/operations.ts';
import {
  claimPushes,
  type Push,
  type PushReport,
  reportPushes,
} from '#wire/sender-api/operations.ts';
import {
  openDatabase,
  type Queryable,
  statement,
  tracePool,
} from '../../../src/control/db/core/database.ts';
import { promoteStatement } from '../../../src/control/db/sessions/pushes.ts';
import { trimStatement } from '../../../src/control/db/sessions/requests.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { projectIdOf, readPush, setPush } from '../../support/control/settings.ts';
import { explainReads, rowsLookedAt } from '../../support/database/plans.ts';
import { clearPushes, deliveryEntry, readAnswers, tellOf } from '../../support/webhooks/pushing.ts';

let control: OwnControl;
let host: PlayedHost;
let sessionId: string;

beforeAll(async () => {
  control = await startNotesControl();
});
afterAll(() => control.stop());

const openOn = async (): Promise<[PlayedHost, string]> => {
  const own = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  await own.poll();
  await own.ready();
  return [own, body.id];
};

const turn = (webhookPush: boolean) => setPush(control, webhookPush);

beforeEach(async () => {
  [host, sessionId] = await openOn();
});
afterEach(async () => {
  await clearPushes(control);
  await control.sql('delete from requests');
  await clearPool(control);
});

const own = 'snd-0123456789abcdef';
const other = 'snd-fedcba9876543210';
const url = 'https://hooks.receiver.dev/a';
const elsewhere = 'https://other.receiver.dev/b';

const claim = async (name = own, most = 100): Promise<Push[]> =>
  (await control.sender(claimPushes, { body: { claim: name, most } })).body.pushes;
const claimed = async (name = own, most = 100) =>
  (await claim(name, most)).map(({ sequence }) => sequence);

const answered = (sequence: number, parts: Partial<PushReport> = {}): PushReport => ({
  ...{ sessionId, sequence, status: 200, failure: null, reason: null, durationMs: 12.5 },
  ...parts,
});
const report = async (reports: PushReport[], name = own): Promise<number> =>
  (await control.sender(reportPushes, { body: { claim: name, reports } })).body.recorded;

const send = (ids: readonly number[], to = url, parts = {}) =>
  tellOf(
    host,
    ids.map((id) => deliveryEntry(id, to, parts)),
  );

/** Rows of both tables that scans and index lookups returned so far in the transaction. */
const rowsRead = statement(
  'test_rows_read',
  `select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))::int as rows
     from pg_class where oid in ('requests'::regclass, 'pushes'::regclass)`,
);

/** Waits until the loop that expires deliveries has written this number of failures; returns their reasons. */
const reasons = (count: number) =>
  until(
    async () => {
      const answers = await readAnswers(control);
      return answers.length === count && answers.map(({ reason }) => reason);
    },
    { timeoutMs: 30_000, what: 'failures to be written down' },
  );

describe('the setting of webhook push', () => {
  it('is off by default, can be changed by an account, and not by keys of the project', async () => {
    const off = { webhookPush: false, webhookPushSince: null };
    expect(await readPush(control)).toEqual(off);
    const on = await turn(true);
    expect(on).toEqual({ webhookPush: true, webhookPushSince: expect.any(String) });
    expect(await turn(true)).toEqual(on);
    expect(await readPush(control)).toEqual(on);
    const input = {
      params: { projectId: await projectIdOf(control) },
      body: { webhookPush: false },
    };
    for (const send of [control.send, control.read]) {
      await expect(send(updateSettings, input)).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(await turn(false)).toEqual(off);
  });

  it('applies to deliveries that are reported after it is turned on, also those of running sessions', async () => {
    await send([1, 2]);
    expect(await claimed()).toEqual([]);
    await turn(true);
    expect(await claimed()).toEqual([]);
    await send([3]);
    expect(await claim()).toEqual([
      {
        ...{ sessionId, sequence: 3, url, body: '{"id":3}' },
        headers: { 'content-type': 'application/json', 'x-signature': 'of 3' },
      },
    ]);
  });

  it('stops the sending once it is turned off, and waiting deliveries record that', async () => {
    await turn(true);
    await send([1, 2]);
    expect(await claimed(own, 1)).toEqual([1]);
    await turn(false);
    expect(await claimed()).toEqual([]);
    expect(await reasons(1)).toEqual(['push was turned off before it was sent']);
    expect(await report([answered(1)])).toBe(1);
    expect(await readAnswers(control)).toMatchObject([{ status: 200 }, { status: 0 }]);
  });
});

describe('a delivery', () => {
  beforeEach(() => turn(true));

  it('is claimed by one sender, and only that sender can report its answer', async () => {
    await send([1], url);
    expect(await claimed()).toEqual([1]);
    expect(await claimed(other)).toEqual([]);
    expect(await report([answered(1)], other)).toBe(0);
    expect(await report([answered(1, { status: 204 })])).toBe(1);
    expect(await report([answered(1, { status: 500 })])).toBe(0);
    expect(await readAnswers(control)).toEqual([
      {
        ...{ session_id: sessionId, delivery_id: 1, status: 204, reason: null },
        ...{ sent_to: null, sender: 'push' },
      },
    ]);
    expect(await control.sql('select from pushes')).toEqual([]);
  });

  it('is not sent again when its host reports it again, even after its entry was dropped', async () => {
    await send([1]);
    await claim();
    await report([answered(1)]);
    await send([1]);
    expect(await claimed()).toEqual([]);
    await control.sql('delete from requests');
    await send([1, 2]);
    expect(await claimed()).toEqual([2]);
  });

  it('makes the next delivery of its subscription ready by reading only that row, whatever the queue length', async () => {
    await send([1], url, { subscription: { id: 1 } });
    await claim();
    const waiting = 5_000;
    await control.sql(`insert into requests select session_id, id + n, world_id, at, via, 'x.answer', method,
      path, status, duration_ms, request, response, changes, rows, call_id, bytes
      from requests, generate_series(1, ${waiting}) n`);
    await control.sql(`insert into pushes (session_id, delivery_id, project_id, line, receiver, bytes, state)
      select session_id, delivery_id + n, project_id, n % 10, receiver, bytes, 'waiting'
        from pushes, generate_series(1, ${waiting}) n`);
    await control.sql('analyze pushes');
    const db = openDatabase(control.config.databaseUrl, createLog('test', 'silent'));
    try {
      const values = [sessionId, ['3', '7']];
      const reads = await explainReads(db, promoteStatement, { table: 'pushes', values });
      expect(rowsLookedAt(reads)).toBeLessThanOrEqual(2 * 3);
      const ready = await control.sql<{ id: number }>(
        `select delivery_id as id from pushes where state = 'ready' order by 1`,
      );
      expect(ready).toEqual([{ id: 4 }, { id: 8 }]);
    } finally {
      await db.close();
    }
  });

  it('is skipped when the ledger is trimmed, at a cost linear in the queue length', async () => {
    const shape = { ...tracePool, connections: 1 };
    const db = openDatabase(control.config.databaseUrl, createLog('test', 'silent'), shape);
    const readBy = (work: (tx: Queryable) => Promise<unknown>): Promise<number> =>
      db.transaction(async (tx) => {
        await work(tx);
        const [row] = await tx.query<{ rows: number }>(rowsRead, []);
        return row?.rows ?? 0;
      });
    try {
      await send([1]);
      for (const table of ['requests', 'pushes']) await control.sql(`vacuum analyze ${table}`);
      // After five runs PostgreSQL may keep the plan of a prepared statement, made for the small table.
      for (let run = 0; run < 6; run += 1) await db.query(trimStatement, [sessionId]);
      const waiting = 1_000;
      await control.sql(`insert into requests select session_id, id + n, world_id, at, via, 'x.answer', method,
        path, status, duration_ms, request, response, changes, rows, call_id, bytes
        from requests, generate_series(1, ${waiting}) n`);
      await control.sql(`insert into pushes (session_id, delivery_id, project_id, line, receiver, bytes, state)
        select session_id, delivery_id + n, project_id, line, receiver, bytes, 'waiting'
          from pushes, generate_series(1, ${waiting}) n`);
      const rows = await readBy((tx) => tx.query(trimStatement, [sessionId]));
      expect(rows).toBeLessThan(10 * waiting);
    } finally {
      await db.close();
    }
  });

  it('waits for the previous delivery of the same subscription, and for no other delivery', async () => {
    await send([1, 2, 3], url, { subscription: { id: 1 } });
    await send([4, 5], url, { subscription: { id: 2 } });
    expect(await claimed()).toEqual([1, 4]);
    await report([answered(4, { status: 0, failure: 'timeout', reason: 'no answer' })]);
    expect(await claimed()).toEqual([5]);
    await report([answered(1)]);
    await send([6], url, { subscription: { id: 1 } });
    expect(await claimed()).toEqual([2]);
    await report([answered(2)]);
    await report([answered(5)]);
    expect(await claimed()).toEqual([3]);
    await report([answered(3)]);
    expect(await claimed()).toEqual([6]);
  });

  it('that its sender did not receive is handed out again as soon as the sender reports the loss', async () => {
    const claimIn = async (name: string, round: number, heard: number) => {
      const body = { claim: name, most: 100, round, heard };
      const { pushes } = (await control.sender(claimPushes, { body })).body;
      return pushes.map(({ sequence }) => sequence);
    };
    await send([1], url, { subscription: { id: 1 } });
    expect(await claimIn(own, 1, 0)).toEqual([1]);
    await send([2, 3], url, { subscription: { id: 2 } });
    expect(await claimIn(own, 2, 1)).toEqual([2]);
    // A claim of another sender in the same rounds stays its own, and a delivery that was received stays claimed.
    await send([4], url, { subscription: { id: 3 } });
    expect(await claimIn(other, 2, 1)).toEqual([4]);
    expect(await claimIn(own, 3, 1)).toEqual([2]);
    expect(await claimIn(own, 4, 3)).toEqual([]);
    expect(await report([answered(1), answered(2)])).toBe(2);
    expect(await claimIn(own, 5, 4)).toEqual([3]);
    expect(await report([answered(4)], other)).toBe(1);
    expect(await report([answered(3)])).toBe(1);
  });

  it('fails when its sender went silent, and is never sent again', async () => {
    await send([1, 2]);
    expect(await claimed()).toEqual([1]);
    await control.sql(
      `update pushes set claimed_at = now() - interval '61 seconds' where claim is not null`,
    );
    expect(await reasons(1)).toEqual(['sender ended before the answer was known']);
    expect(await report([answered(1)])).toBe(0);
    expect(await claimed(other)).toEqual([2]);
  });

  it('fails when it waited too long', async () => {
    await send([1, 2]);
    await control.sql(`update pushes set queued_at = now() - interval '16 minutes'`);
    expect(await reasons(2)).toEqual(Array(2).fill('it waited for more than 15 minutes'));
    expect(await claimed()).toEqual([]);
  });

  it('that is not a valid request fails with the reason', async () => {
    await send([1], url, { headers: { 'x\n': 'a' } });
    await send([2], url);
    expect(await claimed()).toEqual([]);
    expect(await reasons(1)).toEqual([expect.stringContaining('not valid in HTTP')]);
    expect(await claimed()).toEqual([2]);
  });

  it('is sent after its session has ended', async () => {
    await send([1]);
    await control.send(closeSession, { params: { sessionId }, body: {} });
    await host.calls();
    await host.closed();
    expect(await claimed()).toEqual([1]);
    expect(await report([answered(1)])).toBe(1);
  });

  it('is not dropped from the ledger before it is sent', async () => {
    await send([1], url, { body: 'x'.repeat(1_000) });
    await control.sql(`insert into requests select session_id, id + n, world_id, at, 'webhook', 'x.answer', method,
      path, status, duration_ms, request, response, changes, rows, call_id, 20000000
      from requests, generate_series(1, 9) n where session_id = '${sessionId}'`);
    await send([100], elsewhere);
    const kept = await control.sql<{ id: number }>('select id from requests order by id');
    expect(kept.map(({ id }) => id)).toContain(1);
    expect(kept.length).toBeLessThan(11);
    expect(await claimed()).toEqual([1, 100]);
  });
});

describe('receivers of pushes', () => {
  beforeEach(() => turn(true));

  it('get a few deliveries at once, and a slow receiver does not delay the others', async () => {
    const many = Array.from({ length: 40 }, (_, at) => at + 1);
    for (const id of many) await send([id], url, { subscription: { id } });
    await send([41], elsewhere);
    expect(await claimed(own, 4)).toEqual([1, 2, 3, 41]);
    expect(await claimed()).toEqual([4, 5, 6, 7, 8]);
    expect(await claimed(other)).toEqual([]);
    await report([answered(1), answered(41)]);
    expect(await claimed(other)).toEqual([9]);
  });

  it('of one project share a limit', async () => {
    for (let id = 1; id <= 80; id += 1) {
      await send([id], `https://${Math.ceil(id / 8)}.receiver.dev/`, { subscription: { id } });
    }
    expect(await claimed()).toHaveLength(64);
    expect(await claimed()).toHaveLength(0);
  });

  it('have a limit of waiting deliveries, and a delivery beyond it fails with the reason', async () => {
    await send([1]);
    await control.sql(`insert into requests select session_id, id + n, world_id, at, via, 'x.answer', method,
      path, status, duration_ms, request, response, changes, rows, call_id, bytes
      from requests, generate_series(1, 9998) n`);
    await control.sql(`insert into pushes (session_id, delivery_id, project_id, line, receiver, bytes, state)
      select session_id, delivery_id + n, project_id, line, receiver, bytes, 'waiting'
        from pushes, generate_series(1, 9998) n`);
    await send([10_001, 10_002, 10_003]);
    const waiting = await control.sql<{ id: number; state: string }>(
      'select delivery_id as id, state from pushes where delivery_id > 10000 order by 1',
    );
    expect(waiting[0]).toEqual({ id: 10_001, state: 'waiting' });
    expect(await reasons(2)).toEqual(
      Array(2).fill('10000 deliveries wait for hooks.receiver.dev already'),
    );
  });
});

describe('destinations of pushes', () => {
  const params = { slug: 'notes' };
  const set = (destination: string, of = url) =>
    control.send(setDestination, { params, body: { url: of, destination } });

  it('redirect deliveries, and report whether push is on', async () => {
    const row = { url, destination: elsewhere, setAt: expect.any(String) };
    expect((await set(elsewhere)).body).toEqual({ ...row, webhookPush: false });
    await turn(true);
    const { data, meta } = (await control.send(listDestinations, { params })).body;
    expect([data, meta]).toEqual([[row], { webhookPush: true }]);
    await send([1], url);
    await send([2], 'https://else.receiver.dev/');
    expect((await claim()).map((push) => push.url)).toEqual([
      elsewhere,
      'https://else.receiver.dev/',
    ]);
    await report([answered(1), answered(2)]);
    expect(await readAnswers(control)).toMatchObject([{ sent_to: elsewhere }, { sent_to: null }]);
    expect((await control.send(removeDestination, { params, query: { url } })).body).toEqual(row);
    await send([3], url);
    expect((await claim()).map((push) => push.url)).toEqual([url]);
  });

  it.each([
    ['http://hooks.receiver.dev/', 'https'],
    ['https://hooks.receiver.dev:8443/', 'port 8443'],
    ['https://user:pass@hooks.receiver.dev/', 'credentials'],
    ['https://127.0.0.1/', 'loopback'],
    ['https://[::ffff:10.0.0.1]/', 'mapped'],
    ['https://localhost/', 'localhost'],
    ['nowhere', 'not a URL'],
  ])('follow the rules of push: %s is refused', async (destination, says) => {
    await expect(set(destination)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(says),
    });
    expect((await control.send(listDestinations, { params })).body.data).toEqual([]);
  });

  it('need a valid URL and the key pair, and are limited to one hundred', async () => {
    await expect(set(elsewhere, 'ftp://x')).rejects.toMatchObject({ code: 'invalid' });
    for (let n = 0; n < 100; n += 1) await set(elsewhere, `${url}/${n}`);
    await expect(set(elsewhere)).rejects.toMatchObject({ code: 'conflict' });
    expect((await set('https://third.receiver.dev/', `${url}/7`)).body.url).toBe(`${url}/7`);
    await expect(control.send(removeDestination, { params, query: { url } })).rejects.toMatchObject(
      { code: 'not_found' },
    );
    await expect(control.read(listDestinations, { params })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});
