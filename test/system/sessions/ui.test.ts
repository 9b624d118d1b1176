/**
 * Tests the page of a session in a real Chromium, on real programs. A link admits the browser to the page, at its host
 * and through the gateway. In both cases hosts are processes of this machine.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChromium } from '#test/support/browser/chromium.ts';
import { runSvc, type Svc, startSvc } from '#test/support/cli/svc.ts';
import { call, close, open } from '#test/support/control/sessions.ts';
import { pageWorld } from '#test/support/worlds/page-world.ts';
import { encodeTree } from '#test/support/worlds/worlds.ts';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import { createSurfaceLink, createWorld } from '#wire/public-api/operations.ts';
import { visit } from '../../support/browser/visit.ts';

type Credentials = { url: string; publicKey: string; secretKey: string };

let browser: Browser;

beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

/** Returns every text that a page, or an observer of its network, could read. */
const readAll = async (page: Page, requests: readonly Request[]): Promise<string> => {
  // A string, because it runs in the page, where the types of this file do not exist.
  const stored = await page.evaluate(`(async () => ({
    html: document.documentElement.outerHTML,
    cookie: document.cookie,
    local: { ...localStorage },
    session: { ...sessionStorage },
    bases: await indexedDB.databases(),
    caches: await caches.keys(),
  }))()`);
  const exchanged = await Promise.all(
    requests.map(async (request) => {
      const response = await request.response();
      return [await request.allHeaders(), await response?.allHeaders(), response?.url()];
    }),
  );
  return JSON.stringify([stored, exchanged, await page.context().storageState()]);
};

/** Locator of the row that the world starts with. */
const first = (page: Page) => page.getByText('First', { exact: true });

/** Opens a page and records its requests. */
const openPage = async (context: BrowserContext, url: string) => {
  const page = await context.newPage();
  const requests: Request[] = [];
  const refused: string[] = [];
  page.on('request', (request) => requests.push(request));
  page.on('console', (message) => {
    if (message.type() === 'error') refused.push(message.text());
  });
  await visit(page, url);
  return { page, requests, refused };
};

describe.each([
  ['at its host', []],
  ['through the gateway', ['--gateway', '0']],
])('a page that is served %s', (_, more) => {
  let root: string;
  let data: string;
  let service: Svc;
  let client: Client;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'svc-ui-'));
    data = join(root, 'data');
    const words = ['up', '--data', data, '--port', '0', '--runtime', 'process', '--pool', '2'];
    service = startSvc([...words, ...more]);
    await service.prints('2 world hosts warm');
    const text = readFileSync(join(data, 'credentials.json'), 'utf8');
    const { url, publicKey, secretKey } = JSON.parse(text) as Credentials;
    client = createClient({
      baseUrl: `${url}/api/public`,
      authorization: basicAuthorization(publicKey, secretKey),
    });
    await client.send(createWorld, { body: { slug: 'notes', from: encodeTree(pageWorld()) } });
  });
  afterAll(async () => {
    service.signal('SIGTERM');
    await service.ended();
    rmSync(root, { recursive: true, force: true });
  });

  const openUi = () => open(client, { slug: 'notes', surfaces: ['ui'] });
  const linkTo = async (sessionId: string): Promise<string> =>
    (await client.send(createSurfaceLink, { params: { sessionId }, body: {} })).body.url;

  it('works with the world’s API, and never holds the token of the session', async () => {
    const session = await openUi();
    const context = await browser.newContext();
    const made = await runSvc(['worlds', 'session', 'link', session.id, '--data', data]);
    expect(made).toMatchObject({ status: 0, err: '' });
    const { page, requests, refused } = await openPage(context, made.out.trim());
    expect(page.url()).toBe(`${session.surfaces.ui?.url}/`);
    await first(page).waitFor();
    await page.getByLabel('Title').fill('From the page');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('From the page').waitFor();
    await page.getByText('First;Second;').waitFor();
    const token = session.surfaces.api?.token ?? 'none';
    expect(token).toMatch(/^st-/);
    expect(await readAll(page, requests)).not.toContain(token);
    expect(refused).toEqual([]);
    const { output } = await call(client, session.id, {
      kind: 'state',
      input: { entity: 'svc_requests', where: { via: 'ui' } },
    });
    const { rows } = output as { rows: { operation: string; status: number }[] };
    expect(rows.map(({ operation, status }) => `${operation} ${status}`).sort()).toEqual([
      'add_note 201',
      'events 200',
      'list_notes 200',
      'list_notes 200',
    ]);
    await context.close();
    await close(client, session.id);
  });

  it('cannot reach other addresses, and gets no WebSocket that the world does not serve', async () => {
    const session = await openUi();
    const context = await browser.newContext();
    const { page } = await openPage(context, await linkTo(session.id));
    await first(page).waitFor();
    const outside = `${session.surfaces.api?.url}/notes`;
    const reached = await page.evaluate(
      (url) =>
        fetch(url, { mode: 'no-cors' }).then(
          () => 'reached',
          () => 'refused',
        ),
      outside,
    );
    expect(reached).toBe('refused');
    const socket = await page.evaluate(`new Promise((resolve) => {
      const opened = new WebSocket('ws://' + location.host + '/__world-api/notes');
      opened.onopen = () => resolve('opened');
      opened.onerror = () => resolve('refused');
    })`);
    expect(socket).toBe('refused');
    await context.close();
    await close(client, session.id);
  });

  it('is entered once by a link, and not by another session’s pass', async () => {
    const [one, two] = await Promise.all([openUi(), openUi()]);
    const context = await browser.newContext();
    const link = await linkTo(one.id);
    const { page } = await openPage(context, link);
    await first(page).waitFor();
    const [cookie] = await context.cookies();
    expect(cookie?.name).toContain(one.id);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });

    const other = await openPage(context, `${two.surfaces.ui?.url}/`);
    await other.page.getByText(`${two.id} can be opened only by a one-time link`).waitFor();
    // Value of one session's cookie under the name of the other session's.
    const value = cookie?.value ?? '';
    const name = cookie?.name.replace(one.id, two.id) ?? '';
    await context.addCookies([{ name, value, url: `${two.surfaces.ui?.url}/` }]);
    await other.page.reload();
    await other.page.getByText(`${two.id} can be opened only by a one-time link`).waitFor();

    const stranger = await browser.newContext();
    const late = await openPage(stranger, link);
    await late.page.getByText('this link was already used').waitFor();
    const wrong = new URL(await linkTo(one.id));
    const moved = `${two.surfaces.ui?.url}${wrong.pathname}${wrong.search}`;
    const misled = await openPage(stranger, moved);
    await misled.page.getByText('belongs to another session').waitFor();
    await stranger.close();
    await context.close();
    await Promise.all([close(client, one.id), close(client, two.id)]);
  });

  it('shows the state after a reset, and explains the end of its session', async () => {
    const session = await openUi();
    const context = await browser.newContext();
    const { page } = await openPage(context, await linkTo(session.id));
    await page.getByLabel('Title').fill('Soon gone');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Soon gone').waitFor();
    await call(client, session.id, { kind: 'reset' });
    await page.reload();
    await page.locator('#notes[data-count="2"]').waitFor();
    const late = await linkTo(session.id);
    await close(client, session.id, true);
    for (const url of [`${session.surfaces.ui?.url}/`, late]) {
      await visit(page, url);
      await page.getByText(/was closed by its owner|is not served here any more/).waitFor();
    }
    const refused = await client
      .send(createSurfaceLink, { params: { sessionId: session.id }, body: {} })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'conflict' });
    await context.close();
  });
});
