/**
 * Tests pools of a configuration file on real processes: worlds that hosts load before any session, and changes of the
 * file at runtime.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { call, close, createNotes, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';

let folder: string;
let file: string;
let database: TestDatabase;
let network: Network;

const healMs = 30_000;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-pools-'));
  file = join(folder, 'pools.toml');
  database = await testDatabase();
});

afterEach(async () => {
  await network.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

const start = async (text: string): Promise<void> => {
  await writeFile(file, text);
  network = await startNetwork({ databaseUrl: database.url, env: { SVC_POOLS_FILE: file } });
};

const pool = (name: string, keys: string): string =>
  `[pools.${name}]\nmaximum = 6\ntarget = 1\n${keys}\n`;

type Holder = { id: string; state: string; version_id: string | null; uses: number };

const holders = (): Promise<Holder[]> =>
  network.sql<Holder>(
    `select id, state, version_id, uses from hosts
      where state <> 'gone' and version_id is not null order by id`,
  );

const head = async (): Promise<string> => {
  const rows = await network.sql<{ id: string }>('select head_version_id as id from worlds');
  return rows[0]?.id ?? '';
};

/**
 * Waits until exactly this many unused hosts hold the version, and no unused host holds another;
 * returns their ids.
 */
const held = (versionId: string, count: number): Promise<string[]> =>
  until(
    async () => {
      const unused = (await holders()).filter(({ uses }) => uses === 0);
      const areReady = unused.every(
        ({ state, version_id }) => state === 'warm' && version_id === versionId,
      );
      return areReady && unused.length === count ? unused.map(({ id }) => id) : undefined;
    },
    { timeoutMs: healMs, what: `${count} hosts that hold ${versionId}` },
  );

/** Publishes a second version of the world with the same content. */
const moveHead = async (): Promise<void> => {
  await network.sql(
    `insert into versions (id, world_id, project_id, number, state, content_hash, message, contract,
                           files, entity_counts, bundle, snapshot)
     select 'ver-second', world_id, project_id, 2, state, content_hash, message, contract,
            files, entity_counts, bundle, snapshot from versions`,
  );
  await network.sql(`update worlds set head_version_id = 'ver-second'`);
};

describe('a pool with worlds', () => {
  it('loads them before the first session, serves from these hosts, and loads each new version', async () => {
    await start(pool('a', 'worlds = { "local/default/notes" = 2 }'));
    await createNotes(network.client);
    const first = await held(await head(), 2);

    const session = await open(network.client, { slug: 'notes' });
    expect(session).toMatchObject({ state: 'READY', hostReused: false });
    const serving = (await network.hosts()).find((host) => host.session_id === session.id);
    expect(first).toContain(serving?.id);
    const listed = await call(network.client, session.id, { kind: 'tool', name: 'list_notes' });
    expect(listed).toMatchObject({ state: 'succeeded', output: [{ id: 1 }] });
    await call(network.client, session.id, {
      kind: 'tool',
      name: 'create_notes',
      input: { id: 2, folder_id: 1, title: 'of the first session', done: false },
    });
    await close(network.client, session.id, true);
    const recycled = await until(
      async () => (await holders()).find(({ id, state }) => id === serving?.id && state === 'warm'),
      { timeoutMs: healMs, what: 'the host proved clean' },
    );
    expect(recycled.uses).toBe(1);
    const again = await open(network.client, { slug: 'notes', reuseWarm: true });
    expect(again.state).toBe('READY');
    const state = await call(network.client, again.id, { kind: 'state', input: {} });
    expect(state.output).toMatchObject({ counts: { notes: 1 } });
    await close(network.client, again.id);

    await moveHead();
    const second = await held('ver-second', 2);
    expect(second.filter((id) => first.includes(id))).toEqual([]);
    expect(await open(network.client, { slug: 'notes' })).toMatchObject({
      versionId: 'ver-second',
      state: 'READY',
    });
  });
});

describe('a change of the file of pools', () => {
  const openLarge = () =>
    network.client.send(openSession, {
      body: { slug: 'notes', size: 'large' },
      query: { wait: 30 },
      headers: {},
    });

  it('takes effect at once if it is valid', async () => {
    await start(pool('a', ''));
    await createNotes(network.client);
    await network.warm(1);
    await until(async () => (await network.sql('select name from pools')).length === 1, {
      timeoutMs: healMs,
      what: 'the pool published',
    });
    await expect(openLarge()).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ path: ['size'], message: expect.stringContaining('size "standard"') }],
    });
    const both = `${pool('a', '')}${pool('b', 'size = { name = "large", memory_mb = 1024 }')}`;
    await writeFile(file, `${both}isolation = "kata"\n`);
    await until(() => network.orchestrator.log().includes('configuration refused'), {
      timeoutMs: healMs,
      what: 'the mistake in the log',
    });
    expect(network.orchestrator.log()).toContain(
      'the runtime \\"process\\" does not support the isolation \\"kata\\" (it supports process)',
    );
    await expect(openLarge()).rejects.toMatchObject({ code: 'invalid' });

    // An orchestrator that starts with an invalid file uses the last valid configuration.
    await network.orchestrator.end('SIGKILL');
    await network.restartOrchestrator();
    await until(() => network.orchestrator.log().includes('the one used last applies'), {
      timeoutMs: healMs,
      what: 'the mistake in its log, too',
    });
    const served = await open(network.client, { slug: 'notes' });
    expect(served.state).toBe('READY');
    await close(network.client, served.id);

    await writeFile(file, both);
    await until(async () => (await network.sql('select name from pools')).length === 2, {
      timeoutMs: healMs,
      what: 'both pools published',
    });
    expect((await openLarge()).body).toMatchObject({ state: 'READY', size: 'large' });

    await writeFile(file, pool('b', 'size = { name = "large", memory_mb = 1024 }'));
    await until(
      async () =>
        (await network.sql(`select id from hosts where pool = 'a' and state <> 'gone'`)).length ===
        0,
      { timeoutMs: healMs, what: 'no host of the pool that is no more' },
    );
  }, 120_000);
});
