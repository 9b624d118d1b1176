import { readFile } from 'node:fs/promises';
import { type Browser, chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
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
let surface: Surface;
const connected: Browser[] = [];

const connect = async (): Promise<Browser> => {
  const { cdpUrl, token } = surface;
  const one = await chromium.connectOverCDP(cdpUrl, {
    headers: { authorization: `Bearer ${token}` },
  });
  connected.push(one);
  return one;
};

const firstPage = (one: Browser) => {
  const page = one.contexts()[0]?.pages()[0];
  if (page === undefined) throw new Error('the browser shows no page');
  return page;
};

const event = (kind: string) =>
  until(() => browser.events.find((one) => one.kind === kind), { timeoutMs: 30_000, what: kind });

beforeAll(async () => {
  [site, browser] = await Promise.all([startSite(), startBrowserForTest()]);
  surface = await browser.assign({
    entry: `${site.origin}/`,
    reach: [{ origin: site.origin }],
    cookies: [{ url: site.origin, name: 'pass', value: 'good' }],
  });
}, hookMs);

afterEach(async () => {
  await Promise.all(connected.splice(0).map((one) => one.close()));
  browser.events.length = 0;
}, hookMs);

afterAll(async () => {
  await browser?.stop();
  await site?.close();
}, hookMs);

describe('Playwright, unmodified', { timeout: 20_000 }, () => {
  it("opens the entry page, logs in, and reads the user's name", async () => {
    const page = firstPage(await connect());
    expect(page.url()).toBe(`${site.origin}/`);
    await page.getByLabel('User').fill('ada');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Hello ada' }).waitFor();
    expect(await event('navigated')).toMatchObject({ url: expect.stringContaining(site.origin) });
  });

  it('has contexts of its own, which are closed when it disconnects', async () => {
    const one = await connect();
    const context = await one.newContext();
    const page = await context.newPage();
    await page.goto(site.origin);
    expect(await page.textContent('h1')).toBe('No user is logged in');
    await one.close();
    const other = await connect();
    expect(other.contexts()).toHaveLength(1);
    await until(() => other.contexts()[0]?.pages().length === 1, {
      timeoutMs: 30_000,
      what: 'one page left',
    });
  });

  it('enters the session in a context of its own', async () => {
    const context = await (await connect()).newContext();
    const page = await context.newPage();
    await page.goto(`${site.origin}/pass`);
    expect(await page.textContent('body')).toBe('pass=good');
    const pass = { name: 'pass', httpOnly: true, sameSite: 'Lax' };
    expect(await context.cookies()).toMatchObject([pass]);
  });

  it('uploads a file by its bytes', async () => {
    const page = firstPage(await connect());
    const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('by bytes') };
    await page.locator('#file').setInputFiles(file);
    await page.getByText('by bytes').waitFor();
    // Playwright reads a file of the client's own machine and uploads its bytes.
    await page.locator('#file').setInputFiles(import.meta.filename);
    await page.locator('#file-text', { hasText: 'startBrowserForTest' }).waitFor();
  });

  it('starts downloads, which are stored with the session', async () => {
    const page = firstPage(await connect());
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Report' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('report.csv');
    const kept = await event('downloaded');
    if (kept.kind !== 'downloaded') throw new Error('not a download');
    expect(kept).toMatchObject({ name: 'report.csv', sizeBytes: 8 });
    expect(await readFile(browser.downloadPath(kept.download), 'utf8')).toBe('a,b\n1,2\n');
  });

  it('receives errors on the console, and so does the session', async () => {
    const page = firstPage(await connect());
    await page.evaluate(() => console.error('the form', 'is broken', { at: 3 }));
    expect(await event('console_error')).toMatchObject({
      message: expect.stringContaining('the form is broken'),
    });
  });

  it('answers requests of the page itself', async () => {
    const context = await (await connect()).newContext();
    await context.route('**/host', (route) => route.fulfill({ body: 'answered here' }));
    const page = await context.newPage();
    await page.goto(site.origin);
    expect(await page.evaluate(async () => (await fetch('/host')).text())).toBe('answered here');
  });

  it('takes screenshots and prints pages', async () => {
    const page = firstPage(await connect());
    expect((await page.screenshot()).subarray(1, 4).toString()).toBe('PNG');
    expect((await page.pdf()).subarray(0, 4).toString()).toBe('%PDF');
  });
});

describe('Puppeteer, unmodified', { timeout: 20_000 }, () => {
  it('drives the browser at the same time as Playwright, by a one-time ticket', async () => {
    const [one, two] = await Promise.all([
      connect(),
      puppeteer.connect({ browserWSEndpoint: browser.cdpLink(), defaultViewport: null }),
    ]);
    const page = await two.newPage();
    await page.goto(`${site.origin}/login?user=grace`);
    expect(await page.$eval('h1', (heading) => heading.textContent)).toBe('Hello grace');
    const mine = firstPage(one);
    await mine.reload();
    expect(await mine.textContent('h1')).toBe('Hello grace');
    await page.close();
    await two.close();
    // A client that closes the browser only disconnects; the browser stays with the session.
    expect(await mine.evaluate('1 + 1')).toBe(2);
    expect(browser.status().condition).toBe('serving');
  });

  it('cannot connect with a ticket that was used', async () => {
    const browserWSEndpoint = browser.cdpLink();
    const first = await puppeteer.connect({ browserWSEndpoint });
    await first.disconnect();
    await expect(puppeteer.connect({ browserWSEndpoint })).rejects.toThrow(/401/);
  });
});

it('a screenshot of the page is taken on request', async () => {
  const viewed = await browser.screenshot();
  expect(viewed.subarray(1, 4).toString()).toBe('PNG');
  const whole = await browser.screenshot({ fullPage: true, format: 'jpeg' });
  expect(whole.readUInt16BE(0)).toBe(0xffd8);
});
