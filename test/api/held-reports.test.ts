/** Reports of a host whose answers are held for what comes next, and the end of a session with its last entries. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { reportClosed, reportReady, reportWarm } from '#wire/host-api/operations.ts';
import {
  closeSession,
  enqueueCall,
  getSession,
  listSessionRequests,
  openSession,
} from '#wire/public-api/operations.ts';
import { baseState, clearPool, type PlayedHost, warmHost } from '../support/host.ts';
import { type OwnControl, startNotesControl } from '../support/own-control.ts';

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

/** As a host tells it that has recycled itself before. */
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

/** A host that serves a session, ready and idle. */
const serving = async (): Promise<{ host: PlayedHost; sessionId: string }> => {
  const host = await warmHost(control);
  const sessionId = await open();
  await host.poll();
  await host.ready();
  return { host, sessionId };
};

describe('a report that a session is ready', () => {
  it('brings the first call back that comes, and the wish to close', async () => {
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

  it('brings back the call that waits already', async () => {
    const host = await warmHost(control);
    const sessionId = await open();
    await host.poll();
    const callId = await enqueue(sessionId);
    expect(await readyHeld(host)).toMatchObject({ call: { id: callId } });
    expect(await readyHeld(host), 'repeated').toMatchObject({ call: { id: callId } });
  });
});

describe('the end of a session', () => {
  it('comes with the last entries of its ledger, and is the same when it is repeated', async () => {
    const { host, sessionId } = await serving();
    const { generation } = host;
    await beginToClose(sessionId);
    const closed = await tellClosed(host, [entry(1), entry(2)]);
    expect(closed).toEqual({ generation: generation + 1, next: 'recycle', taken: true });
    expect(await tellClosed(host, [entry(1), entry(2)])).toEqual(closed);
    expect(await stateOf(sessionId)).toBe('CLOSED');
    expect(await entriesOf(sessionId)).toEqual([1, 2]);
  });

  it('takes them also where its host goes', async () => {
    const { host, sessionId } = await serving();
    await control.send(closeSession, { params: { sessionId }, query: {}, body: {} });
    expect(await tellClosed(host, [entry(1)])).toMatchObject({ next: 'exit', taken: true });
    expect(await entriesOf(sessionId)).toEqual([1]);
  });

  it('is refused whole for an entry that is none, of a generation before, and before anybody asked', async () => {
    const { host, sessionId } = await serving();
    await expect(tellClosed(host, [entry(1)])).rejects.toMatchObject({ code: 'conflict' });
    await beginToClose(sessionId);
    await expect(tellClosed(host, [entry(1), '{}'])).rejects.toMatchObject({ code: 'invalid' });
    const before = host.generation - 1;
    await expect(tellClosed(host, [entry(1)], before)).rejects.toMatchObject({ code: 'conflict' });
    expect(await stateOf(sessionId)).toBe('CLOSING');
    expect(await tellClosed(host, [entry(1)])).toMatchObject({ next: 'recycle' });
  });

  it('drops the oldest entries where they are too many by then', async () => {
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

describe('the end of a session whose host is recycled already', () => {
  it('makes the host warm, and brings the next session back, also when it is repeated', async () => {
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

  it('brings a session back that waits already', async () => {
    const { host, sessionId } = await serving();
    await beginToClose(sessionId);
    const next = await open();
    expect(await tellClosedClean(host)).toMatchObject({ assignment: { sessionId: next } });
  });

  it('is taken, and the host drained, where it does not prove clean', async () => {
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

  it('is refused of a generation before, and before anybody asked', async () => {
    const { host, sessionId } = await serving();
    await expect(tellClosedClean(host)).rejects.toMatchObject({ code: 'conflict' });
    await beginToClose(sessionId);
    host.generation -= 1;
    await expect(tellClosedClean(host)).rejects.toMatchObject({ code: 'conflict' });
    expect(await stateOf(sessionId)).toBe('CLOSING');
  });

  it('finds its host alive, which counts its generation up before it tells', async () => {
    const { host, sessionId } = await serving();
    await beginToClose(sessionId);
    host.generation += 1;
    expect(await host.beat()).toMatchObject({ drain: false });
    host.generation += 1;
    await expect(host.beat()).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('the end of a session whose ledger cannot be cut', () => {
  it('is told all the same, and takes nothing from its host', async () => {
    await control.sql(`create function refuse_cut() returns trigger language plpgsql
      as $$ begin raise exception 'no'; end $$`);
    await control.sql(`create trigger refuse_cut before delete on requests
      for each statement execute function refuse_cut()`);
    try {
      const { host, sessionId } = await serving();
      await beginToClose(sessionId);
      const query = { wait: holdSeconds };
      const closed = control.send(closeSession, { params: { sessionId }, query, body: {} });
      // An entry after others that are not known: they may be too many.
      expect(await tellClosed(host, [entry(7)])).toMatchObject({ next: 'recycle', taken: true });
      expect((await closed).body.state).toBe('CLOSED');
      expect(await entriesOf(sessionId)).toEqual([7]);
    } finally {
      await control.sql('drop function refuse_cut cascade');
    }
  });
});

describe('a report that a host is clean', () => {
  const recycled = async (): Promise<PlayedHost> => {
    const { host, sessionId } = await serving();
    await beginToClose(sessionId);
    await host.calls();
    host.generation = (await tellClosed(host, [entry(1)])).generation;
    return host;
  };

  it('brings the next session back', async () => {
    const host = await recycled();
    const held = warmHeld(host);
    await host.beat();
    const sessionId = await expectHeldBy(host);
    expect(await held).toMatchObject({ assignment: { sessionId } });
  });

  it('brings the same to a host that is told of it and to one that looks', async () => {
    const bodies = [
      { slug: 'notes', reuseWarm: true, seed: 7, clock: { mode: 'frozen' } },
      { slug: 'notes', reuseWarm: true, task: { instruction: 'Look.', seed: { rows: {} } } },
    ] as const;
    for (const body of bodies) {
      const host = await recycled();
      const told = warmHeld(host);
      await expectWarm(host);
      await control.send(openSession, { body });
      const { assignment } = await told;
      expect(assignment).toMatchObject({ generation: host.generation + 1 });
      expect(assignment).toEqual((await warmHeld(host)).assignment);
      await clearPool(control);
    }
  });

  it('brings the session back that waits already, also when it is repeated', async () => {
    const host = await recycled();
    const sessionId = await open();
    expect(await warmHeld(host)).toMatchObject({ state: 'assigned', assignment: { sessionId } });
    expect(await warmHeld(host), 'repeated').toMatchObject({ assignment: { sessionId } });
  });

  it('has one that is not clean drained at once', async () => {
    const host = await recycled();
    const params = { hostId: host.id };
    const body = { generation: host.generation, holding: holdingOf(host), hold: holdSeconds };
    const told = await host.send(reportWarm, { params, body: { ...body, found: ['a file'] } });
    expect(told.body).toEqual({ state: 'draining', drain: true });
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

  /** Opens a session once the host is warm; it is given that host. */
  const expectHeldBy = async (host: PlayedHost): Promise<string> => {
    await expectWarm(host);
    return open();
  };
});
