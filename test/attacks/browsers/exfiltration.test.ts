/**
 * Exfiltration of what a person enters into a session's page, in a real Chromium. Code of the
 * world's author tries every way in which a page can send data to another origin. As a control,
 * each way is tried in a page without our headers, where it succeeds. Code of a dashboard tries the
 * same in its frame.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as api from '#wire/public-api/operations.ts';
import { startPersonsChromium } from '../../support/browser/chromium.ts';
import { type Place, reaches, waysOut } from '../../support/browser/outside-access.ts';
import { type ServedPage, servePage } from '../../support/browser/ui-page.ts';
import { visit } from '../../support/browser/visit.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { apiTree, operation } from '../../support/worlds/api-world.ts';
import { textFile } from '../../support/worlds/small-world.ts';

const handlers = `
def leave(ctx):
    ctx.respond(302, "", {"location": ctx.args["to"]})
`;

const tree = apiTree({
  operations: `${operation('GET', '/leave', 'action = "handler"\nhandler = "leave"', { entity: '', params: ['to'] })}
${operation('POST', '/leave', 'action = "handler"\nhandler = "leave"', { name: 'send_leave', entity: '', params: ['to'] })}
[ui]\nstatic = "web"\ngenerated = false\n`,
  files: { 'api/handlers.py': handlers },
}).concat(textFile('web/index.html', '<!doctype html><title>a page</title><p>here'));

let context: BrowserContext;
let world: ServedPage;
/** Server of a page without our headers, as a control. */
let bare: Server;
let open: Place;

beforeAll(async () => {
  [context, world] = await Promise.all([startPersonsChromium(), servePage(tree)]);
  await world.enter(context);
  bare = createServer(({ url = '' }, response) => {
    const to = new URL(url, 'http://x').searchParams.get('to');
    if (to !== null) return void response.writeHead(302, { location: to }).end();
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>a page</title><p>here');
  });
  await new Promise<void>((listening) => bare.listen(0, '127.0.0.1', listening));
  const { port } = bare.address() as AddressInfo;
  open = { page: `http://bare.localhost:${port}/`, leave: (to) => `/leave?to=${to}/x` };
}, 60_000);
afterAll(async () => {
  await context?.close();
  await world?.stop();
  bare?.close();
});

describe('a page of a session', { timeout: 60_000 }, () => {
  it.each(Object.keys(waysOut))('reaches no address outside by %s', async (name) => {
    const closed = {
      page: `${world.page}/`,
      leave: (to: string) => `/__world-api/leave?to=${encodeURIComponent(`${to}/x`)}`,
    };
    expect(await reaches(context, name, closed, open)).toBe(false);
  });
});

describe('the frame of a dashboard', { timeout: 60_000 }, () => {
  let control: OwnControl;
  let page: string;

  beforeAll(async () => {
    control = await startNotesControl({ publicUrl: null });
    const body = { name: 'Notes', environmentId: 'notes' };
    const { id } = (await control.send(api.createDashboard, { body })).body;
    const params = { dashboardId: id };
    const rendered = (await control.send(api.renderDashboard, { params, body: {} })).body;
    page = rendered.url ?? '';
    const opened = await context.newPage();
    await visit(opened, page);
    await opened.close();
  }, 60_000);
  afterAll(() => control?.stop());

  it.each([
    'WebRTC',
    'WebRTC of an empty frame',
    'a new window',
    'its own address',
    'a form into a new tab',
    'preconnect',
  ])('reaches no address outside by %s', async (name) => {
    const closed = { page, isFramed: true, leave: () => '' };
    expect(await reaches(context, name, closed, open)).toBe(false);
  });
});
