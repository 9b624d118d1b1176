/**
 * Tests the assignment of hosts to sessions: no host serves two sessions at a time, the best match comes first, and no
 * waiting session is skipped.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { reportWarm } from '#wire/host-api/operations.ts';
import { reportLaunched } from '#wire/pool-api/operations.ts';
import { closeSession, createWorld, getSession, openSession } from '#wire/public-api/operations.ts';
import type { OpenSessionBody, SessionView } from '#wire/public-api/sessions/session.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { clearPool, launchHost, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  const from = encodeTree(notesWorld());
  await control.send(createWorld, { body: { slug: 'notes', from } });
  await control.send(createWorld, { body: { slug: 'other', from } });
});

afterEach(() => clearPool(control));

afterAll(async () => {
  await control.stop();
  await database.drop();
});

const open = async (body: OpenSessionBody = {}): Promise<SessionView> =>
  (await control.send(openSession, { body: { slug: 'notes', ...body } })).body;

const read = async (sessionId: string): Promise<SessionView> =>
  (await control.send(getSession, { params: { sessionId } })).body;

/** Returns a warm host that has served a session of the world and was found clean afterwards. */
const holdingHost = async (slug = 'notes'): Promise<PlayedHost> => {
  const host = await warmHost(control);
  const session = await open({ slug });
  const assignment = await host.poll();
  await host.ready();
  const params = { sessionId: session.id };
  await control.send(closeSession, { params, body: { keepWarm: true } });
  await host.calls();
  expect(await host.closed()).toBe('recycle');
  const bundle = assignment?.bundle;
  if (bundle === undefined) throw new Error('no assignment');
  await host.warm({ bundle, stateDigest: `sha256:${'0'.repeat(64)}` });
  return host;
};

const hostOf = async (sessionId: string): Promise<string | undefined> => {
  const rows = await control.sql<{ id: string }>('select id from hosts where session_id = $1', [
    sessionId,
  ]);
  return rows[0]?.id;
};

describe('many simultaneous opens', () => {
  it('each get at most one warm host, and the rest wait', async () => {
    const hosts = await Promise.all(Array.from({ length: 20 }, () => warmHost(control)));
    const sessions = await Promise.all(Array.from({ length: 100 }, () => open()));
    const pairs = await control.sql<{ host: string; session: string }>(
      `select h.id as host, s.id as session from hosts h join sessions s
          on s.id = h.session_id and s.host_id = h.id and s.generation = h.generation`,
    );
    expect(new Set(pairs.map(({ host }) => host))).toEqual(new Set(hosts.map(({ id }) => id)));
    expect(new Set(pairs.map(({ session }) => session)).size).toBe(20);
    expect(sessions).toHaveLength(100);
    const waiting = await control.sql('select id from sessions where host_id is null');
    expect(waiting).toHaveLength(80);
  });

  it('leave no session waiting when hosts become warm at the same time', async () => {
    const count = 40;
    const launched = await Promise.all(Array.from({ length: count }, () => launchHost(control)));
    await Promise.all([
      ...launched.map((host) => host.warm()),
      ...Array.from({ length: count }, () => open()),
    ]);
    const [left] = await control.sql<{ warm: number; waiting: number }>(
      `select (select count(*)::int from hosts where state = 'warm') as warm,
              (select count(*)::int from sessions
                where state = 'PROVISIONING' and host_id is null) as waiting`,
    );
    expect(left).toEqual({ warm: 0, waiting: 0 });
  });
});

/** Runs steps while another replica holds the lock under which waiting sessions are assigned. */
const whileNoneIsPlaced = async <Result>(steps: () => Promise<Result>): Promise<Result> => {
  const replica = new pg.Client({ connectionString: database.url });
  await replica.connect();
  try {
    await replica.query(`select pg_advisory_lock(hashtextextended('placement', 0))`);
    return await steps();
  } finally {
    await replica.end();
  }
};

/** Resolves when the table has this number of rows. */
const thereAre = (count: number, from: string): Promise<boolean> =>
  until(async () => (await control.sql(`select from ${from}`)).length === count, {
    timeoutMs: 10_000,
    what: `${count} ${from}`,
  });

describe('while another replica assigns sessions', () => {
  it('waiting opens leave database connections to other requests', async () => {
    await holdingHost(); // so that a session of another world checks whether the host fits
    const { opening } = await whileNoneIsPlaced(async () => {
      const sessions = Array.from({ length: 30 }, () => open({ slug: 'other' }));
      await thereAre(30, `sessions where state = 'PROVISIONING'`);
      return { opening: Promise.all(sessions) };
    });
    expect(await opening).toHaveLength(30);
  });

  it('a new open does not overtake a waiting session', async () => {
    const first = await open();
    const host = await launchHost(control);
    const { both } = await whileNoneIsPlaced(async () => {
      const warming = host.warm();
      await thereAre(1, `hosts where state = 'warm'`);
      const opening = open();
      await thereAre(2, `sessions where state = 'PROVISIONING'`);
      return { both: Promise.all([opening, warming]) };
    });
    const [last, state] = await both;
    expect(state).toBe('assigned');
    expect(await hostOf(first.id)).toBe(host.id);
    expect(await hostOf(last.id)).toBeUndefined();
  });
});

describe('a waiting session', () => {
  it('gets the next warm host, oldest session first', async () => {
    const first = await open();
    const second = await open();
    const host = await launchHost(control);
    expect(await host.warm()).toBe('assigned');
    expect((await host.poll())?.sessionId).toBe(first.id);
    expect(await hostOf(second.id)).toBeUndefined();
  });

  it('leaves hosts to sessions that have waited longer, and gets the next host', async () => {
    const waiting = [await open(), await open({ slug: 'other' })];
    const hosts = await Promise.all(Array.from({ length: 3 }, () => launchHost(control)));
    // As if the replica that made them warm died before it looked for waiting sessions.
    await control.sql(`update hosts set state = 'warm', address = '' where id = any($1)`, [
      hosts.map(({ id }) => id),
    ]);
    const last = await open();
    const taken = await Promise.all([...waiting, last].map(({ id }) => hostOf(id)));
    expect(taken.toSorted()).toEqual(hosts.map(({ id }) => id).toSorted());
  });

  it('does not block a host that does not fit it from serving other sessions', async () => {
    const holding = await holdingHost();
    const waiting = await open({ slug: 'other' });
    const session = await open();
    expect(await hostOf(session.id)).toBe(holding.id);
    expect(await hostOf(waiting.id)).toBeUndefined();
  });

  it('is assigned at once to a host that is already polling', async () => {
    const host = await warmHost(control);
    const polling = host.poll(10);
    const session = await open();
    expect((await polling)?.sessionId).toBe(session.id);
  });

  it('is not assigned to a host whose address is unknown', async () => {
    const session = await open();
    const host = await launchHost(control);
    const params = { hostId: host.id };
    await host.send(reportWarm, { params, body: { generation: 0 } });
    expect(await hostOf(session.id)).toBeUndefined();
    await control.pool(reportLaunched, {
      params,
      body: { address: 'http://127.0.0.1:2' },
    });
    expect(await hostOf(session.id)).toBe(host.id);
  });
});

describe('a host that holds a world version', () => {
  it('is chosen first with reuseWarm and last without it', async () => {
    const holding = await holdingHost();
    const blank = await warmHost(control);
    const reusing = await open({ reuseWarm: true });
    expect(await hostOf(reusing.id)).toBe(holding.id);
    expect(reusing.hostReused).toBe(true);

    await clearPool(control);
    const [second, fresh] = [await holdingHost(), await warmHost(control)];
    const plain = await open();
    expect(await hostOf(plain.id)).toBe(fresh.id);
    expect(plain.hostReused).toBe(false);
    expect([blank.id, second.id]).not.toContain(await hostOf(plain.id));
  });

  it('serves a session without reuseWarm when there is no blank host', async () => {
    const holding = await holdingHost();
    const session = await open();
    expect(await hostOf(session.id)).toBe(holding.id);
    expect((await read(session.id)).hostReused).toBe(true);
  });

  it('never serves another version, even when sessions wait', async () => {
    const holding = await holdingHost('other');
    const session = await open({ slug: 'notes', reuseWarm: true });
    expect(await hostOf(session.id)).toBeUndefined();
    expect(await holding.poll(0)).toBeUndefined();
    const blank = await launchHost(control);
    expect(await blank.warm()).toBe('assigned');
    expect(await hostOf(session.id)).toBe(blank.id);
  });
});
