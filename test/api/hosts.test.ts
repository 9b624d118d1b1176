import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SessionState } from '#domain/session.ts';
import { listHosts } from '#wire/admin-api/operations.ts';
import { reportLeaving, reportWarm } from '#wire/host-api/operations.ts';
import { drainHost, observePool, reportGone, reportLaunched } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  enqueueCall,
  getCall,
  getSession,
  openSession,
} from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/session.ts';
import {
  baseState,
  clearPool,
  installation,
  launchHost,
  type PlayedHost,
  playedAddress,
  warmHost,
} from '../support/host.ts';
import { type OwnControl, startNotesControl } from '../support/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl({ hostMaxUses: 3 });
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

const open = async (): Promise<SessionView> =>
  (await control.send(openSession, { body: { slug: 'notes', reuseWarm: true } })).body;

const read = async (sessionId: string): Promise<SessionView> =>
  (await control.send(getSession, { params: { sessionId } })).body;

const enqueue = async (sessionId: string): Promise<string> => {
  const body = { kind: 'tool', name: 'list_notes' } as const;
  return (await control.send(enqueueCall, { params: { sessionId }, body, query: {} })).body.id;
};

const stateOfCall = async (sessionId: string, callId: string) =>
  (await control.send(getCall, { params: { sessionId, callId } })).body;

const gone = (host: PlayedHost, reason = 'exited') =>
  control.pool(reportGone, { params: { hostId: host.id }, body: { reason } });

const drain = (host: PlayedHost, reason: string, ifState?: 'warm' | 'assigned') =>
  control.pool(drainHost, {
    params: { hostId: host.id },
    body: { reason, ...(ifState === undefined ? {} : { ifState }) },
  });

const rowOf = async (host: PlayedHost) => {
  const [row] = await control.sql<{
    state: string;
    generation: number;
    end_reason: string | null;
    end_detail: string | null;
  }>('select state, generation, end_reason, end_detail from hosts where id = $1', [host.id]);
  return row;
};

/** A session with a host that is as far as the state says. */
const inState = async (state: SessionState): Promise<[SessionView, PlayedHost]> => {
  const host = await warmHost(control);
  const session = await open();
  await host.poll();
  if (state === 'PROVISIONING') return [session, host];
  await host.ready();
  if (state === 'CLOSING') {
    await control.send(closeSession, { params: { sessionId: session.id }, body: {} });
  }
  return [session, host];
};

/** Serves a session to its end and recycles. */
const serveOnce = async (host: PlayedHost): Promise<'recycle' | 'exit'> => {
  const session = await open();
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
  it('goes up with an assignment and with its end, and messages of older ones are refused', async () => {
    const [session, host] = await inState('READY');
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

  it('lets a poll receive the assignment again when its answer was lost', async () => {
    const host = await warmHost(control);
    const session = await open();
    expect((await host.poll())?.sessionId).toBe(session.id);
    host.generation = 0;
    expect((await host.poll())?.sessionId).toBe(session.id);
    expect((await host.poll())?.generation).toBe(1);
  });

  it('lets a host repeat its warm report, also when it has been given a session meanwhile', async () => {
    const host = await launchHost(control);
    expect(await host.warm()).toBe('warm');
    expect(await host.warm()).toBe('warm');
    await open();
    expect(await host.warm()).toBe('assigned');
  });

  it('accepts a heartbeat that crosses the assignment or its end', async () => {
    const host = await warmHost(control);
    await open();
    expect(await host.beat()).toEqual({ drain: false });
    await host.poll();
    await host.ready();
    await drain(host, 'silent');
    expect(await host.beat()).toEqual({ drain: true });
    await gone(host);
    await expect(host.beat()).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is refused for a host that counts as gone, so that it stops', async () => {
    const host = await warmHost(control);
    await gone(host);
    await expect(host.poll(0)).rejects.toMatchObject({ code: 'conflict' });
    await expect(host.warm()).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('recycling', () => {
  it('makes a host warm again when it proves to be unchanged', async () => {
    const host = await warmHost(control);
    expect(await serveOnce(host)).toBe('recycle');
    expect((await rowOf(host))?.state).toBe('recycling');
    expect(await host.warm(holdingOf(host))).toBe('warm');
  });

  it('drains a host that has changed, or does not say that it has not', async () => {
    const dirty = await warmHost(control);
    await serveOnce(dirty);
    const stateDigest = `sha256:${'1'.repeat(64)}` as const;
    expect(await dirty.warm({ ...holdingOf(dirty), stateDigest })).toBe('draining');
    expect(await rowOf(dirty)).toMatchObject({
      state: 'draining',
      end_reason: 'not_clean',
      end_detail: expect.stringContaining(stateDigest),
    });

    const silent = await warmHost(control);
    await serveOnce(silent);
    expect(await silent.warm()).toBe('draining');
  });

  it('drains a host that found remains of its session, gives it no other, and tells operators', async () => {
    const host = await warmHost(control);
    await serveOnce(host);
    const found = ['process 12 (sleep) had outlived its worker', '/tmp/x was left'];
    expect(await host.warm(holdingOf(host), found)).toBe('draining');
    expect(await host.warm(holdingOf(host))).toBe('draining');
    await open();
    expect(await host.poll(0)).toBeUndefined();
    const { body } = await control.admin(listHosts, {});
    expect(body.hosts.find(({ id }) => id === host.id)).toMatchObject({
      endReason: 'not_clean',
      endDetail: found.join('; '),
    });
  });

  it('drains a host that did not look for remains of its session', async () => {
    const host = await warmHost(control);
    await serveOnce(host);
    const body = { generation: host.generation, holding: holdingOf(host) };
    const told = await host.send(reportWarm, { params: { hostId: host.id }, body });
    expect(told.body.state).toBe('draining');
  });

  it('stops when the host has served as many sessions as it may', async () => {
    const host = await warmHost(control);
    // Of three at most: each host has a limit of its own.
    const served: string[] = [await serveOnce(host)];
    while (served.at(-1) === 'recycle') {
      await host.warm(holdingOf(host));
      served.push(await serveOnce(host));
    }
    expect([2, 3]).toContain(served.length);
    expect(await rowOf(host)).toMatchObject({ state: 'draining', end_reason: 'worn' });
  });

  it('is refused to a host whose session was closed before it was loaded', async () => {
    const [session, host] = await inState('PROVISIONING');
    const params = { sessionId: session.id };
    await control.send(closeSession, { params, body: { keepWarm: true } });
    expect(await host.closed()).toBe('exit');
  });
});

describe('a lost host', () => {
  it('fails a session that was in use, loses its call and cancels what waits', async () => {
    const [session, host] = await inState('READY');
    const running = await enqueue(session.id);
    const waiting = await enqueue(session.id);
    await host.calls();
    await gone(host);
    expect(await read(session.id)).toMatchObject({
      state: 'FAILED',
      endReason: 'host_lost',
      error: { code: 'exited' },
      surfaces: {},
    });
    expect(await stateOfCall(session.id, running)).toMatchObject({
      state: 'lost',
      error: { code: 'host_lost' },
    });
    expect(await stateOfCall(session.id, waiting)).toMatchObject({ state: 'cancelled' });
    await expect(host.answer(running, { output: 1 })).rejects.toMatchObject({ code: 'conflict' });
    expect(await rowOf(host)).toMatchObject({ state: 'gone', generation: 2, end_reason: 'exited' });
  });

  it('lets a session that was not ready have another one, three in all', async () => {
    const session = await open();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(await read(session.id)).toMatchObject({ state: 'PROVISIONING', assignedAt: null });
      const host = await warmHost(control);
      expect((await host.poll())?.sessionId).toBe(session.id);
      await gone(host);
    }
    expect(await read(session.id)).toMatchObject({
      state: 'FAILED',
      endReason: 'provision_failed',
      error: { code: 'exited' },
    });
  });

  it('closes a session that was being closed', async () => {
    const [session, host] = await inState('CLOSING');
    await gone(host);
    expect(await read(session.id)).toMatchObject({ state: 'CLOSED', endReason: 'requested' });
  });

  it('leaves its session the reason of the runtime, and operators its last output, too', async () => {
    const [session, host] = await inState('READY');
    await control.pool(reportGone, {
      params: { hostId: host.id },
      body: { reason: 'exited', detail: 'exit status 1', output: 'no answer from 10.0.0.7' },
    });
    expect((await read(session.id)).error).toEqual({
      code: 'exited',
      message: "the session's host ended (exited: exit status 1)",
    });
    const { body } = await control.admin(listHosts, { query: { state: 'gone' } });
    expect(body.hosts.find(({ id }) => id === host.id)?.endDetail).toBe(
      'exit status 1\nno answer from 10.0.0.7',
    );
  });

  it('may be reported gone again', async () => {
    const [, host] = await inState('READY');
    await gone(host);
    await gone(host, 'out_of_memory');
    expect(await rowOf(host)).toMatchObject({ state: 'gone', end_reason: 'exited' });
  });

  it('gets not_found when it never existed', async () => {
    const params = { hostId: 'hst-none' };
    await expect(
      control.pool(reportGone, { params, body: { reason: 'exited' } }),
    ).rejects.toMatchObject({ code: 'not_found' });
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

  it('is shown at the new address, and nothing else of it changes', async () => {
    const [, host] = await inState('READY');
    expect(await addresses()).toEqual([playedAddress(host.id)]);
    await move(host, elsewhere);
    expect(await addresses()).toEqual([elsewhere]);
    const [row] = await control.sql(
      'select runtime_id, launched_at is null as never from hosts where id = $1',
      [host.id],
    );
    expect(row).toEqual({ runtime_id: `run-${host.id}`, never: false });
  });

  it('is given no session while it has no address, and a waiting one when it has one again', async () => {
    const host = await warmHost(control);
    await move(host, null);
    expect(await addresses()).toEqual([null]);
    const session = await open();
    expect(session.assignedAt).toBeNull();
    expect(await host.poll(0)).toBeUndefined();
    await move(host, elsewhere);
    expect(await host.poll()).toMatchObject({ sessionId: session.id });
    expect(await addresses()).toEqual([elsewhere]);
  });

  it('learns the address of its session by its next heartbeat, and a host without a session learns none', async () => {
    const [, host] = await inState('READY');
    expect(await host.beat()).toEqual({ drain: false, address: playedAddress(host.id) });
    await move(host, elsewhere);
    expect(await host.beat()).toEqual({ drain: false, address: elsewhere });
    const idle = await warmHost(control);
    await move(idle, 'http://127.0.0.1:4712');
    expect(await idle.beat()).toEqual({ drain: false });
  });

  it('keeps the new address when the report of its launch comes late', async () => {
    const [, host] = await inState('READY');
    await move(host, elsewhere);
    const body = { runtimeId: `run-${host.id}`, address: 'http://127.0.0.1:1' };
    await control.pool(reportLaunched, { params: { hostId: host.id }, body });
    expect(await addresses()).toEqual([elsewhere]);
  });

  it('keeps its last address while it serves a session', async () => {
    const [, host] = await inState('READY');
    await move(host, null);
    expect(await addresses()).toEqual([playedAddress(host.id)]);
  });
});

describe('a drained host', () => {
  const reasons: [string, string][] = [
    ['out_of_memory', 'out_of_memory'],
    ['shutdown', 'reclaimed'],
    ['silent', 'host_lost'],
    ['exited', 'host_lost'],
  ];

  it.each(reasons)('ends its session for the reason %s as %s', async (reason, endReason) => {
    const [session, host] = await inState('READY');
    await drain(host, reason);
    expect(await read(session.id)).toMatchObject({ state: 'FAILED', endReason });
    expect(await rowOf(host)).toMatchObject({ state: 'draining', end_reason: reason });
    expect(await host.poll(0)).toBeUndefined();
  });

  it('is told so by its poll', async () => {
    const host = await warmHost(control);
    const { pollHost } = await import('#wire/host-api/operations.ts');
    const polling = host.send(pollHost, {
      params: { hostId: host.id },
      body: { generation: 0, hold: 10 },
    });
    await drain(host, 'surplus');
    expect((await polling).body).toEqual({ drain: true });
  });

  it('is not drained as surplus once a session has it', async () => {
    const [session, host] = await inState('READY');
    const conflict = { code: 'conflict', detail: { state: 'assigned' } };
    await expect(drain(host, 'surplus')).rejects.toMatchObject(conflict);
    await expect(drain(host, 'silent', 'warm')).rejects.toMatchObject(conflict);
    expect((await read(session.id)).state).toBe('READY');
  });

  it('is not claimed at the same moment: exactly one of the two happens', async () => {
    for (let round = 0; round < 10; round += 1) {
      const host = await warmHost(control);
      const [drained, session] = await Promise.all([
        drain(host, 'surplus', 'warm').then(
          () => true,
          () => false,
        ),
        open(),
      ]);
      const [row] = await control.sql<{ id: string }>(
        'select id from hosts where session_id = $1',
        [session.id],
      );
      expect(row === undefined).toBe(drained);
      await clearPool(control);
    }
  });
});

describe('a host whose machine tells it to stop', () => {
  const leave = (host: PlayedHost) =>
    host.send(reportLeaving, { params: { hostId: host.id }, body: { generation: 0 } });

  it('reports it, and its session ends as reclaimed', async () => {
    const [session, host] = await inState('READY');
    await leave(host);
    await leave(host);
    expect(await read(session.id)).toMatchObject({ state: 'FAILED', endReason: 'reclaimed' });
    expect(await rowOf(host)).toMatchObject({ state: 'draining', end_reason: 'reclaimed' });
  });

  it('gives back a session that it has not loaded, which another host serves', async () => {
    const [session, host] = await inState('PROVISIONING');
    await leave(host);
    expect(await read(session.id)).toMatchObject({ state: 'PROVISIONING', assignedAt: null });
    expect((await (await warmHost(control)).poll())?.sessionId).toBe(session.id);
  });

  it('can report for itself alone', async () => {
    const [host, other] = [await warmHost(control), await warmHost(control)];
    const message = { params: { hostId: other.id }, body: { generation: 0 } };
    await expect(host.send(reportLeaving, message)).rejects.toMatchObject({ code: 'forbidden' });
  });
});
