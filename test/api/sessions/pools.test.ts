/**
 * Tests pools as their orchestrator publishes them: the shapes that they offer, the opens that they refuse, and the
 * worlds that they preload.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listPools } from '#wire/admin-api/operations.ts';
import { reportUnloaded } from '#wire/host-api/operations.ts';
import {
  acquireLease,
  loadHost,
  observePool,
  type PublishedPool,
  publishPools,
  readPoolsFile,
  reap,
} from '#wire/pool-api/operations.ts';
import { closeSession, createWorld, getSession, openSession } from '#wire/public-api/operations.ts';
import type { OpenSessionBody } from '#wire/public-api/sessions/session.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import {
  baseState,
  clearPool,
  installation,
  type PlayedHost,
  warmHost,
} from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

const notes = 'local/default/notes';
let database: TestDatabase;
let control: StartedControl;
let versionId: string;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  const from = encodeTree(notesWorld());
  await control.send(createWorld, { body: { slug: 'notes', from } });
  const heads = await control.sql<{ id: string }>('select head_version_id as id from worlds');
  versionId = heads[0]?.id ?? '';
  await control.send(createWorld, { body: { slug: 'other', from } });
});

afterEach(async () => {
  await publish([]);
  await clearPool(control);
});

afterAll(async () => {
  await control.stop();
  await database.drop();
});

const lead = (ttlMs = 60_000) =>
  control.pool(acquireLease, { body: { installation, holder: 'test', ttlMs } });

const publish = async (pools: Partial<PublishedPool>[]): Promise<string[]> => {
  await lead();
  const whole = pools.map((pool, index) => ({
    name: `pool-${index}`,
    tier: null,
    isolation: 'process' as const,
    size: 'standard',
    minimum: 0,
    maximum: 10,
    target: 1,
    held: null,
    worlds: [],
    ...pool,
  }));
  const { body } = await control.pool(publishPools, { body: { installation, pools: whole } });
  return body.unknownWorlds;
};

const open = async (body: OpenSessionBody = {}) =>
  (await control.send(openSession, { body: { slug: 'notes', ...body } })).body;

const observe = async () => (await control.pool(observePool, { query: { installation } })).body;

const load = (host: PlayedHost, version = versionId) =>
  control.pool(loadHost, { params: { hostId: host.id }, body: { versionId: version } });

const rowOf = async (host: PlayedHost) =>
  (
    await control.sql<Record<string, unknown>>(
      'select state, bundle, state_digest, uses, end_reason, end_detail from hosts where id = $1',
      [host.id],
    )
  )[0];

/** Returns a warm host that has preloaded the world. */
const loadedHost = async (): Promise<PlayedHost> => {
  const host = await warmHost(control);
  await load(host);
  const order = await host.pollLoad();
  expect(await host.warm({ bundle: order?.bundle ?? baseState, stateDigest: baseState })).toBe(
    'warm',
  );
  return host;
};

describe('a pools file', () => {
  it('is stored for orchestrators that start later, and only the leader can write it', async () => {
    const kept = async () =>
      (await control.pool(readPoolsFile, { query: { installation: 'filed' } })).body.file;
    expect(await kept()).toBeNull();
    const lead = async (holder: string) => {
      const body = { installation: 'filed', holder, ttlMs: 60_000 };
      const { epoch = 0 } = (await control.pool(acquireLease, { body })).body;
      return { installation: 'filed', holder, epoch };
    };
    const result = async (lease: Awaited<ReturnType<typeof lead>>, file: string) => {
      const body = { lease, installation: 'filed', pools: [], file };
      await control.pool(publishPools, { body });
    };
    const first = await lead('first');
    await result(first, '[pools.a]');
    expect(await kept()).toBe('[pools.a]');
    await control.pool(acquireLease, { body: { ...first, ttlMs: 0 } });
    const second = await lead('second');
    await expect(result(first, '[pools.old]')).rejects.toMatchObject({ code: 'forbidden' });
    await result(second, '[pools.b]');
    expect(await kept()).toBe('[pools.b]');
  });
});

describe('published pools', () => {
  it('refuse an open that fits no pool, and name the field to change', async () => {
    await publish([
      { size: 'standard' },
      { size: 'large', isolation: 'container', tier: 'premium' },
    ]);
    const wishes: [OpenSessionBody, string][] = [
      [{ size: 'huge' }, 'size'],
      [{ isolation: 'gvisor' }, 'isolation'],
      [{ size: 'large' }, 'browserTier'],
    ];
    for (const [wish, field] of wishes) {
      await expect(open(wish)).rejects.toMatchObject({
        code: 'invalid',
        fields: [
          {
            path: [field],
            message: expect.stringContaining(
              'there are: size "large" with isolation "container" for premium sessions; size "standard" with isolation "process" for standard and premium sessions',
            ),
          },
        ],
      });
    }
    expect(await control.sql(`select id from sessions where state = 'PROVISIONING'`)).toEqual([]);
    expect(await open({ size: 'large', browserTier: 'premium' })).toMatchObject({
      state: 'PROVISIONING',
      size: 'large',
    });
  });

  it('refuse no open while their installation has no leader', async () => {
    await publish([{}]);
    await lead(0);
    expect((await open({ size: 'huge' })).state).toBe('PROVISIONING');
  });

  it('replace the pools published before', async () => {
    await publish([{ size: 'small' }, { size: 'large' }]);
    await publish([{ size: 'small' }]);
    await expect(open({ size: 'large' })).rejects.toMatchObject({ code: 'invalid' });
    expect((await open({ size: 'small' })).state).toBe('PROVISIONING');
  });

  it('change the revision of the view only when their worlds change', async () => {
    await publish([{ worlds: [{ world: notes, hosts: 1 }] }]);
    const { revision } = await observe();
    await publish([{ worlds: [{ world: notes, hosts: 1 }], target: 7 }]);
    expect((await observe()).revision).toBe(revision);
    await publish([{ worlds: [{ world: notes, hosts: 2 }] }]);
    expect((await observe()).revision).not.toBe(revision);
  });

  it('are listed with the number of hosts in each state', async () => {
    const worlds = [
      { world: notes, hosts: 1 },
      { world: 'local/default/nope', hosts: 1 },
    ];
    await publish([{ name: 'default', target: 3, worlds }, { name: 'empty' }]);
    await warmHost(control);
    await warmHost(control);
    await open();
    const { body } = await control.pool(listPools, {});
    expect(body.pools).toMatchObject([
      {
        installation,
        name: 'default',
        target: 3,
        isLed: true,
        unknownWorlds: ['local/default/nope'],
        hosts: { starting: 0, warm: 1, assigned: 1, recycling: 0, draining: 0 },
      },
      { name: 'empty', unknownWorlds: [], hosts: { warm: 0 } },
    ]);
  });

  /** Returns the error message of a session that has waited too long for a host. */
  const lackOf = async (sessionId: string): Promise<string | undefined> => {
    const waitLong = `update sessions set state_since = now() - interval '1 hour' where id = $1`;
    await control.sql(waitLong, [sessionId]);
    const limits = { idleMs: 60_000, maxAgeMs: 600_000, provisionMs: 1_000, closingMs: 1_000 };
    await control.pool(reap, { body: limits });
    const { body } = await control.send(getSession, { params: { sessionId } });
    const ended = { state: 'FAILED', endReason: 'provision_failed', error: { code: 'no_host' } };
    expect(body).toMatchObject(ended);
    return body.error?.message;
  };
  const lack = 'no warm host was free within 1000 ms';

  it('give the reason why a session got no host', async () => {
    await publish([{ name: 'spot', held: 'no node has 512 MB left' }]);
    const { id } = await open();
    expect(await lackOf(id)).toBe(`${lack}; pool "spot" launches none: no node has 512 MB left`);
  });

  it('are named as full in the error when all that fit a session are full', async () => {
    await publish([{ name: 'default', maximum: 1 }, { name: 'second' }]);
    await warmHost(control);
    await open();
    const [first, second] = [await open(), await open()];
    expect(await lackOf(first.id)).toBe(lack);
    await publish([{ name: 'default', maximum: 1 }]);
    expect(await lackOf(second.id)).toBe(`${lack}; pool "default" is full (1 of 1 hosts)`);
  });

  it('are named as changed in the error of a session whose pool was removed', async () => {
    await publish([{ size: 'large' }, {}]);
    const { id } = await open({ size: 'large' });
    const other = await open();
    await publish([{}]);
    expect(await lackOf(id)).toBe(
      `${lack}; the pools have changed since it was opened: no pool has hosts of size "large" for standard sessions; there are: size "standard" with isolation "process" for standard and premium sessions`,
    );
    expect(await lackOf(other.id)).toBe(lack);
  });
});

describe('worlds of a pool', () => {
  it('appear in the view with their head versions, and unknown ones are reported', async () => {
    const worlds = [
      { world: notes, hosts: 2 },
      { world: 'local/default/nothing', hosts: 1 },
    ];
    expect(await publish([{ worlds }])).toEqual(['local/default/nothing']);
    expect((await observe()).worlds).toEqual([
      { pool: 'pool-0', world: notes, versionId, hosts: 2 },
    ]);
  });

  it('are not preloaded again for a while after a host failed to load them', async () => {
    await publish([{ worlds: [{ world: notes, hosts: 1 }] }]);
    const host = await warmHost(control);
    await load(host);
    await host.pollLoad();
    const body = { generation: host.generation, message: 'tools.py: line 3: no module' };
    await host.send(reportUnloaded, { params: { hostId: host.id }, body });
    expect(await rowOf(host)).toMatchObject({
      state: 'draining',
      end_reason: 'load_failed',
      end_detail: 'tools.py: line 3: no module',
    });
    expect((await observe()).worlds).toEqual([]);
    await control.sql(`update hosts set state_since = now() - interval '1 hour' where id = $1`, [
      host.id,
    ]);
    expect((await observe()).worlds).toHaveLength(1);
    // After a session, its task may have caused the failure, so it proves nothing about the version.
    await control.sql('update hosts set state_since = now(), uses = 1 where id = $1', [host.id]);
    expect((await observe()).worlds).toHaveLength(1);
  });
});

describe('a preloading host', () => {
  it('takes no session until it holds its world version, and then takes sessions of that version before blank hosts do', async () => {
    const host = await warmHost(control);
    await load(host);
    expect((await open()).assignedAt).toBeNull();
    await clearPool(control);

    const loaded = await loadedHost();
    await warmHost(control);
    const other = await open({ slug: 'other' });
    const session = await open();
    const [row] = await control.sql<{ session_id: string }>(
      'select session_id from hosts where id = $1',
      [loaded.id],
    );
    expect(row?.session_id).toBe(session.id);
    expect(other.assignedAt).not.toBeNull();
    expect(session.hostReused).toBe(false);
    const assignment = await loaded.poll();
    expect(assignment).toMatchObject({ sessionId: session.id, blobs: {}, generation: 2 });
  });

  it('is drained when its state after a session differs from the preloaded state', async () => {
    const host = await loadedHost();
    const session = await open();
    await host.poll();
    await host.ready();
    await control.send(closeSession, {
      params: { sessionId: session.id },
      body: { keepWarm: true },
    });
    expect(await host.closed()).toBe('recycle');
    const bundle = host.assignment?.bundle ?? baseState;
    expect(await host.warm({ bundle, stateDigest: `sha256:${'1'.repeat(64)}` })).toBe('draining');
    expect(await rowOf(host)).toMatchObject({ end_reason: 'not_clean' });
  });

  it('is drained when it loaded something else or does not report what it loaded', async () => {
    for (const holding of [undefined, { bundle: baseState, stateDigest: baseState }]) {
      const host = await warmHost(control);
      await load(host);
      await host.pollLoad();
      expect(await host.warm(holding)).toBe('draining');
    }
  });

  it('gets its load order again when it polls again, and may repeat its reports', async () => {
    const host = await warmHost(control);
    await load(host);
    expect(await host.warm()).toBe('recycling');
    expect((await host.pollLoad())?.generation).toBe(1);
    const order = await host.pollLoad();
    const holding = { bundle: order?.bundle ?? baseState, stateDigest: baseState };
    expect(order?.generation).toBe(1);
    expect((await host.blob(holding.bundle)).byteLength).toBeGreaterThan(100);
    expect(await host.warm(holding)).toBe('warm');
    expect(await host.warm(holding)).toBe('warm');
    expect(await rowOf(host)).toMatchObject({ ...{ bundle: holding.bundle }, uses: 0 });
  });

  it('must be warm, hold nothing and be given an existing version', async () => {
    const host = await loadedHost();
    await expect(load(host)).rejects.toMatchObject({ code: 'conflict' });
    const blank = await warmHost(control);
    await expect(load(blank, 'ver-none')).rejects.toMatchObject({ code: 'conflict' });
    const serving = await warmHost(control);
    await open({ slug: 'other' });
    await open({ slug: 'other' });
    await expect(load(serving)).rejects.toMatchObject({ code: 'conflict' });
  });
});
