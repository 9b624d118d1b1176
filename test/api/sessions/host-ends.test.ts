/** Tests hosts that are lost, drained or stopped by their machine, and the effect on their sessions. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listHosts } from '#wire/admin-api/operations.ts';
import { reportLeaving } from '#wire/host-api/operations.ts';
import { reportGone } from '#wire/pool-api/operations.ts';
import { enqueueCall, getCall, getSession } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { drain, gone, inState, openNotes, rowOf } from '../../support/control/host-states.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl({ hostMaxUses: 3 });
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

const read = async (sessionId: string): Promise<SessionView> =>
  (await control.send(getSession, { params: { sessionId } })).body;

const enqueue = async (sessionId: string): Promise<string> => {
  const body = { kind: 'tool', name: 'list_notes' } as const;
  return (await control.send(enqueueCall, { params: { sessionId }, body, query: {} })).body.id;
};

const stateOfCall = async (sessionId: string, callId: string) =>
  (await control.send(getCall, { params: { sessionId, callId } })).body;

describe('a lost host', () => {
  it('fails a session in use, loses its running call and cancels its queued calls', async () => {
    const [session, host] = await inState(control, 'READY');
    const running = await enqueue(session.id);
    const waiting = await enqueue(session.id);
    await host.calls();
    await gone(control, host);
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
    expect(await rowOf(control, host)).toMatchObject({
      state: 'gone',
      generation: 2,
      end_reason: 'exited',
    });
  });

  it("has its reason shown in the errors of its session's calls, and in refusals of new calls", async () => {
    const [session, host] = await inState(control, 'READY');
    const running = await enqueue(session.id);
    const waiting = await enqueue(session.id);
    await host.calls();
    const detail = 'killed: out of memory';
    await control.pool(reportGone, {
      params: { hostId: host.id },
      body: { reason: 'out_of_memory', detail },
    });
    const sessionError = {
      code: 'out_of_memory',
      message: "the session's host ended (out_of_memory: killed: out of memory)",
    };
    for (const callId of [running, waiting]) {
      expect((await stateOfCall(session.id, callId)).error).toMatchObject({
        message: expect.stringContaining(detail),
        details: { reason: 'out_of_memory', sessionError },
      });
    }
    await expect(enqueue(session.id)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(detail),
      detail: { state: 'FAILED', endReason: 'out_of_memory', sessionError },
    });
  });

  it('has its session assigned to another host if the session was not yet ready, up to three hosts in all', async () => {
    const session = await openNotes(control);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(await read(session.id)).toMatchObject({ state: 'PROVISIONING', assignedAt: null });
      const host = await warmHost(control);
      expect((await host.poll())?.sessionId).toBe(session.id);
      await gone(control, host);
    }
    expect(await read(session.id)).toMatchObject({
      state: 'FAILED',
      endReason: 'provision_failed',
      error: { code: 'exited' },
    });
  });

  it('closes a session that was being closed', async () => {
    const [session, host] = await inState(control, 'CLOSING');
    await gone(control, host);
    expect(await read(session.id)).toMatchObject({ state: 'CLOSED', endReason: 'requested' });
  });

  it('gives its session the reason of the runtime, and operators its last output as well', async () => {
    const [session, host] = await inState(control, 'READY');
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

  it('keeps its first reason when it is reported gone again', async () => {
    const [, host] = await inState(control, 'READY');
    await gone(control, host);
    await gone(control, host, 'out_of_memory');
    expect(await rowOf(control, host)).toMatchObject({ state: 'gone', end_reason: 'exited' });
  });

  it('gets not_found in reply to its report if no such host ever existed', async () => {
    const params = { hostId: 'hst-none' };
    await expect(
      control.pool(reportGone, { params, body: { reason: 'exited' } }),
    ).rejects.toMatchObject({ code: 'not_found' });
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
    const [session, host] = await inState(control, 'READY');
    await drain(control, host, reason);
    expect(await read(session.id)).toMatchObject({ state: 'FAILED', endReason });
    expect(await rowOf(control, host)).toMatchObject({ state: 'draining', end_reason: reason });
    expect(await host.poll(0)).toBeUndefined();
  });

  it('is informed of the drain in reply to its poll', async () => {
    const host = await warmHost(control);
    const { pollHost } = await import('#wire/host-api/operations.ts');
    const polling = host.send(pollHost, {
      params: { hostId: host.id },
      body: { generation: 0, hold: 10 },
    });
    await drain(control, host, 'surplus');
    expect((await polling).body).toEqual({ drain: true });
  });

  it('cannot be drained as surplus once it is assigned to a session', async () => {
    const [session, host] = await inState(control, 'READY');
    const conflict = { code: 'conflict', detail: { state: 'assigned' } };
    await expect(drain(control, host, 'surplus')).rejects.toMatchObject(conflict);
    await expect(drain(control, host, 'silent', 'warm')).rejects.toMatchObject(conflict);
    expect((await read(session.id)).state).toBe('READY');
  });

  it('is never assigned as well: of a drain and an assignment at the same moment, exactly one happens', async () => {
    for (let round = 0; round < 10; round += 1) {
      const host = await warmHost(control);
      const [drained, session] = await Promise.all([
        drain(control, host, 'surplus', 'warm').then(
          () => true,
          () => false,
        ),
        openNotes(control),
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

describe('a host whose machine is stopping', () => {
  const leave = (host: PlayedHost) =>
    host.send(reportLeaving, { params: { hostId: host.id }, body: { generation: 0 } });

  it('reports the stop, and its session ends as reclaimed', async () => {
    const [session, host] = await inState(control, 'READY');
    await leave(host);
    await leave(host);
    expect(await read(session.id)).toMatchObject({ state: 'FAILED', endReason: 'reclaimed' });
    expect(await rowOf(control, host)).toMatchObject({
      state: 'draining',
      end_reason: 'reclaimed',
    });
  });

  it('gives back a session that it has not loaded, and another host serves the session', async () => {
    const [session, host] = await inState(control, 'PROVISIONING');
    await leave(host);
    expect(await read(session.id)).toMatchObject({ state: 'PROVISIONING', assignedAt: null });
    expect((await (await warmHost(control)).poll())?.sessionId).toBe(session.id);
  });

  it('can report only for itself', async () => {
    const [host, other] = [await warmHost(control), await warmHost(control)];
    const message = { params: { hostId: other.id }, body: { generation: 0 } };
    await expect(host.send(reportLeaving, message)).rejects.toMatchObject({ code: 'forbidden' });
  });
});
