/** Tests the API for gateways: routes of sessions, the feed of changes, and one-time links. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { parseSurfaceTemplate } from '#domain/surface-address.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import { examine } from '#wire/admin-api/operations.ts';
import { consumeLink, followRoutes, resolveRoute } from '#wire/gateway-api/operations.ts';
import { reportLaunched } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  createSurfaceLink,
  createWorld,
  enqueueCall,
  getSession,
  openSession,
} from '#wire/public-api/operations.ts';
import type { Queryable } from '../../../src/control/db/core/database.ts';
import { valuesOf } from '../../../src/control/db/core/parameters.ts';
import { mostRefused, noteGateway } from '../../../src/control/db/sessions/gateways.ts';
import { startTestControl, type TestControl } from '../../support/control/control.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';

const template = parseSurfaceTemplate('https://{session}--{surface}.worlds.test');
if (template === undefined) throw new Error('the template is not taken');
const gateway = { template, token: new Secret('gateway-token') };

let database: TestDatabase;
let control: TestControl & Awaited<ReturnType<typeof startTestControl>>;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url, gateway });
  await control.send(createWorld, { body: { slug: 'code-hosting', from: 'code-hosting' } });
});

afterEach(() => clearPool(control));

afterAll(async () => {
  await control.stop();
  await database.drop();
});

const open = async () =>
  (await control.send(openSession, { body: { slug: 'code-hosting' }, query: {} })).body;

const openReady = async () => {
  const host = await warmHost(control);
  const { id } = await open();
  await host.poll();
  await host.ready();
  return { id, host };
};

const resolve = async (sessionId: string) =>
  (await control.gateway(resolveRoute, { params: { sessionId } })).body;

const follow = async (after?: string, hold = 0) =>
  (await control.gateway(followRoutes, { query: { ...(after ? { after } : {}), hold } })).body;

const close = (sessionId: string) =>
  control.send(closeSession, { params: { sessionId }, query: {}, body: {} });

describe('gateways', () => {
  it('are counted by the doctor, which also lists gateways with a wrong token', async () => {
    const found = async () =>
      (await control.admin(examine, {})).body.checks.find(({ name }) => name === 'gateways');
    const becomes = (message: string) =>
      until(async () => (await found())?.message === message, { timeoutMs: 30_000, what: message });
    expect(await found()).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('no gateway has asked for routes within a minute'),
    });
    const headers = { authorization: 'Bearer of-another-installation' };
    const path = '/api/gateway/changes?hold=0';
    expect(await control.raw({ method: 'GET', path, headers })).toMatchObject({ status: 401 });
    const wrong = 'a request with a wrong gateway token came from';
    const none =
      'no gateway has asked for routes within a minute, so no session can be reached by its address';
    await becomes(`${none}; ${wrong} 127.0.0.1`);
    expect(await found()).toMatchObject({
      status: 'failed',
      fix: expect.stringContaining('SVC_GATEWAY_TOKEN'),
    });
    await follow();
    await becomes('1 ask for routes');
    expect(await found()).toMatchObject({ status: 'ok' });
    const db: Queryable = {
      query: (one, values) => control.sql(one.text, valuesOf(one, values)) as Promise<never[]>,
    };
    await noteGateway(db, '127.0.0.1', 'refused');
    expect(await found()).toMatchObject({
      status: 'warning',
      message: `1 ask for routes; ${wrong} 127.0.0.1`,
    });
    for (let last = 1; last < 2 * mostRefused; last += 1) {
      await noteGateway(db, `10.0.0.${last}`, 'refused');
    }
    expect((await found())?.message).toMatch(`${wrong} 127.0.0.1, 10.0.0.1, 10.0.0.10 and 18 more`);
    await noteGateway(db, '127.0.0.2', 'seen');
    expect((await found())?.message).toMatch(/^2 ask for routes/);
  });
});

describe('the route of a session', () => {
  it('leads to its host only while the session is ready', async () => {
    const waiting = await open();
    expect(await resolve(waiting.id)).toEqual({
      sessionId: waiting.id,
      state: 'PROVISIONING',
      endReason: null,
      surfaces: {},
    });
    await close(waiting.id);
    expect(await resolve(waiting.id)).toMatchObject({ state: 'CLOSED', endReason: 'requested' });

    const { id, host } = await openReady();
    const [{ address } = {}] = await control.sql<{ address: string }>(
      'select address from hosts where id = $1',
      [host.id],
    );
    expect(await resolve(id)).toMatchObject({ state: 'READY', surfaces: { api: address } });
    await close(id);
    expect(await resolve(id)).toMatchObject({ state: 'CLOSING', surfaces: {} });
  });

  it('is shown only to gateways', async () => {
    const sessionId = newId('ses');
    await expect(resolve(sessionId)).rejects.toMatchObject({ code: 'not_found' });
    for (const send of [control.pool, control.read, control.send]) {
      const sent = send(resolveRoute, { params: { sessionId } });
      await expect(sent).rejects.toMatchObject({ code: 'unauthenticated' });
    }
  });
});

describe('the feed of routes', () => {
  it('reports each change once, also changes made at another replica', async () => {
    const other = await startTestControl({ databaseUrl: database.url, replicaOf: control });
    try {
      const begin = await follow();
      expect(begin).toMatchObject({ missed: true, sessionIds: [] });
      expect(await follow(begin.cursor)).toEqual({ ...begin, missed: false });
      const { id } = await openReady();
      const ready = await follow(begin.cursor, 20);
      expect(ready.sessionIds).toContain(id);

      const held = follow(ready.cursor, 20);
      await other.send(closeSession, { params: { sessionId: id }, query: {}, body: {} });
      expect(await held).toMatchObject({ missed: false, sessionIds: [id] });

      const elsewhere = await other.gateway(followRoutes, { query: { after: ready.cursor } });
      expect(elsewhere.body.missed).toBe(true);
    } finally {
      await other.stop();
    }
  });

  it('reports a session whose host has a new address', async () => {
    const { id, host } = await openReady();
    const { cursor } = await follow();
    const address = 'http://127.0.0.1:4711';
    const held = follow(cursor, 20);
    await control.pool(reportLaunched, { params: { hostId: host.id }, body: { address } });
    expect(await held).toMatchObject({ missed: false, sessionIds: [id] });
    expect(await resolve(id)).toMatchObject({ surfaces: { api: address } });
  });

  it('does not report calls', async () => {
    const { id } = await openReady();
    const { cursor } = await follow();
    const body = { kind: 'state' } as const;
    await control.send(enqueueCall, { params: { sessionId: id }, body, query: {} });
    expect(await follow(cursor)).toEqual({ cursor, missed: false, sessionIds: [] });
  });

  it('marks changes as missed when notifications were lost', async () => {
    const { cursor } = await follow();
    await control.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'svc-control-listen' and datname = current_database()`,
    );
    await until(async () => (await follow(cursor)).missed, {
      timeoutMs: 10_000,
      what: 'the break of the feed',
    });
  });
});

describe('the address of a surface', () => {
  it('is at the gateway from the open of the session to its end', async () => {
    const { id, surfaces } = await open();
    const api = { url: `https://${id}--api.worlds.test`, token: expect.stringMatching(/^st-/) };
    const mcp = { url: `https://${id}--mcp.worlds.test/mcp`, token: api.token };
    expect(surfaces).toEqual({ api, mcp });
    const host = await warmHost(control);
    expect(await host.poll()).toMatchObject({ sessionId: id, address: api.url });
    expect(await host.beat()).toEqual({ drain: false, address: api.url });
    await close(id);
    const read = await control.send(getSession, { params: { sessionId: id }, query: {} });
    expect(read.body.surfaces).toEqual({});
  });
});

describe('a link to a surface', () => {
  const link = (sessionId: string, body: { surface?: 'ui' | 'browser' } = {}) =>
    control.send(createSurfaceLink, { params: { sessionId }, body });
  const consume = async (sessionId: string, token: string, surface: 'ui' | 'browser' = 'ui') => {
    const body = { surface, token };
    return (await control.gateway(consumeLink, { params: { sessionId }, body })).body.accepted;
  };
  const withUi = async (): Promise<string> => {
    const { id } = await open();
    await control.sql(`update sessions set surfaces = '{api,ui}' where id = $1`, [id]);
    return id;
  };
  const tokenOf = (url: string): string => new URL(url).searchParams.get('token') ?? '';

  it('can be used once, only for its own session and surface', async () => {
    const id = await withUi();
    const { status, body } = await link(id);
    expect(status).toBe(201);
    expect(body.url).toMatch(`https://${id}--ui.worlds.test/.svc/enter?token=lt-`);
    expect(Date.parse(body.expiresAt)).toBeGreaterThan(Date.now());
    const token = tokenOf(body.url);
    expect(await consume(newId('ses'), token)).toBe(false);
    expect(await consume(id, token, 'browser')).toBe(false);
    expect(await Promise.all([consume(id, token), consume(id, token)])).toContain(true);
    expect(await consume(id, token)).toBe(false);
  });

  it('is refused after it expires, and is deleted when the next one is created', async () => {
    const id = await withUi();
    const old = tokenOf((await link(id)).body.url);
    await control.sql(`update surface_links set expires_at = now() - interval '1 second'`);
    expect(await consume(id, old)).toBe(false);
    await link(id);
    const [left] = await control.sql<{ n: number }>('select count(*)::int as n from surface_links');
    expect(left?.n).toBe(1);
  });

  it('is not created for a session that does not serve the surface, and the error gives the reason', async () => {
    const { id } = await open();
    await expect(link(id)).rejects.toThrow(
      `${id} was opened without the surface "ui": open a session with it, by surfaces ["ui"] or svc worlds session open <world> --surface ui`,
    );
    await close(id);
    await expect(link(id)).rejects.toThrow(`${id} is CLOSED`);
    await expect(link(newId('ses'))).rejects.toMatchObject({ code: 'not_found' });
    const read = control.read(createSurfaceLink, { params: { sessionId: id }, body: {} });
    await expect(read).rejects.toMatchObject({ code: 'forbidden' });
  });
});
