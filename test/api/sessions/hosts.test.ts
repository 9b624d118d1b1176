/** Tests the life cycle of hosts: generations, recycling, and changed addresses. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listHosts } from '#wire/admin-api/operations.ts';
import { reportWarm } from '#wire/host-api/operations.ts';
import { observePool, reportLaunched } from '#wire/pool-api/operations.ts';
import { closeSession } from '#wire/public-api/operations.ts';
import {
  baseState,
  clearPool,
  installation,
  launchHost,
  type PlayedHost,
  playedAddress,
  warmHost,
} from '../../support/control/host.ts';
import { drain, gone, inState, openNotes, rowOf } from '../../support/control/host-states.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl({ hostMaxUses: 3 });
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

/** Serves a session to its end and closes it with the option to keep the host warm. */
const serveOnce = async (host: PlayedHost): Promise<'recycle' | 'exit' | 'warm'> => {
  const session = await openNotes(control);
  await host.poll();
  await host.ready();
  const params = { sessionId: session.id };
  await control.send(closeSession, { params, body: { keepWarm: true } });
  return host.closed();
};

const holdingOf = (host: PlayedHost) => ({
  bundle: host.assignment?.bundle ?? baseState,
  stateDigest: baseState,
});

describe('the generation of a host', () => {
  it('increases when the host is assigned and when the assignment ends, and reports of older generations are refused', async () => {
    const [session, host] = await inState(control, 'READY');
    expect(host.generation).toBe(1);
    await control.send(closeSession, {
      params: { sessionId: session.id },
      body: { keepWarm: true },
    });
    await host.calls();
    expect(await host.closed()).toBe('recycle');
    expect(host.generation).toBe(2);
    const stale = { ...host, generation: 1 };
    expect(stale.generation).toBe(1);
    host.generation = 1;
    await expect(host.calls(0)).rejects.toMatchObject({ code: 'conflict' });
    await expect(host.warm(holdingOf(host))).rejects.toMatchObject({ code: 'conflict' });
    expect(await host.closed()).toBe('recycle');
  });

  it('lets a host poll its assignment again if the answer was lost', async () => {
    const host = await warmHost(control);
    const session = await openNotes(control);
    expect((await host.poll())?.sessionId).toBe(session.id);
    host.generation = 0;
    expect((await host.poll())?.sessionId).toBe(session.id);
    expect((await host.poll())?.generation).toBe(1);
  });

  it('lets a host repeat its warm report, also after it was assigned', async () => {
    const host = await launchHost(control);
    expect(await host.warm()).toBe('warm');
    expect(await host.warm()).toBe('warm');
    await openNotes(control);
    expect(await host.warm()).toBe('assigned');
  });

  it('allows a heartbeat that crosses an assignment or a drain', async () => {
    const host = await warmHost(control);
    await openNotes(control);
    expect(await host.beat()).toEqual({ drain: false });
    await host.poll();
    await host.ready();
    await drain(control, host, 'silent');
    expect(await host.beat()).toEqual({ drain: true });
    await gone(control, host);
    await expect(host.beat()).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is refused in every report of a host that is marked as gone', async () => {
    const host = await warmHost(control);
    await gone(control, host);
    await expect(host.poll(0)).rejects.toMatchObject({ code: 'conflict' });
    await expect(host.warm()).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('recycling', () => {
  it('makes a host warm again if its state digest is unchanged', async () => {
    const host = await warmHost(control);
    expect(await serveOnce(host)).toBe('recycle');
    expect((await rowOf(control, host))?.state).toBe('recycling');
    expect(await host.warm(holdingOf(host))).toBe('warm');
  });

  it('drains a host whose state digest differs or is missing', async () => {
    const dirty = await warmHost(control);
    await serveOnce(dirty);
    const stateDigest = `sha256:${'1'.repeat(64)}` as const;
    expect(await dirty.warm({ ...holdingOf(dirty), stateDigest })).toBe('draining');
    expect(await rowOf(control, dirty)).toMatchObject({
      state: 'draining',
      end_reason: 'not_clean',
      end_detail: expect.stringContaining(stateDigest),
    });

    const silent = await warmHost(control);
    await serveOnce(silent);
    expect(await silent.warm()).toBe('draining');
  });

  it('drains a host that reports remains of its session, assigns it no other session, and shows the remains to operators', async () => {
    const host = await warmHost(control);
    await serveOnce(host);
    const found = ['process 12 (sleep) had outlived its worker', '/tmp/x was left'];
    expect(await host.warm(holdingOf(host), found)).toBe('draining');
    expect(await host.warm(holdingOf(host))).toBe('draining');
    await openNotes(control);
    expect(await host.poll(0)).toBeUndefined();
    const { body } = await control.admin(listHosts, {});
    expect(body.hosts.find(({ id }) => id === host.id)).toMatchObject({
      endReason: 'not_clean',
      endDetail: found.join('; '),
    });
  });

  it('drains a host that does not report a check for remains', async () => {
    const host = await warmHost(control);
    await serveOnce(host);
    const body = { generation: host.generation, holding: holdingOf(host) };
    const result = await host.send(reportWarm, { params: { hostId: host.id }, body });
    expect(result.body.state).toBe('draining');
  });

  it('stops after the maximum number of sessions of the host', async () => {
    const host = await warmHost(control);
    // Two or three here: each host has a limit of its own, from half of the maximum up.
    const served: string[] = [await serveOnce(host)];
    while (served.at(-1) === 'recycle') {
      await host.warm(holdingOf(host));
      served.push(await serveOnce(host));
    }
    expect([2, 3]).toContain(served.length);
    expect(await rowOf(control, host)).toMatchObject({ state: 'draining', end_reason: 'worn' });
  });

  it('is refused for a host whose session was closed before the host had loaded it', async () => {
    const [session, host] = await inState(control, 'PROVISIONING');
    const params = { sessionId: session.id };
    await control.send(closeSession, { params, body: { keepWarm: true } });
    expect(await host.closed()).toBe('exit');
  });
});

describe('a host whose address changes', () => {
  const elsewhere = 'http://127.0.0.1:4711';
  const move = (host: PlayedHost, address: string | null) =>
    control.pool(reportLaunched, { params: { hostId: host.id }, body: { address } });
  const addresses = async () =>
    (await control.pool(observePool, { query: { installation } })).body.hosts.map(
      ({ address }) => address,
    );

  it('is listed at the new address, and keeps its runtime id', async () => {
    const [, host] = await inState(control, 'READY');
    expect(await addresses()).toEqual([playedAddress(host.id)]);
    await move(host, elsewhere);
    expect(await addresses()).toEqual([elsewhere]);
    const [row] = await control.sql(
      'select runtime_id, launched_at is null as never from hosts where id = $1',
      [host.id],
    );
    expect(row).toEqual({ runtime_id: `run-${host.id}`, never: false });
  });

  it('gets no session while it has no address, and a waiting one when it has an address again', async () => {
    const host = await warmHost(control);
    await move(host, null);
    expect(await addresses()).toEqual([null]);
    const session = await openNotes(control);
    expect(session.assignedAt).toBeNull();
    expect(await host.poll(0)).toBeUndefined();
    await move(host, elsewhere);
    expect(await host.poll()).toMatchObject({ sessionId: session.id });
    expect(await addresses()).toEqual([elsewhere]);
  });

  it('receives the new address in reply to its next heartbeat, but only while it has a session', async () => {
    const [, host] = await inState(control, 'READY');
    expect(await host.beat()).toEqual({ drain: false, address: playedAddress(host.id) });
    await move(host, elsewhere);
    expect(await host.beat()).toEqual({ drain: false, address: elsewhere });
    const idle = await warmHost(control);
    await move(idle, 'http://127.0.0.1:4712');
    expect(await idle.beat()).toEqual({ drain: false });
  });

  it('keeps the new address when a late launch report names another address', async () => {
    const [, host] = await inState(control, 'READY');
    await move(host, elsewhere);
    const body = { runtimeId: `run-${host.id}`, address: 'http://127.0.0.1:1' };
    await control.pool(reportLaunched, { params: { hostId: host.id }, body });
    expect(await addresses()).toEqual([elsewhere]);
  });

  it('keeps its last address while it serves a session, if the runtime reports no address', async () => {
    const [, host] = await inState(control, 'READY');
    await move(host, null);
    expect(await addresses()).toEqual([playedAddress(host.id)]);
  });
});
