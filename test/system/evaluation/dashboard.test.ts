/**
 * Tests a rendered dashboard in a real browser. The page at its signed URL shows the code in a frame with an opaque
 * origin. Code in the frame reaches neither the service nor the page around it.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as api from '#wire/public-api/operations.ts';
import { bundlePage } from '../../../src/control/observability/dashboard-code/bundle.ts';
import { writeDocument } from '../../../src/control/observability/dashboards/document.ts';
import { starterOf } from '../../../src/control/observability/dashboards/starters.ts';
import { startChromium } from '../../support/browser/chromium.ts';
import { visit } from '../../support/browser/visit.ts';
import { taskData } from '../../support/control/dashboard-data.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let browser: Browser;
let outside: Server;
let sessionId: string;
/** Requests that reached a server other than the service. */
const reached: string[] = [];

beforeAll(async () => {
  control = await startNotesControl({ publicUrl: null });
  const host = await warmHost(control);
  const opened = control.send(api.openSession, { body: { slug: 'notes' } });
  await host.poll(20);
  await host.ready();
  sessionId = (await opened).body.id;
  browser = await startChromium();
  outside = createServer(({ url = '' }, response) => {
    reached.push(url);
    response.setHeader('access-control-allow-origin', '*').end('reached');
  });
  await new Promise<void>((listening) => outside.listen(0, '127.0.0.1', listening));
});
afterAll(async () => {
  await browser?.close();
  await control.stop();
  outside.close();
});

/** Creates a dashboard of the notes with this code, and opens the dashboard as a person does. */
const openPage = async (content?: string): Promise<{ page: Page; frame: Frame }> => {
  const body = { name: 'Notes', environmentId: 'notes' };
  const { id } = (await control.send(api.createDashboard, { body })).body;
  const params = { dashboardId: id };
  if (content !== undefined) {
    const files = [{ path: 'dashboard.jsx', content }];
    await control.send(api.pushDashboardCode, { params, body: { files, force: true } });
  }
  const rendered = (await control.send(api.renderDashboard, { params, body: {} })).body;
  expect(rendered).toMatchObject({ success: true, error: null });
  const page = await browser.newPage();
  await visit(page, rendered.url ?? '');
  const frame = page.frames().find((one) => one !== page.mainFrame());
  if (frame === undefined) throw new Error('the page has no frame');
  await frame.locator('body *').first().waitFor();
  return { page, frame };
};

it('the starter dashboard is shown in the frame, with its name above it', async () => {
  const { page, frame } = await openPage();
  expect(await page.locator('h1').innerText()).toBe('Notes');
  await frame.getByText('session', { exact: false }).first().waitFor();
  expect(await frame.evaluate('window.origin')).toBe('null');
  await page.close();
});

it('a row in the frame opens its session, and a link leads back', async () => {
  const { page, frame } = await openPage();
  await frame.getByRole('button', { name: sessionId }).click();
  await page.waitForURL(/sessionId=/);
  const shown = page.frameLocator('iframe');
  await shown.getByText('Tool calls').waitFor();
  expect(await shown.locator('h1').innerText()).toBe('Session without a task');
  await page.getByRole('link', { name: 'All sessions' }).click();
  await page.frameLocator('iframe').getByRole('button', { name: sessionId }).waitFor();
  await page.close();
});

it('a dot of the dashboard reports its session to the surrounding page', async () => {
  const { files, entrypoint } = starterOf('task', 'starter');
  const built = await bundlePage(files, entrypoint ?? '');
  const script = 'script' in built ? built.script : '';
  const target = { sessionId: null, taskSetId: null, taskId: null, environmentId: null };
  const about = { kind: 'task', target };
  const dataJson = JSON.stringify(taskData(true));
  const page = await browser.newPage();
  await page.setContent(writeDocument({ title: 'Tasks', script, dataJson, about }));
  const dot = page.locator('circle').nth(7);
  const named = page.evaluate(
    `new Promise((done) => addEventListener('message', ({ data }) => done(data.openSession)))`,
  );
  await dot.dispatchEvent('click');
  const title = await dot.locator('title').textContent();
  const { sessions } = taskData(true) as { sessions: { id: string; task: string }[] };
  const id = await named;
  const task = sessions.find((session) => session.id === id)?.task;
  expect(title).toMatch(new RegExp(`^${task}: `));
  await page.close();
});

it('code in the frame reaches neither the page, nor the service, nor any other address', async () => {
  const { port } = outside.address() as AddressInfo;
  const service = new URL(control.running.addresses.public[0] ?? '');
  // The URL is built at runtime: the push refuses code that contains an outside address.
  const code = `
    const at = (port, scheme = 'http') => scheme + ':' + '//127.0.0.1:' + port;
    const attempt = async (name, act) => {
      try { return [name, String(await act())]; } catch (error) { return [name, 'refused']; }
    };
    globalThis.outcomes = Promise.all([
      attempt('page', () => parent.document.title),
      attempt('cookies', () => document.cookie),
      attempt('storage', () => localStorage.length),
      attempt('service', () => fetch(at(${service.port}) + '/health').then(() => 'reached')),
      attempt('outside', () => fetch(at(${port}) + '/fetch').then(() => 'reached')),
      attempt('picture', () => new Promise((done, fail) => {
        const picture = new Image();
        picture.onload = () => done('reached');
        picture.onerror = fail;
        picture.src = at(${port}) + '/picture';
      })),
      attempt('socket', () => new Promise((done, fail) => {
        const socket = new WebSocket(at(${port}, 'ws') + '/socket');
        socket.onopen = () => done('reached');
        socket.onerror = fail;
      })),
      attempt('window', () => window.open(at(${port}) + '/window') === null ? 'refused' : 'opened'),
      attempt('top', () => { top.location = at(${port}) + '/top'; return 'led away'; }),
    ]);
    export default () => <b>tries</b>;`;
  const { page, frame } = await openPage(code);
  const outcomes = (await frame.evaluate('globalThis.outcomes')) as [string, string][];
  expect(outcomes.filter(([, outcome]) => outcome !== 'refused')).toEqual([]);
  expect(reached).toEqual([]);
  expect(await page.locator('h1').innerText()).toBe('Notes');
  await page.close();
});
