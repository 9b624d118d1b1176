/**
 * Tests the lease of an installation: which orchestrator leads, restarts under the same name, and that requests of a
 * former leader change nothing.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  acquireLease,
  drainHost,
  type Lease,
  loadHost,
  observePool,
  publishPools,
  reap,
  registerHost,
  reportLaunched,
} from '#wire/pool-api/operations.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { anyHost, clearPool, installation, warmHost } from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';

let database: TestDatabase;
let control: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
});

afterAll(async () => {
  await clearPool(control);
  await control.stop();
  await database.drop();
});

const ttlMs = 60_000;

const ask = async (
  holder: string,
  changes: { ttlMs?: number; epoch?: number; takeOver?: boolean; installation?: string } = {},
) => (await control.pool(acquireLease, { body: { installation, holder, ttlMs, ...changes } })).body;

/** Acquires the lease, and returns the fields that identify its holder in requests. */
const take = async (holder: string, of = installation): Promise<Lease> => {
  const { epoch } = await ask(holder, { installation: of });
  if (epoch === undefined) throw new Error(`${holder} does not lead`);
  return { installation: of, holder, epoch };
};

const runOut = (of = installation) =>
  control.sql(`update leases set expires_at = now() where installation = $1`, [of]);

describe('the lease of an installation', () => {
  it('has one holder, is renewed by it, and is free again when released', async () => {
    const of = { installation: 'given-up' };
    const { epoch } = await take('a', 'given-up');
    expect(await ask('b', of)).toEqual({ held: false });
    expect(await ask('a', { ...of, epoch })).toEqual({ held: true, epoch });
    await ask('b', { ...of, ttlMs: 0 });
    expect(await ask('b', of)).toEqual({ held: false });
    await ask('a', { ...of, epoch: epoch - 1, ttlMs: 0 });
    expect(await ask('b', of)).toEqual({ held: false });
    await ask('a', { ...of, epoch, ttlMs: 0 });
    const next = await ask('b', of);
    expect(next.epoch).toBeGreaterThan(epoch);
    expect(await ask('a', { ...of, epoch })).toEqual({ held: false });
  });

  it('expires by the clock of the database, and can be renewed until another holder takes it', async () => {
    const of = { installation: 'expiring' };
    const { epoch } = await take('a', 'expiring');
    await runOut('expiring');
    expect(await ask('a', { ...of, epoch })).toEqual({ held: true, epoch });
    await runOut('expiring');
    expect(await ask('b', of)).toMatchObject({ held: true });
    expect(await ask('a', { ...of, epoch })).toEqual({ held: false });
  });

  it('passes to a later process of the same name, and not back', async () => {
    const of = { installation: 'namesakes' };
    const { epoch: elder } = await take('a', 'namesakes');
    const { epoch: younger } = await take('a', 'namesakes');
    expect(await ask('a', { ...of, epoch: elder })).toEqual({ held: false });
    expect(await ask('a', { ...of, takeOver: false })).toEqual({ held: false });
    expect(await ask('a', { ...of, epoch: younger })).toEqual({ held: true, epoch: younger });
    await runOut('namesakes');
    expect(await ask('a', { ...of, takeOver: false })).toMatchObject({ held: true });
  });
});

describe('a request of a former leader', () => {
  const pools = { installation, pools: [] };
  const limits = { idleMs: 60_000, maxAgeMs: 600_000, provisionMs: 60_000, closingMs: 60_000 };

  const messages: [string, (lease: Lease, hostId: string) => Promise<unknown>][] = [
    ['pools', (lease) => control.pool(publishPools, { body: { lease, ...pools } })],
    ['a host', (lease) => control.pool(registerHost, { body: { lease, ...anyHost, maxLive: 9 } })],
    [
      'a drain',
      (lease, hostId) =>
        control.pool(drainHost, { params: { hostId }, body: { lease, reason: 'surplus' } }),
    ],
    [
      'a load',
      (lease, hostId) =>
        control.pool(loadHost, { params: { hostId }, body: { lease, versionId: 'ver-none' } }),
    ],
    [
      'an address',
      (lease, hostId) => {
        const body = { lease, address: 'http://127.0.0.1:4711' };
        return control.pool(reportLaunched, { params: { hostId }, body });
      },
    ],
    ['a reap', (lease) => control.pool(reap, { body: { lease, ...limits } })],
  ];

  it.each(messages)('is refused: %s', async (_, send) => {
    const { id } = await warmHost(control);
    const observe = () => control.pool(observePool, { query: { installation, brief: true } });
    const before = (await observe()).body.revision;
    const former = await take('former');
    await runOut();
    const present = await take('present');
    await expect(send(former, id)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/"former" no longer leads/),
    });
    await expect(send({ ...present, holder: 'former' }, id)).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect((await observe()).body.revision).toBe(before);
    await runOut();
    await send(present, id).catch((error) => expect(error).toMatchObject({ code: 'conflict' }));
    await ask('present', { epoch: present.epoch, ttlMs: 0 });
    await expect(send(present, id)).rejects.toMatchObject({ code: 'forbidden' });
  });
});
