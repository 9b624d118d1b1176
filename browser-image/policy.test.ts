import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket as Client } from 'ws';
import { until } from '#runtime/pause.ts';
import {
  type Site,
  type StartedBrowser,
  startBrowserForTest,
  startSite,
} from '#test/support/browser/browser-program.ts';
import type { Surface } from './program.ts';

/** Timeout for hooks: Chromium starts and stops in them, on machines that are busy with other work. */
const hookMs = 60_000;

let site: Site;
let browser: StartedBrowser;
let neighbour: StartedBrowser;
let surface: Surface;
let client: Browser;
let page: Page;

/** Returns the outcome of a request that a page made. */
const fetched = (url: string): Promise<string> =>
  page.evaluate(async (asked) => {
    try {
      const answer = await fetch(asked, { mode: 'no-cors' });
      return `answered ${answer.type}`;
    } catch (error) {
      return String(error);
    }
  }, url);

beforeAll(async () => {
  [site, browser, neighbour] = await Promise.all([
    startSite(),
    startBrowserForTest(),
    startBrowserForTest(),
  ]);
  surface = await browser.assign({ entry: `${site.origin}/`, reach: [{ origin: site.origin }] });
  const headers = { authorization: `Bearer ${surface.token}` };
  client = await chromium.connectOverCDP(surface.cdpUrl, { headers });
  page = client.contexts()[0]?.pages()[0] as Page;
}, hookMs);

afterAll(async () => {
  await client?.close();
  await Promise.all([browser?.stop(), neighbour?.stop()]);
  await site?.close();
}, hookMs);

describe('a client is refused', { timeout: 30_000 }, () => {
  it.each([
    'file:///etc/passwd',
    'view-source:file:///etc/passwd',
    'chrome://version',
    'chrome-untrusted://print/',
    'devtools://devtools/bundled/inspector.html',
    'data:text/html,<p>x',
    'http://169.254.169.254/latest/meta-data/',
    'https://example.com/',
  ])('the page %s', async (url) => {
    await expect(page.goto(url)).rejects.toThrow(/surfaces of its session alone/);
  });

  it('the page of another session behind the same address', async () => {
    await expect(page.goto(site.otherOrigin)).rejects.toThrow(/surfaces of its session alone/);
  });

  it('a new tab on a file', async () => {
    const session = await client.newBrowserCDPSession();
    const url = 'file:///etc/passwd';
    await expect(session.send('Target.createTarget', { url })).rejects.toThrow(/cannot be opened/);
  });

  it('a file of the machine as an upload', async () => {
    const session = await client.contexts()[0]?.newCDPSession(page);
    const root = await session?.send('DOM.getDocument');
    const nodeId = root?.root.nodeId ?? 0;
    const found = await session?.send('DOM.querySelector', { nodeId, selector: '#file' });
    const params = { files: ['/etc/passwd'], nodeId: found?.nodeId ?? 0 };
    const upload = session?.send('DOM.setFileInputFiles', params);
    await expect(upload).rejects.toThrow(/hand in the bytes/);
  });

  it('a file of the machine dropped on a page', async () => {
    const session = await client.contexts()[0]?.newCDPSession(page);
    const data = { items: [], files: ['/etc/passwd'], dragOperationsMask: 1 };
    const drop = session?.send('Input.dispatchDragEvent', { type: 'drop', x: 1, y: 1, data });
    await expect(drop).rejects.toThrow(/dropped/);
  });

  it('a context with a proxy of its own', async () => {
    const proxy = { server: 'http://127.0.0.1:1' };
    await expect(client.newContext({ proxy })).rejects.toThrow(/session's egress proxy/);
  });

  it('permissions that reach beyond the page, and is granted the others', async () => {
    const context = await client.newContext();
    await context.grantPermissions(['clipboard-read', 'geolocation']);
    await expect(context.grantPermissions(['camera'])).rejects.toThrow(/is not granted/);
    await context.close();
  });

  it.each([
    'Browser.crash',
    'SystemInfo.getInfo',
    'Tracing.start',
    'Tethering.bind',
    'Extensions.loadUnpacked',
    'Target.exposeDevToolsProtocol',
    'Target.sendMessageToTarget',
    'Target.setRemoteLocations',
    'Browser.getBrowserCommandLine',
    'IO.resolveBlob',
    'PWA.install',
    'FileSystem.getDirectory',
    'Page.crash',
  ])('the method %s', async (method) => {
    const session = await client.newBrowserCDPSession();
    await expect(session.send(method as 'Browser.crash')).rejects.toThrow(/is not offered/);
  });
});

it('refused commands of a client are reported to the session, at most twenty a second', async () => {
  browser.events.length = 0;
  const socket = new Client(browser.cdpLink());
  await once(socket, 'open');
  const answers: { id: number; error?: { data: unknown } }[] = [];
  socket.on('message', (data) => answers.push(JSON.parse(data.toString())));
  const method = 'Browser.crash';
  for (let id = 1; id <= 100; id += 1) socket.send(JSON.stringify({ id, method }));
  await until(() => answers.length === 100, { timeoutMs: 10_000, what: '100 refusals' });
  expect(answers[99]?.error?.data).toEqual({ error: 'forbidden', method });
  const reported = browser.events.filter(
    (event) => event.kind === 'refused' && event.what === method,
  );
  expect(reported.length).toBeGreaterThanOrEqual(20);
  expect(reported.length).toBeLessThan(100);
  socket.close();
});

describe('a page does not reach', { timeout: 30_000 }, () => {
  it('another port of this machine', async () => {
    let reached = 0;
    const server = createServer((_, response) => {
      reached += 1;
      response.end('secret');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    // The proxy answers plain requests itself, so the page gets an answer, but may not read it.
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0.0.0.0']) {
      await fetched(`http://${host}:${port}/`);
      await fetched(`https://${host}:${port}/`);
    }
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.src = 'http://127.0.0.1:${port}/';
      frame.onload = resolve;
      document.body.append(frame);
    })`);
    expect(reached).toBe(0);
    expect(browser.events).toContainEqual(
      expect.objectContaining({ kind: 'refused', what: `http://127.0.0.1:${port}` }),
    );
    server.close();
  });

  it('another session behind the same address, by any host name', async () => {
    await fetched(`${site.otherOrigin}/`);
    const hosts = site.requests.map(({ host }) => host);
    expect(new Set(hosts)).toEqual(new Set([new URL(site.origin).host]));
    await expect(
      page.context().setExtraHTTPHeaders({ Host: new URL(site.otherOrigin).host }),
    ).rejects.toThrow(/"Host"/);
  });

  it('the metadata address of a cloud, or any outside address', async () => {
    await fetched('http://169.254.169.254/latest/meta-data/');
    expect(await fetched('https://169.254.169.254/')).toMatch(/TypeError/);
    expect(await fetched('https://example.com/')).toMatch(/TypeError/);
  });

  it('the machine’s files', async () => {
    expect(await fetched('file:///etc/passwd')).toMatch(/TypeError/);
    await page.evaluate(`void (location.href = 'file:///etc/passwd')`);
    const opened = `window.open('file:///etc/passwd')?.location.href ?? 'none'`;
    const popup = await page.evaluate(opened);
    expect(popup).not.toContain('file:');
    expect(page.url()).toBe(`${site.origin}/`);
  });

  it('the DevTools of another browser', async () => {
    const other = await neighbour.assign({
      entry: `${site.otherOrigin}/`,
      reach: [{ origin: site.otherOrigin }],
    });
    const outcome = await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          const socket = new WebSocket(url);
          socket.onopen = () => resolve('open');
          socket.onerror = () => resolve('refused');
        }),
      neighbour.cdpLink(),
    );
    expect(outcome).toBe('refused');
    const foreign = { headers: { authorization: `Bearer ${surface.token}` } };
    await expect(chromium.connectOverCDP(other.cdpUrl, foreign)).rejects.toThrow(/401/);
  });

  it('any peer by WebRTC', async () => {
    const listener = createSocket('udp4').bind(0, '127.0.0.1');
    await once(listener, 'listening');
    let packets = 0;
    listener.on('message', () => {
      packets += 1;
    });
    const candidates = await page.evaluate(`(async () => {
      const at = '127.0.0.1:${listener.address().port}';
      const turn = { urls: 'turn:' + at, username: 'a', credential: 'b' };
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + at }, turn] });
      peer.createDataChannel('x');
      const found = [];
      const gathered = new Promise((resolve) => {
        peer.onicecandidate = ({ candidate }) => {
          if (candidate === null) resolve();
          else found.push(candidate.candidate);
        };
      });
      await peer.setLocalDescription(await peer.createOffer());
      await gathered;
      return found;
    })()`);
    expect(candidates).toEqual([]);
    expect(packets).toBe(0);
    listener.close();
  });
});

it.each(['/cdp', '/cdp?ticket=lt-none', '/view/socket'])(
  '%s admits no client without a token or ticket',
  async (path) => {
    const socket = new Client(`${browser.address.replace('http', 'ws')}${path}`);
    const [error] = await once(socket, 'error');
    expect(String(error)).toContain('401');
  },
);

it('the view opens once by its link, and only its own page opens its socket', async () => {
  const link = browser.viewLink({ isReadOnly: false });
  const entered = await fetch(link, { redirect: 'manual' });
  expect(entered.status).toBe(303);
  const again = await fetch(link, { redirect: 'manual' });
  expect(again.status).toBe(401);
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const url = `${browser.address.replace('http', 'ws')}/view/socket`;
  const site = { origin: browser.address, 'sec-fetch-site': 'same-site' };
  for (const said of [{ origin: 'http://evil.localhost' }, site]) {
    const foreign = new Client(url, { headers: { cookie, ...said } });
    const [error] = await once(foreign, 'error');
    expect(String(error)).toContain('403');
  }
});
