import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '#runtime/pause.ts';
import {
  type Site,
  type StartedBrowser,
  startBrowserForTest,
  startSite,
} from '#test/support/browser/browser-program.ts';
import { processesNaming } from '#test/support/programs/processes.ts';
import type { Surface } from './program.ts';

/** Timeout for hooks: Chromium starts and stops in them, on machines that are busy with other work. */
const hookMs = 60_000;

let site: Site;
let browser: StartedBrowser;
let surface: Surface;
let client: Browser | undefined;

const waiting = { timeoutMs: 20_000 };

/** Returns the first page of the browser, as a client that has just connected sees it. */
const connect = async (): Promise<Page> => {
  const headers = { authorization: `Bearer ${surface.token}` };
  client = await chromium.connectOverCDP(surface.cdpUrl, { headers });
  return client.contexts()[0]?.pages()[0] as Page;
};

/** Connects a client that records why its connection is closed. */
const listen = async (): Promise<{ closed: Promise<{ code: number; reason: string }> }> => {
  const socket = new WebSocket(browser.cdpLink());
  const closed = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }));
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 1, method: 'Browser.getVersion' }));
  await once(socket, 'message');
  return { closed };
};

const crash = (): void => {
  process.kill(browser.status().pid as number, 'SIGKILL');
};

const restored = () =>
  until(() => browser.events.find(({ kind }) => kind === 'restored'), {
    ...waiting,
    what: 'restored',
  });

const checkpointWith = (text: string) =>
  until(() => browser.checkpoints.find((one) => JSON.stringify(one).includes(text)), {
    ...waiting,
    what: `a checkpoint with ${text}`,
  });

beforeAll(async () => {
  site = await startSite();
}, hookMs);

afterEach(async () => {
  await client?.close();
  client = undefined;
  await browser.stop();
}, hookMs);

afterAll(() => site.close());

const assign = async (env: Record<string, string> = {}): Promise<void> => {
  browser = await startBrowserForTest(env);
  surface = await browser.assign({ entry: `${site.origin}/`, reach: [{ origin: site.origin }] });
};

describe('a browser that is killed', { timeout: 60_000 }, () => {
  it('is replaced with its cookies, storage and tabs, and its clients are notified', async () => {
    await assign();
    const page = await connect();
    await page.goto(`${site.origin}/login?user=ada`);
    await page.evaluate(() => sessionStorage.setItem('scratch', 'half a thought'));
    const second = await page.context().newPage();
    await second.goto(`${site.origin}/second`);
    await checkpointWith('/second');
    const { closed } = await listen();
    const before = await page.textContent('#visits');
    crash();
    expect(await closed).toEqual({ code: 4_000, reason: 'browser_lost' });
    expect(await restored()).toMatchObject({ tabs: 2 });
    expect(browser.events).toContainEqual(
      expect.objectContaining({ kind: 'crashed', signal: 'SIGKILL' }),
    );
    const pages = (await connect()).context().pages();
    const urls = pages.map((one) => one.url());
    expect(new Set(urls)).toEqual(new Set([`${site.origin}/`, `${site.origin}/second`]));
    const again = pages[urls.indexOf(`${site.origin}/`)] as Page;
    await again.getByRole('heading', { name: 'Hello ada' }).waitFor();
    expect(await again.textContent('#scratch')).toBe('half a thought');
    const visits = Number((await again.textContent('#visits'))?.slice('visits '.length));
    expect(visits).toBeGreaterThan(Number(before?.slice('visits '.length)));
  });

  it('is replaced at once by a spare browser, which has nothing of an earlier session', async () => {
    await assign({ SVC_BROWSER_SPARE: 'yes' });
    const first = browser.status().pid;
    await until(() => browser.status().hasSpare, { ...waiting, what: 'the spare' });
    const page = await connect();
    await page.goto(`${site.origin}/login?user=ada`);
    await checkpointWith('ada');
    crash();
    await restored();
    const again = await connect();
    await again.getByRole('heading', { name: 'Hello ada' }).waitFor();
    await until(() => browser.status().hasSpare, { ...waiting, what: 'another spare' });
    await browser.reset(`${site.origin}/`);
    await client?.close();
    const fresh = await connect();
    await fresh.getByRole('heading', { name: 'No user is logged in' }).waitFor();
    expect(browser.status().pid).not.toBe(first);
    await browser.end();
    expect(browser.status()).toMatchObject({ condition: 'warm', hasSpare: false });
  });

  it('is restored from a checkpoint that another program took', async () => {
    await assign();
    const page = await connect();
    await page.goto(`${site.origin}/login?user=grace`);
    const checkpoint = await browser.checkpoint();
    await client?.close();
    await browser.stop();
    browser = await startBrowserForTest();
    const reach = [{ origin: site.origin }];
    surface = await browser.assign({ entry: `${site.origin}/`, reach, checkpoint });
    await (await connect()).getByRole('heading', { name: 'Hello grace' }).waitFor();
  });

  it('serves clients that connect while it starts, and fails for good when it is lost repeatedly', async () => {
    await assign();
    crash();
    const isLost = () => browser.events.some(({ kind }) => kind === 'crashed');
    await until(isLost, { ...waiting, what: 'the loss' });
    expect((await connect()).url()).toBe(`${site.origin}/`);
    await client?.close();
    for (let losses = 2; losses <= 6; losses += 1) {
      await until(() => browser.status().condition === 'serving', { ...waiting, what: 'serving' });
      crash();
      const lost = () => browser.events.filter(({ kind }) => kind === 'crashed').length === losses;
      await until(lost, { ...waiting, what: `loss ${losses}` });
    }
    await until(() => browser.status().condition === 'failed', { ...waiting, what: 'giving up' });
    const socket = new WebSocket(browser.cdpLink());
    const [code, reason] = await once(socket, 'close');
    expect([code, String(reason)]).toEqual([4_006, 'browser_failed']);
    await browser.reset();
    expect((await connect()).url()).toBe(`${site.origin}/`);
  });
});

describe('the browser of a session', { timeout: 60_000 }, () => {
  it('has a fresh profile on the entry page after a reset, and notifies its clients', async () => {
    await assign();
    const page = await connect();
    await page.goto(`${site.origin}/login?user=ada`);
    const { closed } = await listen();
    await browser.reset(`${site.origin}/again`);
    expect(await closed).toEqual({ code: 4_001, reason: 'reset' });
    const fresh = await connect();
    expect(fresh.url()).toBe(`${site.origin}/again`);
    expect(await fresh.textContent('h1')).toBe('No user is logged in');
    expect(await fresh.textContent('#visits')).toBe('visits 1');
  });

  it('admits no client by its token once the session has ended, and leaves nothing to the next session', async () => {
    await assign();
    const page = await connect();
    await page.goto(`${site.origin}/login?user=ada`);
    const { closed } = await listen();
    const old = surface;
    await browser.end();
    expect(await closed).toEqual({ code: 4_002, reason: 'session_ended' });
    const headers = { authorization: `Bearer ${old.token}` };
    await expect(chromium.connectOverCDP(old.cdpUrl, { headers })).rejects.toThrow(/401/);
    surface = await browser.assign({ entry: `${site.origin}/`, reach: [{ origin: site.origin }] });
    const next = await connect();
    expect(await next.textContent('h1')).toBe('No user is logged in');
    expect(next.context().pages()).toHaveLength(1);
  });

  it('serves no second session once it was stopped, and leaves no process and no folder', async () => {
    await assign();
    const again = browser.assign({ entry: site.origin, reach: [{ origin: site.origin }] });
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
    const pid = browser.status().pid as number;
    const [, folder = ''] =
      /--user-data-dir=(\S+)\/profile/.exec(
        processesNaming('--user-data-dir').find((one) => one.pid === pid)?.commandLine ?? '',
      ) ?? [];
    expect(existsSync(folder)).toBe(true);
    await browser.stop();
    expect(existsSync(folder)).toBe(false);
    await until(() => processesNaming(folder).length === 0, {
      ...waiting,
      what: 'no process left',
    });
  });

  it('reports that its entry page does not answer', async () => {
    browser = await startBrowserForTest();
    const origin = 'http://ses-a--ui.localhost:1';
    const assigned = browser.assign({ entry: `${origin}/`, reach: [{ origin }] });
    await expect(assigned).rejects.toMatchObject({ code: 'unavailable' });
    expect(browser.status().condition).toBe('warm');
    surface = await browser.assign({ entry: `${site.origin}/`, reach: [{ origin: site.origin }] });
    expect((await connect()).url()).toBe(`${site.origin}/`);
  });
});
