/**
 * Tests browsers of sessions: which session gets one, what the browser and its clients receive, and how a lost one is
 * replaced.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseSurfaceTemplate } from '#domain/surface-address.ts';
import { Secret } from '#runtime/secret.ts';
import { examine } from '#wire/admin-api/operations.ts';
import { resolveRoute } from '#wire/gateway-api/operations.ts';
import { acquireLease, observePool, publishPools, reportGone } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  createSurfaceLink,
  createWorld,
  getSession,
  openSession,
} from '#wire/public-api/operations.ts';
import type { OpenSessionBody } from '#wire/public-api/sessions/session.ts';
import { startTestControl } from '../../support/control/control.ts';
import { clearPool, installation, warmHost } from '../../support/control/host.ts';
import { warmBrowser } from '../../support/control/played-browser.ts';
import { setSettings } from '../../support/control/settings.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

const template = parseSurfaceTemplate('https://{session}--{surface}.worlds.test');
if (template === undefined) throw new Error('the template is not taken');
const gateway = { template, token: new Secret('gateway-token') };

let database: TestDatabase;
let control: Awaited<ReturnType<typeof startTestControl>>;
let fronted: typeof control;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  const config = { ...control.config, gateway };
  fronted = await startTestControl({ databaseUrl: database.url, replicaOf: { config } });
  const from = encodeTree(toTree(unlinkedWorld()));
  await control.send(createWorld, { body: { slug: 'board', from } });
});

afterEach(() => clearPool(control));

afterAll(async () => {
  await fronted.stop();
  await control.stop();
  await database.drop();
});

const open = async (body: OpenSessionBody = {}) =>
  (await control.send(openSession, { body: { slug: 'board', surfaces: ['browser'], ...body } }))
    .body;

const view = async (sessionId: string, at = control) =>
  (await at.send(getSession, { params: { sessionId }, query: {} })).body;

const linkTo = async (sessionId: string, opens?: 'all' | 'view' | 'devtools') =>
  (
    await control.send(createSurfaceLink, {
      params: { sessionId },
      body: { surface: 'browser', ...(opens === undefined ? {} : { opens }) },
    })
  ).body.url;

/** Opens a session whose world and browser are ready. */
const openWhole = async () => {
  const host = await warmHost(control);
  const browser = await warmBrowser(control);
  const { id } = await open();
  await host.poll();
  await host.ready();
  const assignment = await browser.poll();
  if (assignment === undefined) throw new Error('the browser got no session');
  await browser.ready();
  return { id, host, browser, assignment };
};

describe('a session with a browser', () => {
  it('is ready once its browser is ready, and the browser is assigned to the session once the page is served', async () => {
    const host = await warmHost(control);
    const browser = await warmBrowser(control);
    const { id, surfaces } = await open();
    expect(surfaces.browser).toMatchObject({ tier: 'standard', state: 'waiting' });
    expect(await browser.poll(0)).toBeUndefined();
    await host.poll();
    await host.ready();
    expect(await view(id)).toMatchObject({ state: 'READY', ready: false });
    const result = await browser.poll();
    expect(result).toMatchObject({ sessionId: id, tier: 'standard', lost: null, checkpoint: null });
    const page = (await view(id)).surfaces.ui?.url ?? '';
    expect(result?.entry).toBe(`${page}/`);
    expect(result?.reach[0]).toEqual({ origin: page });
    expect(result?.cookies[0]).toMatchObject({ url: `${page}/`, name: `svc-pass-${id}` });
    await browser.ready();
    const port = new URL(browser.address).port;
    expect(await view(id)).toMatchObject({
      ready: true,
      surfaces: {
        browser: {
          url: `http://${id}--browser.localhost:${port}/view`,
          cdpUrl: `ws://127.0.0.1:${port}/cdp`,
          state: 'ready',
          token: result?.token,
        },
      },
    });
  });

  it('has browser addresses of its own behind a gateway from the start', async () => {
    const host = await warmHost(control);
    const { id } = await open();
    expect((await view(id, fronted)).surfaces.browser).toMatchObject({
      url: `https://${id}--browser.worlds.test/view`,
      cdpUrl: `wss://${id}--browser.worlds.test/cdp`,
    });
    await host.poll();
    await host.ready();
    const route = async () =>
      (await fronted.gateway(resolveRoute, { params: { sessionId: id } })).body;
    expect(await route()).toMatchObject({ waiting: ['browser'] });
    const browser = await warmBrowser(control);
    await browser.poll();
    await browser.ready();
    expect((await route()).surfaces.browser).toBe(browser.address);
  });

  it('does not show the DevTools token to a public key', async () => {
    const { id } = await openWhole();
    const { body } = await control.read(getSession, { params: { sessionId: id }, query: {} });
    expect(body.surfaces.browser).not.toHaveProperty('token');
  });

  it('is reported to the orchestrator as waiting for a browser of its tier, apart from sessions that wait for a world', async () => {
    await warmBrowser(control, 'premium');
    const { id } = await open();
    const { body } = await control.pool(observePool, { query: { installation } });
    expect(body.waiting).toEqual([
      expect.objectContaining({ size: ':browser', tier: 'standard', count: 1, oldest: id }),
      expect.objectContaining({ size: 'standard', tier: 'standard', count: 1 }),
    ]);
    expect((await view(id)).surfaces.browser?.state).toBe('waiting');
  });

  it('counts the clients of its browser as activity', async () => {
    const { id, browser } = await openWhole();
    await control.sql(
      `update sessions set last_activity_at = now() - interval '1 hour' where id = $1`,
      [id],
    );
    await browser.beat(0);
    expect(Date.now() - Date.parse((await view(id)).lastActivityAt)).toBeLessThan(60_000);
  });

  it('ends with its browser recycled for the next session, and its checkpoint deleted', async () => {
    const { id, host, browser } = await openWhole();
    await browser.keep(1, '{"cookies": []}');
    expect(await browser.isClosed()).toBe(false);
    const closing = browser.isClosed(5);
    await control.send(closeSession, { params: { sessionId: id }, body: {} });
    expect(await closing).toBe(true);
    await host.closed();
    expect(await browser.closed()).toBe('recycle');
    expect(
      await control.sql('select 1 from browser_checkpoints where session_id = $1', [id]),
    ).toEqual([]);
    expect(await browser.warm()).toBe('warm');
  });
});

describe('opening a session with a browser', () => {
  it('is refused for a world without a page, and where no pool has browsers', async () => {
    const bare = unlinkedWorld();
    const manifest = 'connector.toml';
    bare.text[manifest] = (bare.text[manifest] ?? '').replace(/\[ui\][^[]*/, '');
    const from = encodeTree(toTree(bare));
    await control.send(createWorld, { body: { slug: 'bare', from } });
    await expect(open({ slug: 'bare' })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('no surface "ui" for a browser to show'),
    });
    const lease = { installation, holder: 'tests', ttlMs: 60_000 };
    await control.pool(acquireLease, { body: lease });
    const pool = {
      ...{
        name: 'default',
        tier: null,
        isolation: 'process' as const,
        size: 'standard',
        minimum: 0,
      },
      ...{ maximum: 9, target: 0, held: null, worlds: [] },
    } as const;
    await control.pool(publishPools, { body: { installation, pools: [pool] } });
    await expect(open()).rejects.toMatchObject({
      code: 'conflict',
      detail: { error: 'no_browser', browserTier: 'standard' },
      message: expect.stringContaining('apt-get install chromium'),
    });
    await control.pool(publishPools, { body: { installation, pools: [] } });
    await control.pool(acquireLease, { body: { ...lease, ttlMs: 0 } });
    await control.sql('delete from leases');
  });

  it('uses the browser tier of the project if the request names none', async () => {
    const set = (browserTier: 'premium' | null) => setSettings(control, { browserTier });
    expect((await set('premium')).browserTier).toBe('premium');
    expect((await open()).browserTier).toBe('premium');
    expect((await open({ browserTier: 'standard' })).browserTier).toBe('standard');
    await set(null);
    expect((await open()).browserTier).toBe('standard');
  });
});

/** Returns the finding of the doctor about browsers. */
const doctorOnBrowsers = async () => {
  const { body } = await control.admin(examine, {});
  return body.checks.find(({ name }) => name === 'browsers');
};

describe('the doctor', () => {
  it('reports how many sessions wait for a browser, and warns when one has waited too long', async () => {
    expect(await doctorOnBrowsers()).toMatchObject({ status: 'ok' });
    const { id } = await open();
    expect(await doctorOnBrowsers()).toEqual({
      ...{ name: 'browsers', status: 'ok', fix: null },
      message: 'waiting for a browser: 1, not for long',
    });
    const past = `update session_browsers set wanted_since = now() - interval '40 s' where session_id = $1`;
    await control.sql(past, [id]);
    expect(await doctorOnBrowsers()).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^waiting for a browser: 1, the oldest for 4\d s$/),
    });
  });
});

describe('a lost browser', () => {
  it('is replaced by another one that continues from the last checkpoint with the same token', async () => {
    const { id, browser, assignment } = await openWhole();
    await browser.keep(1, '{"n": 1}');
    await browser.keep(3, '{"n": 3}');
    await browser.keep(2, '{"n": 2}');
    await control.pool(reportGone, { params: { hostId: browser.id }, body: { reason: 'exited' } });
    expect(await view(id)).toMatchObject({ state: 'READY', ready: false });
    const next = await warmBrowser(control);
    const result = await next.poll();
    expect(result).toMatchObject({
      ...{ sessionId: id, token: assignment.token, lost: 'exited', checkpoint: '{"n": 3}' },
      address: browser.address,
    });
    await next.ready(browser.address);
    expect((await view(id)).surfaces.browser?.cdpUrl).toContain(new URL(browser.address).port);
    await next.keep(1, '{"n": 4}');
    await expect(browser.keep(9, '{"n": 9}')).rejects.toMatchObject({ code: 'conflict' });
    const [kept] = await control.sql<{ content: string }>(
      'select content from browser_checkpoints where session_id = $1',
      [id],
    );
    expect(kept?.content).toBe('{"n": 4}');
  });

  it('is replaced at once when it reports that it is leaving', async () => {
    const { id, browser } = await openWhole();
    const spare = await warmBrowser(control);
    await browser.leave();
    expect(await spare.poll()).toMatchObject({ sessionId: id, lost: 'reclaimed' });
  });

  it('is not replaced again after several failed starts in a row, and other sessions still get browsers', async () => {
    const host = await warmHost(control);
    const { id } = await open();
    await host.poll();
    await host.ready();
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const browser = await warmBrowser(control);
      expect(await browser.poll()).toMatchObject({ sessionId: id });
      await control.pool(reportGone, {
        params: { hostId: browser.id },
        body: { reason: 'exited' },
      });
    }
    expect(await view(id)).toMatchObject({
      ready: false,
      surfaces: { browser: { state: 'failed' } },
    });
    expect(await doctorOnBrowsers()).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^sessions that get no more browsers.*: 1$/),
    });
    const spare = await warmBrowser(control);
    expect(await spare.poll(0)).toBeUndefined();
  });
});

describe('a link to a browser', () => {
  it('opens its target once, only in its own session, while the session lives', async () => {
    const { id, host, browser } = await openWhole();
    const links = [await linkTo(id), await linkTo(id, 'view'), await linkTo(id, 'devtools')];
    expect(links[0]).toMatch(/--browser\.localhost:\d+\/\.svc\/enter\?token=/);
    expect(links[2]).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/cdp\?ticket=/);
    for (const [index, opens] of ['all', 'view', 'devtools'].entries()) {
      expect(await browser.consume(links[index] ?? '')).toEqual({ accepted: true, opens });
      expect(await browser.consume(links[index] ?? '')).toEqual({ accepted: false });
    }
    const other = await openWhole();
    const foreign = await linkTo(id);
    expect(await other.browser.consume(foreign)).toEqual({ accepted: false });
    expect(await browser.consume(foreign, 'ui')).toEqual({ accepted: false });
    await control.send(closeSession, { params: { sessionId: id }, body: {} });
    await expect(linkTo(id)).rejects.toMatchObject({ code: 'conflict' });
    await host.closed();
    await browser.closed();
    await expect(browser.consume(foreign)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is refused for a target that the surface does not have', async () => {
    const { id } = await openWhole();
    const body = { surface: 'ui', opens: 'devtools' } as const;
    await expect(
      control.send(createSurfaceLink, { params: { sessionId: id }, body }),
    ).rejects.toMatchObject({ code: 'invalid' });
  });
});
