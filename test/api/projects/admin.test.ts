/**
 * Tests the routes for operators: hosts with their end reasons, drained hosts and pools, and the findings of the
 * doctor.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drainHosts, examine, listHosts, listPools } from '#wire/admin-api/operations.ts';
import { acquireLease, loadHost, publishPools } from '#wire/pool-api/operations.ts';
import { getSession, getWorld, openSession } from '#wire/public-api/operations.ts';
import type { StartedControl } from '../../support/control/control.ts';
import { clearPool, installation, warmHost } from '../../support/control/host.ts';
import { startNotesControl } from '../../support/control/own-control.ts';

let control: StartedControl;

beforeAll(async () => {
  control = await startNotesControl();
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

const hostsOf = async (query = {}) => (await control.admin(listHosts, { query })).body.hosts;
const drain = (body: { hostId?: string; pool?: string; endSessions?: boolean }) =>
  control.admin(drainHosts, { body: { endSessions: false, ...body } });
const open = async () => (await control.send(openSession, { body: { slug: 'notes' } })).body.id;

/** Registers a warm host that has loaded the world and has no session. */
const loadedHost = async (): Promise<void> => {
  const { body } = await control.send(getWorld, { params: { slug: 'notes' } });
  const { id: hostId } = await warmHost(control);
  await control.pool(loadHost, { params: { hostId }, body: { versionId: body.version.id } });
};

const checks = async () => {
  const { body } = await control.admin(examine, {});
  return Object.fromEntries(body.checks.map(({ name, ...finding }) => [name, finding]));
};

describe('an operator', () => {
  it('sees hosts with their sessions and end reasons', async () => {
    const host = await warmHost(control);
    const session = await open();
    await warmHost(control);
    expect(await hostsOf({ state: 'assigned' })).toMatchObject([
      {
        id: host.id,
        pool: 'default',
        sessionId: session,
        world: 'local/default/notes',
        versionNumber: 1,
        uses: 1,
        endReason: null,
      },
    ]);
    expect(await hostsOf({ pool: 'none' })).toEqual([]);
    const { body } = await control.admin(listHosts, { query: { limit: 1 } });
    expect([body.hosts.length, body.total]).toEqual([1, 2]);
    await drain({ hostId: host.id, endSessions: true });
    expect(await hostsOf({ state: 'draining' })).toMatchObject([
      { id: host.id, endReason: 'operator' },
    ]);
  });

  it('drains a host that serves a session only with the option to end the session', async () => {
    const host = await warmHost(control);
    const sessionId = await open();
    await host.poll();
    await host.ready();
    await expect(drain({ hostId: host.id })).rejects.toThrow(`serves ${sessionId}`);
    expect((await drain({ hostId: host.id, endSessions: true })).body.drained).toEqual([host.id]);
    const { body } = await control.send(getSession, { params: { sessionId } });
    expect(body).toMatchObject({ state: 'FAILED', endReason: 'reclaimed' });
  });

  it('drains the idle hosts of a pool and keeps the hosts that serve a session', async () => {
    const serving = await warmHost(control);
    await open();
    const idle = await warmHost(control);
    expect((await drain({ pool: 'default' })).body).toEqual({
      drained: [idle.id],
      kept: [serving.id],
    });
    await expect(drain({ pool: 'none' })).rejects.toThrow('there is no host in a pool "none"');
    await expect(drain({ hostId: 'hst-none' })).rejects.toThrow('there is no host "hst-none"');
    await expect(drain({})).rejects.toThrow('name one host');
  });

  it('gets each failed check of the doctor with a way to fix it', async () => {
    const lone = await checks();
    expect(lone).toMatchObject({
      database: { status: 'ok' },
      clock: { status: 'ok' },
      blobs: { status: 'ok', message: expect.stringContaining('GiB free') },
      orchestrators: { status: 'failed', fix: expect.stringContaining('start an orchestrator') },
      pools: { status: 'failed' },
      sessions: { status: 'ok' },
      // The public address of the tests is not served by any process.
      addresses: { status: 'failed', fix: expect.stringContaining('DNS') },
    });
    await control.pool(acquireLease, { body: { installation, holder: 'a', ttlMs: 60_000 } });
    const pool = { name: 'default', tier: null, isolation: 'process', size: 'standard' } as const;
    const sizes = { minimum: 1, maximum: 1, target: 1, held: null, worlds: [] };
    const publish = (changed = {}, refused: string | null = null) =>
      control.pool(publishPools, {
        body: { installation, pools: [{ ...pool, ...sizes, ...changed }], refused },
      });
    await publish({ held: 'no space left on device' });
    expect(await checks()).toMatchObject({
      orchestrators: { status: 'ok', message: `a leads ${installation}` },
      pools: { status: 'failed', message: 'default launches none: no space left on device' },
    });
    await publish({}, 'pools.toml:3:1: pools.a.maximum: is not a number');
    expect(await checks()).toMatchObject({
      orchestrators: {
        status: 'warning',
        message: `${installation} continues with its last valid pools: pools.toml:3:1: pools.a.maximum: is not a number`,
        fix: expect.stringContaining('svc pools check'),
      },
    });
    await control.sql("update leases set expires_at = now() - interval '26 seconds'");
    expect(await checks()).toMatchObject({
      orchestrators: {
        status: 'failed',
        message: `no orchestrator leads ${installation}; a did until 26 s ago`,
      },
    });
    await control.sql("update leases set expires_at = now() + interval '1 minute'");
    await publish();
    await warmHost(control);
    expect(await checks()).toMatchObject({
      orchestrators: { status: 'ok' },
      pools: { status: 'ok', message: 'default: 1 fresh of 1' },
    });
    await publish({ target: 2, maximum: 3 });
    await loadedHost();
    expect(await checks()).toMatchObject({
      pools: { status: 'warning', message: 'default has 1 fresh hosts of 2, and 0 starting' },
    });
    await clearPool(control);
    await publish();
    await warmHost(control);
    const first = await open();
    const second = await open();
    await control.sql(
      `update sessions set created_at = now() - interval '1 hour',
         state_since = case when id = $1 then now() - interval '1 hour' else state_since end
        where id in ($1, $2)`,
      [first, second],
    );
    expect(await checks()).toMatchObject({
      pools: {
        status: 'warning',
        message: 'default is full (1 of 1 hosts) while sessions wait (1)',
      },
      sessions: { status: 'failed', message: `${first} (PROVISIONING) are past their deadlines` },
    });
    const { body } = await control.admin(listPools, {});
    expect(body).toMatchObject({ waitingSessions: 1, pools: [{ hosts: { assigned: 1 } }] });
    expect(body.longestWaitMs).toBeGreaterThan(3_000_000);
  });

  it('is identified by the admin token, not by a key pair', async () => {
    await expect(control.send(examine, {})).rejects.toThrow('this route needs a bearer token');
    await expect(control.gateway(examine, {})).rejects.toThrow('the admin token is not valid');
  });
});
