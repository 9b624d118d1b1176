import { once } from 'node:events';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '#runtime/pause.ts';
import { barriers, overflow } from '#test/support/browser/barriers.ts';
import {
  answerSlow,
  type Site,
  type StartedBrowser,
  startBrowserForTest,
  startSite,
} from '#test/support/browser/browser-program.ts';
import { startChromium } from '#test/support/browser/chromium.ts';
import type { ViewInput, ViewMessage } from '#wire/live-view/messages.ts';

/** Timeout for hooks: Chromium starts and stops in them, on machines that are busy with other work. */
const hookMs = 60_000;

let site: Site;
let browser: StartedBrowser;
let driver: Browser;
let page: Page;
const open: WebSocket[] = [];

const waiting = { timeoutMs: 10_000 };

type View = {
  news: ViewMessage[];
  frames: Buffer[];
  send(input: ViewInput): void;
  closed: Promise<number>;
  /** Resolves with the first message of a kind, received or still to come. */
  heard<Type extends ViewMessage['type']>(
    type: Type,
  ): Promise<Extract<ViewMessage, { type: Type }>>;
};

/** Connects to the view as its page does. */
const look = async (isReadOnly = false): Promise<View> => {
  const entered = await fetch(browser.viewLink({ isReadOnly }), { redirect: 'manual' });
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const url = `${browser.address.replace('http', 'ws')}/view/socket`;
  const socket = new WebSocket(url, { headers: { cookie, origin: browser.address } });
  open.push(socket);
  const news: ViewMessage[] = [];
  const frames: Buffer[] = [];
  socket.on('message', (data, isBinary) => {
    if (isBinary) frames.push(data as Buffer);
    else news.push(JSON.parse(data.toString()));
  });
  const closed = once(socket, 'close').then(([code]) => code as number);
  await once(socket, 'open');
  return {
    news,
    frames,
    closed,
    send: (input) => socket.send(JSON.stringify(input)),
    heard: (type) =>
      until(() => news.find((one) => one.type === type) as never, { ...waiting, what: type }),
  };
};

const frame = (view: View, after = 0): Promise<Buffer> =>
  until(() => view.frames.slice(after).at(-1), { ...waiting, what: 'a frame' });

const center = async (selector: string): Promise<{ x: number; y: number }> => {
  const box = await page.locator(selector).boundingBox();
  return { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
};

const click = async (view: View, selector: string): Promise<void> => {
  const shared = { ...(await center(selector)), button: 'left' as const, clicks: 1, modifiers: 0 };
  view.send({ type: 'mouse', event: 'down', buttons: 1, ...shared });
  view.send({ type: 'mouse', event: 'up', buttons: 0, ...shared });
};

const press = (view: View, key: string, code: string, keyCode: number, modifiers = 0): void => {
  const shared = {
    type: 'key',
    key,
    code,
    keyCode,
    location: 0,
    isRepeat: false,
    modifiers,
  } as const;
  view.send({ ...shared, event: 'down' });
  view.send({ ...shared, event: 'up' });
};

beforeAll(async () => {
  [site, browser] = await Promise.all([startSite(), startBrowserForTest()]);
  const reach = [{ origin: site.origin }];
  const { cdpUrl, token } = await browser.assign({ entry: `${site.origin}/`, reach });
  const headers = { authorization: `Bearer ${token}` };
  driver = await chromium.connectOverCDP(cdpUrl, { headers });
  page = driver.contexts()[0]?.pages()[0] as Page;
}, hookMs);

afterEach(async () => {
  for (const socket of open.splice(0)) socket.terminate();
  await page.goto(site.origin);
}, hookMs);

afterAll(async () => {
  await driver?.close();
  await browser?.stop();
  await site?.close();
}, hookMs);

describe('a view', { timeout: 30_000 }, () => {
  it('shows pictures of the page, with its size', async () => {
    const view = await look();
    const first = await frame(view);
    expect(first.readUInt16BE(0)).toBeGreaterThan(200);
    expect(first.readUInt16BE(2)).toBeGreaterThan(100);
    expect(first.readUInt16BE(4)).toBe(0xffd8);
    expect(await view.heard('tabs')).toMatchObject({ tabs: [{ url: `${site.origin}/` }] });
    expect((await view.heard('hello')).origins).toEqual([site.origin]);
  });

  it('shows the change after a click, to other viewers as well', async () => {
    const [view, other] = [await look(), await look(true)];
    const pad = page.locator('#pad');
    const before = await Promise.all([frame(view), frame(other)]);
    await click(view, '#pad');
    const isRed = async () => /238, 0, 0/.test((await pad.getAttribute('style')) ?? '');
    await until(isRed, { ...waiting, what: 'the click' });
    for (const [at, seer] of [view, other].entries()) {
      const isShown = () => !seer.frames.at(-1)?.equals(before[at] as Buffer);
      await until(isShown, { ...waiting, what: 'a picture of it' });
    }
  });

  it('types, selects, copies, cuts and pastes', async () => {
    const view = await look();
    await click(view, 'input[name=user]');
    const field = page.getByLabel('User');
    for (const key of 'Ada')
      press(view, key, `Key${key.toUpperCase()}`, key.toUpperCase().charCodeAt(0));
    view.send({ type: 'text', text: ' Lovelace ü 漢' });
    const typed = 'Ada Lovelace ü 漢';
    await until(async () => (await field.inputValue()) === typed, { ...waiting, what: 'text' });
    press(view, 'a', 'KeyA', 65, 2);
    view.send({ type: 'copy', isCut: true });
    expect(await view.heard('clipboard')).toEqual({ type: 'clipboard', text: typed });
    await until(async () => (await field.inputValue()) === '', { ...waiting, what: 'the cut' });
    view.send({ type: 'text', text: 'grace' });
    press(view, 'Enter', 'Enter', 13);
    await page.getByRole('heading', { name: 'Hello grace' }).waitFor();
  });

  it('opens, shows and closes tabs, and follows one that a client opens', async () => {
    const view = await look();
    const last = () => view.news.findLast((news) => news.type === 'tabs');
    const tabs = (count: number) =>
      until(() => last()?.tabs.length === count && last()?.shown !== null && last(), {
        ...waiting,
        what: `${count} tabs`,
      });
    const [first] = (await tabs(1)).tabs;
    view.send({ type: 'open' });
    await tabs(2);
    view.send({ type: 'go', to: `${site.origin}/second` });
    await until(() => last()?.tabs.some(({ url }) => url.endsWith('/second')), {
      ...waiting,
      what: 'the second page',
    });
    view.send({ type: 'show', tab: first?.id ?? '' });
    await until(() => last()?.shown === first?.id, { ...waiting, what: 'the first tab' });
    const opened = await page.context().newPage();
    await opened.goto(`${site.origin}/third`);
    const three = await tabs(3);
    const third = three.tabs.find(({ id }) => id === last()?.shown);
    expect(third?.id).not.toBe(first?.id);
    for (const { id } of three.tabs.slice(1)) view.send({ type: 'close', tab: id });
    await tabs(1);
  });

  it('adopts the size of its window', async () => {
    const view = await look();
    await frame(view);
    view.send({ type: 'resize', width: 700, height: 500 });
    const size = () => page.evaluate('[innerWidth, innerHeight].join()');
    await until(async () => (await size()) === '700,500', { ...waiting, what: 'the size' });
    const resized = () => view.frames.at(-1)?.readUInt16BE(0) === 700;
    await until(resized, { ...waiting, what: 'a frame of the size' });
  });

  it('does nothing when it is read-only', async () => {
    const view = await look(true);
    await click(view, '#pad');
    expect(await view.heard('refused')).toMatchObject({ why: 'this view is read-only' });
    expect(await page.locator('#pad').getAttribute('style')).not.toMatch(/238, 0, 0/);
  });

  it('opens no page of another session', async () => {
    const view = await look();
    view.send({ type: 'go', to: site.otherOrigin });
    expect((await view.heard('refused')).why).toContain('only pages of the session');
    view.send({ type: 'go', to: 'file:///etc/passwd' });
    await until(() => view.news.filter(({ type }) => type === 'refused').length === 2, {
      ...waiting,
      what: 'two refusals',
    });
    expect(page.url()).toBe(`${site.origin}/`);
  });

  it('is closed after a message that is not of the protocol', async () => {
    const view = await look();
    view.send({ type: 'evaluate', expression: '1' } as never);
    expect(await view.closed).toBe(4_007);
  });
});

describe('a dialog of a page that no client drives', { timeout: 60_000 }, () => {
  const titled = (view: View, title: string) =>
    until(() => view.news.some((news) => news.type === 'tabs' && news.tabs[0]?.title === title), {
      ...waiting,
      what: `the title ${title}`,
    });

  it('waits for a viewer who acts in a view, and is dismissed if there is none', async () => {
    const driven = browser;
    browser = await startBrowserForTest();
    try {
      const reach = [{ origin: site.origin }];
      await browser.assign({ entry: `${site.origin}/`, reach });
      const view = await look();
      await frame(view);
      view.send({ type: 'go', to: `${site.origin}/ask` });
      expect(await view.heard('dialog')).toMatchObject({ kind: 'confirm', message: 'Sure?' });
      view.send({ type: 'dialog', isAccepted: true });
      await titled(view, 'true');
      for (const socket of open.splice(0)) socket.terminate();
      await until(() => browser.status().connections === 0, { ...waiting, what: 'no viewer' });
      await browser.reset(`${site.origin}/ask`);
      await titled(await look(true), 'false');
    } finally {
      await browser.stop();
      browser = driven;
    }
  });
});

describe('the view page', { timeout: 60_000 }, () => {
  let outside: Browser;

  beforeAll(async () => {
    outside = await startChromium();
  }, hookMs);

  afterAll(() => outside?.close(), hookMs);

  it('shows the browser to a person, who clicks and types in it', async () => {
    const person = await outside.newPage({ viewport: { width: 1_000, height: 700 } });
    const errors: string[] = [];
    person.on('pageerror', (error) => errors.push(String(error)));
    person.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
    await person.goto(browser.viewLink({ isReadOnly: false }));
    expect(new URL(person.url()).search).toBe('');
    await person.getByRole('tab', { name: 'Site' }).waitFor();
    await person.getByText('Loading the first picture').waitFor({ state: 'hidden' });
    const canvas = person.locator('canvas');
    const isWide = async () => (await canvas.boundingBox())?.width === 1_000;
    await until(isWide, { ...waiting, what: 'a picture of the size' });
    const at = await canvas.boundingBox();
    const field = await center('input[name=user]');
    await person.mouse.click((at?.x ?? 0) + field.x, (at?.y ?? 0) + field.y);
    await person.keyboard.type('Ada');
    await person.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Hello Ada' }).waitFor();
    expect(errors).toEqual([]);
  });

  it('has no accessibility barriers, in light and dark', async () => {
    const person = await outside.newPage({ viewport: { width: 360, height: 720 } });
    const driven = [
      [browser.viewLink({ isReadOnly: false }), 'Site'],
      [browser.viewLink({ isReadOnly: true }), 'Site'],
    ] as const;
    for (const [link, tab] of driven) {
      await person.context().clearCookies();
      await person.goto(link);
      await person.getByRole('tab', { name: tab }).waitFor();
      await person.getByText('Loading the first picture').waitFor({ state: 'hidden' });
      for (const colorScheme of ['light', 'dark'] as const) {
        await person.emulateMedia({ colorScheme });
        expect([link, colorScheme, await barriers(person)]).toEqual([link, colorScheme, []]);
      }
      expect(await overflow(person)).toBe(0);
    }
    await person.context().clearCookies();
    await person.goto(`${browser.address}/view`);
    await person.getByText('This view is entered by a link').waitFor();
    expect(await barriers(person)).toEqual([]);
    await person.close();
  });

  it('shows what it waits for while the browser opens its first page', async () => {
    const starting = await startBrowserForTest();
    const reach = [{ origin: site.origin }];
    const assigned = starting.assign({ entry: `${site.origin}/slow`, reach });
    const person = await outside.newPage();
    await person.goto(starting.viewLink({ isReadOnly: true }));
    await person.getByText('The browser is not ready yet.').waitFor();
    await until(() => site.requests.some(({ path }) => path === '/slow'), {
      ...waiting,
      what: 'the first page to be asked for',
    });
    answerSlow();
    await assigned;
    await person.getByRole('tab', { name: 'Site' }).waitFor();
    await person.getByText(/not ready|first picture/).waitFor({ state: 'hidden' });
    await person.close();
    await starting.stop();
  });

  it('opens and closes tabs by keyboard', async () => {
    const person = await outside.newPage();
    await person.goto(browser.viewLink({ isReadOnly: false }));
    await person.getByRole('button', { name: 'New tab' }).press('Enter');
    const tabs = person.getByRole('tab');
    await tabs.nth(1).waitFor();
    await person.getByRole('tab', { selected: true }).press('Delete');
    await tabs.nth(1).waitFor({ state: 'detached' });
    expect(await tabs.allTextContents()).toEqual(['Site']);
    await person.close();
  });

  it('explains to visitors and programs without a link how to open it', async () => {
    const person = await outside.newPage();
    const answer = await person.goto(`${browser.address}/view`);
    expect(answer?.status()).toBe(401);
    await person.getByText('This view is entered by a link').waitFor();
    const fetched = await fetch(`${browser.address}/view`);
    expect([fetched.status, await fetched.json()]).toMatchObject([
      401,
      { error: 'unauthenticated' },
    ]);
  });
});
