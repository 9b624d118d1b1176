/**
 * Tests ledger entries that a host could not deliver: the control plane counts them, and the error of the session
 * names the count.
 */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { reportClosed } from '#wire/host-api/operations.ts';
import { reportGone } from '#wire/pool-api/operations.ts';
import { getSession, listSessionRequests } from '#wire/public-api/operations.ts';
import { clearPool, type PlayedHost } from '../../support/control/host.ts';
import { inState } from '../../support/control/host-states.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl();
});
afterEach(() => clearPool(control));
afterAll(() => control.stop());

const entry = (id: number) => ({
  ...{ id, at: new Date(Date.UTC(2026, 0, 1) + id * 1_000).toISOString(), via: 'api' },
  ...{ operation: 'add_note', method: 'POST', path: '/notes', status: 201, duration_ms: 1 },
  ...{ request: null, response: null, changes: {}, rows: [], call_id: null },
});

const stateOf = async (sessionId: string) => {
  const params = { sessionId };
  const { body } = await control.send(getSession, { params });
  const { meta } = (await control.read(listSessionRequests, { params, query: {} })).body;
  const { state, endReason, error } = body;
  return { state, endReason, error, dropped: meta.dropped };
};

const goneWith = (host: PlayedHost, sessionId: string, lastEntry: number) =>
  control.pool(reportGone, {
    params: { hostId: host.id },
    body: { reason: 'exited', ledger: { sessionId, lastEntry } },
  });

it('entries after the last delivered one are counted as lost when a host is killed', async () => {
  const [session, host] = await inState(control, 'READY');
  await host.requests([entry(1), entry(2), entry(3)]);
  const counted = {
    state: 'FAILED',
    endReason: 'host_lost',
    error: {
      code: 'exited',
      message:
        "the session's host ended (exited); 7 entries of its request ledger never reached the control plane",
    },
    dropped: 7,
  };
  await goneWith(host, session.id, 10);
  expect(await stateOf(session.id)).toEqual(counted);
  await goneWith(host, session.id, 10);
  expect(await stateOf(session.id)).toEqual(counted);
});

it('all entries are counted as lost if none was delivered', async () => {
  const [session, host] = await inState(control, 'READY');
  await goneWith(host, session.id, 1);
  expect(await stateOf(session.id)).toMatchObject({
    error: { message: expect.stringContaining('; 1 entry of its request ledger never reached') },
    dropped: 1,
  });
});

it('lost entries are also counted for a closed session', async () => {
  const [session, host] = await inState(control, 'CLOSING');
  await host.requests([entry(1), entry(4)]);
  await host.send(reportClosed, {
    params: { sessionId: session.id },
    body: { generation: host.generation, lost: { entries: 3, lastEntry: 5 } },
  });
  expect(await stateOf(session.id)).toEqual({
    state: 'CLOSED',
    endReason: 'requested',
    error: {
      code: 'ledger_incomplete',
      message: '3 entries of its request ledger never reached the control plane',
    },
    dropped: 3,
  });
});

it('no entries are counted if all were delivered, or if they belong to another session', async () => {
  const [session, host] = await inState(control, 'READY');
  const [other, otherHost] = await inState(control, 'READY');
  await host.requests([entry(1)]);
  await goneWith(host, session.id, 1);
  await goneWith(otherHost, session.id, 9);
  for (const { id } of [session, other]) {
    expect(await stateOf(id)).toMatchObject({
      error: { message: "the session's host ended (exited)" },
      dropped: 0,
    });
  }
});
