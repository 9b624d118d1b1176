/** Tests quotas of a project, for open sessions and for opens per minute, with several control planes. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { closeSession, createWorld, openSession } from '#wire/public-api/operations.ts';
import {
  type StartedControl,
  startTestControl,
  type TestControl,
} from '../../support/control/control.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

const quotas = { sessions: 3, opensPerMinute: 6 };

let database: TestDatabase;
let control: StartedControl;
let replica: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url, quotas });
  replica = await startTestControl({ databaseUrl: database.url, replicaOf: control });
  await control.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
});

afterAll(async () => {
  await replica.stop();
  await control.stop();
  await database.drop();
});

/** Shifts the times of all opens into the past by a number of seconds. */
const passTime = (seconds: number) =>
  control.sql(`update sessions set created_at = created_at - $1 * interval '1 second'`, [seconds]);

const setQuotas = (sessions: number | null, opensPerMinute: number | null) =>
  control.sql(
    `update projects set quota_sessions = $1, quota_opens_per_minute = $2 where slug = 'default'`,
    [sessions, opensPerMinute],
  );

beforeEach(async () => {
  await clearPool(control);
  await passTime(3_600);
  await setQuotas(null, null);
});

const open = async (at: TestControl = control, key?: string) =>
  (
    await at.send(openSession, {
      body: { slug: 'notes' },
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })
  ).body;

const openMany = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push((await open()).id);
  return ids;
};

const close = (sessionId: string) =>
  control.send(closeSession, { params: { sessionId }, body: {} });

/** Opens a session and returns the raw answer, with its headers. */
const openRaw = (authorization = basicAuthorization(control.publicKey, control.secretKey)) =>
  control.raw({
    method: 'POST',
    path: '/api/public/world-sessions',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{"slug": "notes"}',
  });

const countSessions = async (where = 'true'): Promise<number> => {
  const rows = await control.sql<{ count: number }>(
    `select count(*)::int as count from sessions where ${where}`,
  );
  return rows[0]?.count ?? 0;
};

const recent = `created_at > now() - interval '1 minute'`;

/**
 * Sends this many opens to both replicas at once. Returns the number of opened sessions, and checks that all other
 * opens were refused.
 */
const race = async (count: number): Promise<number> => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: count }, (_, index) => open(index % 2 === 0 ? control : replica)),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'exhausted' });
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
};

describe('the quota of open sessions', () => {
  it('refuses one session too many, names itself and writes nothing', async () => {
    await openMany(quotas.sessions);
    const before = await countSessions();
    const { status, headers, body } = await openRaw();
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe('5');
    expect(body).toEqual({
      error: 'exhausted',
      message: expect.stringMatching(/"sessions", 3 at once.*close .*raise the quota/),
      quota: 'sessions',
      limit: 3,
      retryAfterMs: 5_000,
    });
    expect(await countSessions()).toBe(before);
  });

  it('leaves a warm host to projects that are below their quota', async () => {
    await setQuotas(1, null);
    await warmHost(control);
    await open();
    const spare = await warmHost(control);
    await expect(open()).rejects.toMatchObject({ code: 'exhausted' });
    const states = await control.sql('select state, generation from hosts where id = $1', [
      spare.id,
    ]);
    expect(states).toEqual([{ state: 'warm', generation: 0 }]);
  });

  it('counts a session until it is closed, and no longer', async () => {
    await setQuotas(1, null);
    const host = await warmHost(control);
    const session = await open();
    await host.poll();
    await host.ready();
    expect((await close(session.id)).body.state).toBe('CLOSING');
    await expect(open()).rejects.toMatchObject({ detail: { quota: 'sessions' } });
    await host.closed();
    await open();
  });

  it('does not count a failed session', async () => {
    await setQuotas(1, null);
    const host = await warmHost(control);
    await open();
    await host.poll();
    await host.failed('load_failed', 'no such file');
    await open();
  });

  it.each([
    [5, 40],
    [30, 90],
  ])('of %i holds for %i simultaneous opens at two control planes', async (most, asked) => {
    await setQuotas(most, 10_000);
    for (let round = 0; round < 5; round += 1) {
      expect(await race(asked)).toBe(most);
      expect(await countSessions('closed_at is null')).toBe(most);
      await clearPool(control);
    }
  });
});

describe('the quota of opens per minute', () => {
  const openAndClose = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) await close((await open()).id);
  };

  it('refuses one open too many and gives the time to retry after, to the second', async () => {
    await openAndClose(1);
    await passTime(10.5);
    await openAndClose(quotas.opensPerMinute - 1);
    const { status, headers, body } = await openRaw();
    expect(status).toBe(429);
    expect(body).toMatchObject({
      error: 'exhausted',
      message: expect.stringMatching(/"opens_per_minute", 6 in 60 seconds.*later.*raise the quota/),
      quota: 'opens_per_minute',
      limit: 6,
    });
    const { retryAfterMs } = body as { retryAfterMs: number };
    const [first] = await control.sql<{ ms: number }>(
      `select extract(epoch from min(created_at) + interval '1 minute' - clock_timestamp())::float8
         * 1000 as ms from sessions where ${recent}`,
    );
    expect(retryAfterMs).toBeGreaterThanOrEqual(first?.ms ?? Number.NaN);
    expect(retryAfterMs).toBeLessThan(49_501);
    expect(headers['retry-after']).toBe(String(Math.ceil(retryAfterMs / 1_000)));

    await passTime(retryAfterMs / 1_000);
    await openAndClose(1);
    await expect(open()).rejects.toMatchObject({ detail: { quota: 'opens_per_minute' } });
  });

  it.each([
    [7, 40],
    [30, 90],
  ])('of %i holds for %i simultaneous opens at two control planes', async (most, asked) => {
    await setQuotas(10_000, most);
    for (let round = 0; round < 4; round += 1) {
      expect(await race(asked)).toBe(most);
      expect(await countSessions(recent)).toBe(most);
      await passTime(61);
    }
  });
});

describe('opens on pre-allocated permits', () => {
  const readLeft = async (): Promise<number> => {
    const [row] = await control.sql<{ left: number }>(
      'select coalesce(sum(left_opens), 0)::int as left from open_lanes',
    );
    return row?.left ?? 0;
  };

  it('stay within the quota together with all other opens, at two replicas at once', async () => {
    await setQuotas(1_000, 96);
    await openMany(10);
    expect(await readLeft()).toBeGreaterThan(0);
    expect(await race(100)).toBe(86);
    expect(await countSessions(recent)).toBe(96);
    expect(await readLeft()).toBe(0);
  });

  it('are not allowed by permits from a quota that is no longer in force', async () => {
    await setQuotas(1_000, 960);
    await openMany(20);
    expect(await readLeft()).toBeGreaterThan(0);
    await setQuotas(1_000, 20);
    await expect(open()).rejects.toMatchObject({ detail: { limit: 20 } });
    expect(await readLeft()).toBe(0);
  });
});

describe('a repeated Idempotency-Key', () => {
  it('returns its session, even when the quotas are used up, and counts once', async () => {
    await setQuotas(2, 2);
    const first = await open(control, 'quota-once');
    for (const at of [control, replica]) {
      expect((await open(at, 'quota-once')).id).toBe(first.id);
    }
    await open();
    expect((await open(replica, 'quota-once')).id).toBe(first.id);
    await expect(open(control, 'quota-other')).rejects.toMatchObject({ code: 'exhausted' });
  });

  it('counts once against the last free session of the quota, even when many requests send the key at once', async () => {
    await setQuotas(1, 1);
    const opened = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        open(index % 2 === 0 ? control : replica, 'quota-together'),
      ),
    );
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  });

  it('opens a session later if it was refused before', async () => {
    await setQuotas(1, null);
    const first = await open();
    await expect(open(control, 'quota-later')).rejects.toMatchObject({ code: 'exhausted' });
    await close(first.id);
    expect((await open(control, 'quota-later')).id).not.toBe(first.id);
  });
});

describe("a project's own quotas", () => {
  it('replace the default quotas from the next open on', async () => {
    await openMany(quotas.sessions);
    await expect(open()).rejects.toMatchObject({ detail: { quota: 'sessions', limit: 3 } });
    await setQuotas(4, 4);
    await openMany(1);
    await expect(open()).rejects.toMatchObject({ detail: { quota: 'sessions', limit: 4 } });
    await setQuotas(5, 4);
    await expect(open()).rejects.toMatchObject({ detail: { quota: 'opens_per_minute', limit: 4 } });
    await setQuotas(2, null);
    await expect(open()).rejects.toMatchObject({ detail: { quota: 'sessions', limit: 2 } });
  });

  it('are at least 1', async () => {
    await expect(setQuotas(0, null)).rejects.toThrow(/quota_sessions/);
    await expect(setQuotas(null, 0)).rejects.toThrow(/quota_opens_per_minute/);
  });

  it('do not count what other projects open', async () => {
    await control.sql(
      `insert into projects (id, organization_id, slug, name)
       select 'prj-neighbour', id, 'neighbour', 'neighbour' from organizations`,
    );
    await control.sql(
      `insert into keys (id, organization_id, project_id, public_key, secret_hash)
       select $1, id, 'prj-neighbour', $1, $2 from organizations`,
      ['pk-neighbour', createHash('sha256').update('sk-neighbour').digest()],
    );
    const authorization = basicAuthorization('pk-neighbour', 'sk-neighbour');
    await control.raw({
      method: 'POST',
      path: '/api/public/worlds',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ slug: 'notes', from: encodeTree(notesWorld()) }),
    });
    await openMany(quotas.sessions);
    expect((await openRaw(authorization)).status).toBe(201);
    expect((await openRaw()).status).toBe(429);
    await control.sql(
      `update sessions set state = 'CLOSED', end_reason = 'requested', closed_at = now()
        where project_id = 'prj-neighbour'`,
    );
  });
});

describe('the OpenAPI document', () => {
  it('describes the refusal with the Retry-After header', async () => {
    const { body } = await control.raw({ method: 'GET', path: '/api/public/openapi.json' });
    const { paths } = body as { paths: Record<string, { post: { responses: object } }> };
    expect(paths['/world-sessions']?.post.responses).toMatchObject({
      429: {
        headers: { 'Retry-After': { schema: { type: 'integer' } } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    });
  });
});
