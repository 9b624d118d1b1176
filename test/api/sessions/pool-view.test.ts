/** Tests pool operations of the orchestrator: launch intents, and the view of the pool with its revision. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drainHost, observePool, registerHost, reportGone } from '#wire/pool-api/operations.ts';
import { createWorld, openSession } from '#wire/public-api/operations.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import {
  anyHost,
  clearPool,
  installation,
  launchHost,
  warmHost,
} from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  await control.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
});

afterEach(() => clearPool(control));

afterAll(async () => {
  await control.stop();
  await database.drop();
});

const open = async () => (await control.send(openSession, { body: { slug: 'notes' } })).body;

describe('a launch intent', () => {
  it('is refused beyond the limit of the pool, even when many arrive at once', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => launchHost(control, 5)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'exhausted', detail: { full: 'pool' } });
    }
  });

  it('counts draining hosts toward the limit, but not hosts that have ended', async () => {
    const host = await warmHost(control);
    const params = { hostId: host.id };
    await control.pool(drainHost, { params, body: { reason: 'surplus' } });
    const body = { ...anyHost, maxLive: 1 };
    await expect(control.pool(registerHost, { body })).rejects.toMatchObject({ code: 'exhausted' });
    await control.pool(reportGone, { params, body: { reason: 'exited' } });
    expect((await control.pool(registerHost, { body })).status).toBe(201);
  });
});

describe('the view of the pool', () => {
  const observe = async (after?: string, hold = 0) => {
    const query = { installation, hold, ...(after === undefined ? {} : { after }) };
    return (await control.pool(observePool, { query })).body;
  };

  it('shows hosts and demand of its own installation only', async () => {
    const host = await warmHost(control);
    const view = await observe();
    expect(view).toMatchObject({
      waiting: [],
      hosts: [{ id: host.id, pool: 'default', state: 'warm', sessionId: null, launched: true }],
    });
    const other = await control.pool(observePool, { query: { installation: 'other' } });
    expect(other.body.hosts).toEqual([]);
  });

  it('is returned to a waiting request once it changes, and only then has a new revision', async () => {
    const host = await warmHost(control);
    const { revision } = await observe();
    expect((await observe()).revision).toBe(revision);
    await host.beat();
    expect((await observe(revision, 0.05)).revision).toBe(revision);
    const held = observe(revision, 10);
    const session = await open();
    const seen = await held;
    expect(seen.revision).not.toBe(revision);
    expect(seen.hosts[0]).toMatchObject({
      state: 'assigned',
      sessionId: session.id,
      serves: 'standard',
    });
  });

  it('returns only the revision to a brief request that waits for a change', async () => {
    await warmHost(control);
    const { revision } = await observe();
    const query = { installation, brief: true, hold: 10 };
    const news = async (after?: string) =>
      (
        await control.pool(observePool, {
          query: after === undefined ? query : { ...query, after },
        })
      ).body;
    expect(await news()).toEqual({ revision, hosts: [], waiting: [], worlds: [] });
    const held = news(revision);
    await open();
    expect((await held).revision).toBe((await observe()).revision);
  });

  it('shows a session without a fitting host as waiting', async () => {
    await open();
    expect((await observe()).waiting).toMatchObject([
      { tier: 'standard', isolation: null, size: 'standard', count: 1 },
    ]);
  });
});
