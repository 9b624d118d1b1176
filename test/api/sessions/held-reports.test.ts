/** Tests host reports that are long polls for the next work, and the end of a session with its last ledger entries. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { reportClosed, reportReady, reportWarm } from '#wire/host-api/operations.ts';
import {
  closeSession,
  enqueueCall,
  getSession,
  listSessionRequests,
  openSession,
} from '#wire/public-api/operations.ts';
import { baseState, clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl();
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

const holdSeconds = 10;

const open = async (): Promise<string> =>
  (await control.send(openSession, { body: { slug: 'notes', reuseWarm: true } })).body.id;

const enqueue = async (sessionId: string): Promise<string> => {
  const body = { kind: 'tool', name: 'list_notes' } as const;
  return (await control.send(enqueueCall, { params: { sessionId }, body, query: {} })).body.id;
};

const beginToClose = (sessionId: string) =>
  control.send(closeSession, { params: { sessionId }, query: {}, body: { keepWarm: true } });

const holdingOf = (host: PlayedHost) => ({
  bundle: host.assignment?.bundle ?? baseState,
  stateDigest: baseState,
});

const readyHeld = async (host: PlayedHost) => {
  const params = { sessionId: host.assignment?.sessionId ?? '' };
  const body = { generation: host.generation, holding: holdingOf(host), hold: holdSeconds };
  return (await host.send(reportReady, { params, body })).body;
};

const warmHeld = async (host: PlayedHost) => {
  const { generation, id: hostId } = host;
  const body = { generation, holding: holdingOf(host), found: [], hold: holdSeconds };
  return (await host.send(reportWarm, { params: { hostId }, body })).body;
};

const entry = (id: number, more = {}): string =>
  JSON.stringify({
    ...{ id, at: '2026-01-01T00:00:00.000Z', via: 'tool', operation: 'list_notes', method: null },
    ...{ path: null, status: null, request: {}, response: [], duration_ms: 1, changes: {} },
    ...{ rows: [], call_id: null, ...more },
  });

const tellClosed = async (host: PlayedHost, entries: string[], generation = host.generation) => {
  const params = { sessionId: host.assignment?.sessionId ?? '' };
  return (await host.send(reportClosed, { params, body: { generation, entries } })).body;
};

/** Reports the end of a session from a host that has already recycled itself. */
const tellClosedClean = async (
  host: PlayedHost,
  { found = [] as string[], holding = holdingOf(host), hold = holdSeconds } = {},
) => {
  const params = { sessionId: host.assignment?.sessionId ?? '' };
  const recycled = { holding, found };
  const body = { generation: host.generation, entries: [entry(1)], recycled, hold };
  return (await host.send(reportClosed, { params, body })).body;
};

const hostOf = async ({ id }: PlayedHost) => {
  const [row] = await control.sql<{ state: string; generation: number; end_reason: string | null }>(
    'select state, generation, end_reason from hosts where id = $1',
    [id],
  );
  return row;
};

const entriesOf = async (sessionId: string): Promise<number[]> => {
  const read = await control.read(listSessionRequests, { params: { sessionId }, query: {} });
  return read.body.data.map(({ id }) => id);
};

const stateOf = async (sessionId: string) =>
  (await control.send(getSession, { params: { sessionId }, query: {} })).body.state;

/** Creates a host that serves a session, ready and idle. */
const serving = async (): Promise<{ host: PlayedHost; sessionId: string }> => {
  const host = await warmHost(control);
  const sessionId = await open();
  await host.poll();
  await host.ready();
  return { host, sessionId };
};

describe('a report that a session is ready', () => {
  it('returns the first call that arrives, or the request to close', async () => {
    for (const first of ['call', 'close'] as const) {
      const host = await warmHost(control);
      const sessionId = await open();
      await host.poll();
      const held = readyHeld(host);
      await expect.poll(() => stateOf(sessionId), { timeout: 60_000 }).toBe('READY');
      if (first === 'call') {
        const callId = await enqueue(sessionId);
        expect(await held).toMatchObject({ call: { id: callId } });
      } else {
        await beginToClose(sessionId);
        expect(await held).toEqual({ close: { keepWarm: true, together: true } });
      }
      await clearPool(control);
    }
  });

  it('returns the call that is already queued', async () => {
    const host = await warmHost(control);
    const sessionId = await open();
    await host.poll();
    const callId = await enqueue(sessionId);
    expect(await readyHeld(host)).toMatchObject({ call: { id: callId } });
    expect(await readyHeld(host), 'repeated').toMatchObject({ call: { id: callId } });
  });
});

describe('the end of a session', () => {
  it('delivers the last entries of the ledger, and gets the same answer when it is reported again', async () => {
    const { host, sessionId } = await serving();
    const { generation } = host;
    await beginToClose(sessionId);
    const closed = await tellClosed(host, [entry(1), entry(2)]);
    expect(closed).toEqual({ generation: generation + 1, next: 'recycle', taken: true });
    expect(await tellClosed(host, [entry(1), entry(2)])).toEqual(closed);
    expect(await stateOf(sessionId)).toBe('CLOSED');
    expect(await entriesOf(sessionId)).toEqual([1, 2]);
  });

  it('stores the last entries also if its host exits', async () => {
    const { host, sessionId } = await serving();
    await control.send(closeSession, { params: { sessionId }, query: {}, body: {} });
    expect(await tellClosed(host, [entry(1)])).toMatchObject({ next: 'exit', taken: true });
    expect(await entriesOf(sessionId)).toEqual([1]);
  });

  it('is refused as a whole with an invalid entry, from an older generation, and before a close was requested', async () => {
    const { host, sessionId } = await serving();
    await expect(tellClosed(host, [entry(1)])).rejects.toMatchObject({ code: 'conflict' });
    await beginToClose(sessionId);
    await expect(tellClosed(host, [entry(1), '{}'])).rejects.toMatchObject({ code: 'invalid' });
    const before = host.generation - 1;
    await expect(tellClosed(host, [entry(1)], before)).rejects.toMatchObject({ code: 'conflict' });
    expect(await stateOf(sessionId)).toBe('CLOSING');
    expect(await tellClosed(host, [entry(1)])).toMatchObject({ next: 'recycle' });
  });

  it("drops the oldest entries of the ledger beyond the ledger's limit", async () => {
    const { host, sessionId } = await serving();
    const id = 6_000;
    await host.requests([entry(1)]);
    await beginToClose(sessionId);
    await control.sql(
      `insert into requests (session_id, world_id, id, at, via, duration_ms, request, response, changes, rows, bytes)
       select s.id, s.world_id, n, now(), 'tool', 1, '{}', '[]', '{}', '[]', 8
         from sessions s, generate_series(2, ${id - 1}) n where s.id = $1`,
      [sessionId],
    );
    await tellClosed(host, [entry(id)]);
    const [kept] = await control.sql<{ least: number; count: number }>(
      'select min(id) as least, count(*)::int as count from requests where session_id = $1',
      [sessionId],
    );
    expect(kept).toEqual({ least: id - 4_999, count: 5_000 });
  });
});

describe('the end of a session whose host is already recycled', () => {
  it('makes the host warm and returns the next session, also when it is repeated', async () => {
    const { host, sessionId } = await serving();
    const { generation } = host;
    await beginToClose(sessionId);
    const held = tellClosedClean(host);
    await expect
      .poll(() => hostOf(host), { timeout: 60_000 })
      .toMatchObject({ state: 'warm', generation: generation + 1 });
    expect(await stateOf(sessionId)).toBe('CLOSED');
    expect(await entriesOf(sessionId)).toEqual([1]);
    const repeated = await tellClosedClean(host, { hold: 0 });
    expect(repeated).toEqual({ generation: generation + 1, next: 'warm', taken: true });
    const next = await open();
    const directive = {
      next: 'warm',
      generation: generation + 1,
      assignment: { sessionId: next, generation: generation + 2 },
    };
    expect(await held).toMatchObject(directive);
    expect(await tellClosedClean(host), 'repeated later').toMatchObject(directive);
  });

  it('returns a session that is already waiting', async () => {
    const { host, sessionId } = await serving();
    await beginToClose(sessionId);
    const next = await open();
    expect(await tellClosedClean(host)).toMatchObject({ assignment: { sessionId: next } });
  });

  it('is accepted, and the host is drained if its report names remains of the session', async () => {
    for (const unclean of [
      { found: ['a file'] },
      { holding: { bundle: baseState, stateDigest: `sha256:${'1'.repeat(64)}` as const } },
    ]) {
      const { host, sessionId } = await serving();
      await beginToClose(sessionId);
      expect(await tellClosedClean(host, unclean)).toMatchObject({ next: 'warm', drain: true });
      expect(await hostOf(host)).toMatchObject({ state: 'draining', end_reason: 'not_clean' });
      expect(await stateOf(sessionId)).toBe('CLOSED');
      expect(await entriesOf(sessionId)).toEqual([1]);
      await clearPool(control);
    }
  });

  it('is refused from an older generation, and before a close was requested', async () => {
    const { host, sessionId } = await serving();
    await expect(tellClosedClean(host)).rejects.toMatchObject({ code: 'conflict' });
    await beginToClose(sessionId);
    host.generation -= 1;
    await expect(tellClosedClean(host)).rejects.toMatchObject({ code: 'conflict' });
    expect(await stateOf(sessionId)).toBe('CLOSING');
  });

  it('accepts a heartbeat with the next generation before the end is reported', async () => {
    const { host, sessionId } = await serving();
    await beginToClose(sessionId);
    host.generation += 1;
    expect(await host.beat()).toMatchObject({ drain: false });
    host.generation += 1;
    await expect(host.beat()).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('the end of a session whose ledger cannot be trimmed', () => {
  it('is accepted all the same, and loses no entry of its host', async () => {
    await control.sql(`create function refuse_cut() returns trigger language plpgsql
      as $$ begin raise exception 'no'; end $$`);
    await control.sql(`create trigger refuse_cut before delete on requests
      for each statement execute function refuse_cut()`);
    try {
      const { host, sessionId } = await serving();
      await beginToClose(sessionId);
      const query = { wait: holdSeconds };
      const closed = control.send(closeSession, { params: { sessionId }, query, body: {} });
      // This entry follows unknown entries, so the ledger may have too many.
      expect(await tellClosed(host, [entry(7)])).toMatchObject({ next: 'recycle', taken: true });
      expect((await closed).body.state).toBe('CLOSED');
      expect(await entriesOf(sessionId)).toEqual([7]);
    } finally {
      await control.sql('drop function refuse_cut cascade');
    }
  });
});

describe('the warm report of a recycled host', () => {
  const recycled = async (): Promise<PlayedHost> => {
    const { host, sessionId } = await serving();
    await beginToClose(sessionId);
    await host.calls();
    host.generation = (await tellClosed(host, [entry(1)])).generation;
    return host;
  };

  it('returns the next session', async () => {
    const host = await recycled();
    const held = warmHeld(host);
    await host.beat();
    const sessionId = await expectHeldBy(host);
    expect(await held).toMatchObject({ assignment: { sessionId } });
  });

  it('returns the same assignment to a report that waits for work and to a repeated report', async () => {
    const bodies = [
      { slug: 'notes', reuseWarm: true, seed: 7, clock: { mode: 'frozen' } },
      { slug: 'notes', reuseWarm: true, task: { instruction: 'Look.', seed: { rows: {} } } },
    ] as const;
    for (const body of bodies) {
      const host = await recycled();
      const result = warmHeld(host);
      await expectWarm(host);
      await control.send(openSession, { body });
      const { assignment } = await result;
      expect(assignment).toMatchObject({ generation: host.generation + 1 });
      expect(assignment).toEqual((await warmHeld(host)).assignment);
      await clearPool(control);
    }
  });

  it('returns the session that is already waiting, also when it is repeated', async () => {
    const host = await recycled();
    const sessionId = await open();
    expect(await warmHeld(host)).toMatchObject({ state: 'assigned', assignment: { sessionId } });
    expect(await warmHeld(host), 'repeated').toMatchObject({ assignment: { sessionId } });
  });

  it('immediately drains a host whose report names remains of its session', async () => {
    const host = await recycled();
    const params = { hostId: host.id };
    const body = { generation: host.generation, holding: holdingOf(host), hold: holdSeconds };
    const result = await host.send(reportWarm, { params, body: { ...body, found: ['a file'] } });
    expect(result.body).toEqual({ state: 'draining', drain: true });
  });

  const expectWarm = async (host: PlayedHost): Promise<void> => {
    const state = async () => {
      const [row] = await control.sql<{ state: string }>('select state from hosts where id = $1', [
        host.id,
      ]);
      return row?.state;
    };
    await expect.poll(state, { timeout: 60_000 }).toBe('warm');
  };

  /** Waits until the host is warm, and opens a session, which that host gets. */
  const expectHeldBy = async (host: PlayedHost): Promise<string> => {
    await expectWarm(host);
    return open();
  };
});
