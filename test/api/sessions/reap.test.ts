/** Tests the reaper: which sessions it ends and for which reasons, which sessions it keeps, and races with a call. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { reap } from '#wire/pool-api/operations.ts';
import {
  enqueueCall,
  getCall,
  getSession,
  openSession,
  updateSession,
} from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import type { StartedControl } from '../../support/control/control.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { startNotesControl } from '../../support/control/own-control.ts';

const minute = 60_000;
let control: StartedControl;

beforeAll(async () => {
  control = await startNotesControl();
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

/** Moves a time of a session back by some milliseconds. */
const age = (sessionId: string, column: string, ms: number) =>
  control.sql(
    `update sessions set ${column} = ${column} - $2 * interval '1 millisecond' where id = $1`,
    [sessionId, ms],
  );

const runReaper = async (): Promise<string[]> => {
  const body = {
    idleMs: 10 * minute,
    maxAgeMs: 600 * minute,
    provisionMs: 2 * minute,
    closingMs: minute,
  };
  return (await control.pool(reap, { body })).body.ended;
};

const read = async (sessionId: string): Promise<SessionView> =>
  (await control.send(getSession, { params: { sessionId } })).body;

const openReady = async (): Promise<[string, PlayedHost]> => {
  const host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  await host.poll();
  await host.ready();
  return [body.id, host];
};

const enqueue = (sessionId: string) =>
  control.send(enqueueCall, {
    params: { sessionId },
    body: { kind: 'tool', name: 'list_notes' },
    query: {},
  });

const pin = (sessionId: string) =>
  control.send(updateSession, { params: { sessionId }, body: { pinned: true } });

describe('an idle session', () => {
  it('is closed by its host, which then exits', async () => {
    const [sessionId, host] = await openReady();
    const polling = host.calls(10);
    await age(sessionId, 'last_activity_at', 11 * minute);
    expect(await runReaper()).toEqual([sessionId]);
    expect(await polling).toEqual({ close: { keepWarm: false } });
    expect(await host.closed()).toBe('exit');
    expect(await read(sessionId)).toMatchObject({ state: 'CLOSED', endReason: 'idle' });
  });

  it('is not ended before its time, nor when it was just claimed', async () => {
    const [sessionId] = await openReady();
    expect(await runReaper()).toEqual([]);
    expect((await read(sessionId)).state).toBe('READY');
  });

  it('stays open when it is pinned', async () => {
    const [sessionId] = await openReady();
    await pin(sessionId);
    await age(sessionId, 'last_activity_at', 100 * minute);
    expect(await runReaper()).toEqual([]);
  });

  it('stays open while a call waits or runs, for any length of time', async () => {
    const [sessionId, host] = await openReady();
    const { body } = await enqueue(sessionId);
    await age(sessionId, 'last_activity_at', 100 * minute);
    expect(await runReaper()).toEqual([]);
    await host.calls();
    expect(await runReaper()).toEqual([]);
    await host.answer(body.id, { output: 1 });
    expect(await runReaper()).toEqual([]);
    await age(sessionId, 'last_activity_at', 11 * minute);
    expect(await runReaper()).toEqual([sessionId]);
  });

  it('stays open when its host reports use of the API surface, but polls of its host do not count as use', async () => {
    const [sessionId, host] = await openReady();
    await age(sessionId, 'last_activity_at', 11 * minute);
    await host.beat(minute);
    expect(await runReaper()).toEqual([]);
    await age(sessionId, 'last_activity_at', 11 * minute);
    await host.beat(15 * minute);
    await host.calls(0);
    await host.beat();
    expect(await runReaper()).toEqual([sessionId]);
  });

  it('is either ended or gets a simultaneous call, never both', async () => {
    for (let round = 0; round < 15; round += 1) {
      const [sessionId, host] = await openReady();
      await age(sessionId, 'last_activity_at', 11 * minute);
      const [ended, called] = await Promise.all([
        runReaper(),
        enqueue(sessionId).then(
          ({ body }) => body,
          () => undefined,
        ),
      ]);
      const { state } = await read(sessionId);
      if (called === undefined) {
        expect([ended, state]).toEqual([[sessionId], 'CLOSING']);
      } else {
        expect([ended, state]).toEqual([[], 'READY']);
        expect((await host.calls()).call?.id).toBe(called.id);
      }
      await clearPool(control);
    }
  });
});

describe('a session over its maximum age', () => {
  it('is closed even if pinned; its waiting calls are cancelled and its running calls may finish', async () => {
    const [sessionId, host] = await openReady();
    await pin(sessionId);
    const running = (await enqueue(sessionId)).body.id;
    const waiting = (await enqueue(sessionId)).body.id;
    await host.calls();
    await age(sessionId, 'created_at', 601 * minute);
    expect(await runReaper()).toEqual([sessionId]);
    const next = await host.answer(running, { output: 1 });
    expect(next).toEqual({ close: { keepWarm: false } });
    await host.closed();
    expect(await read(sessionId)).toMatchObject({ state: 'CLOSED', endReason: 'max_age' });
    const cancelled = await control.send(getCall, { params: { sessionId, callId: waiting } });
    expect(cancelled.body.state).toBe('cancelled');
  });
});

describe('a stuck session', () => {
  it('fails with the reason when it gets no host', async () => {
    const { body } = await control.send(openSession, { body: { slug: 'notes' } });
    await age(body.id, 'state_since', 3 * minute);
    expect(await runReaper()).toEqual([body.id]);
    expect(await read(body.id)).toMatchObject({
      state: 'FAILED',
      endReason: 'provision_failed',
      error: { code: 'no_host' },
    });
  });

  it('fails when its host does not load it, and the host is drained', async () => {
    const host = await warmHost(control);
    const { body } = await control.send(openSession, { body: { slug: 'notes' } });
    await host.poll();
    await age(body.id, 'state_since', 3 * minute);
    expect(await runReaper()).toEqual([body.id]);
    expect(await read(body.id)).toMatchObject({ error: { code: 'load_timeout' } });
    await expect(host.ready()).rejects.toMatchObject({ code: 'conflict' });
    expect(await host.beat()).toEqual({ drain: true });
  });

  it('is closed when its host does not release it, and the host is drained', async () => {
    const [sessionId, host] = await openReady();
    await age(sessionId, 'last_activity_at', 11 * minute);
    await runReaper();
    await age(sessionId, 'state_since', 2 * minute);
    expect(await runReaper()).toEqual([sessionId]);
    expect(await read(sessionId)).toMatchObject({ state: 'CLOSED', endReason: 'idle' });
    expect(await host.beat()).toEqual({ drain: true });
    expect(await host.closed()).toBe('exit');
  });
});
