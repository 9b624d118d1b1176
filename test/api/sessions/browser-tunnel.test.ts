/**
 * Tests the tunnels through which browsers reach the surfaces of their session: which hosts may open one, and to which
 * addresses.
 */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { browserSize } from '#domain/pool.ts';
import { until } from '#runtime/pause.ts';
import { pollHost, reportWarm } from '#wire/host-api/operations.ts';
import { registerHost, reportLaunched } from '#wire/pool-api/operations.ts';
import { createWorld, openSession } from '#wire/public-api/operations.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import {
  anyHost,
  clearPool,
  launchHost,
  playedAddress,
  warmHost,
} from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: StartedControl;
/** Server that takes the place of the session's world host. */
let surface: Server;
let surfacePort: number;
const open = new Set<Socket>();

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  const small = unlinkedWorld();
  small.text['web/board/app.js'] = 'export const board = 1;';
  await control.send(createWorld, { body: { slug: 'board', from: encodeTree(toTree(small)) } });
  surface = createServer(({ headers }, response) => response.end(`surface ${headers.host}`));
  await new Promise<void>((resolve) => surface.listen(0, '127.0.0.1', resolve));
  surfacePort = (surface.address() as AddressInfo).port;
});

afterEach(async () => {
  for (const socket of open) socket.destroy();
  open.clear();
  await clearPool(control);
});

afterAll(async () => {
  surface.closeAllConnections();
  surface.close();
  await control.stop();
  await database.drop();
});

const registerBrowser = async () => {
  const { body } = await control.pool(registerHost, {
    body: { ...anyHost, size: browserSize, maxLive: 10 },
  });
  const { hostId, token } = body;
  const params = { hostId };
  await control.pool(reportLaunched, { params, body: { runtimeId: `run-${hostId}` } });
  const send = control.asHost(token);
  await send(reportWarm, { params, body: { generation: 0, address: playedAddress(hostId) } });
  return { hostId, token, send };
};

/** Opens a session whose page is at `surface`, with a browser assigned to it. */
const openWithBrowser = async () => {
  const world = await launchHost(control);
  await world.send(reportWarm, {
    params: { hostId: world.id },
    body: { generation: 0, address: `http://127.0.0.1:${surfacePort}` },
  });
  const browser = await registerBrowser();
  const surfaces: ('ui' | 'browser')[] = ['ui', 'browser'];
  const { body } = await control.send(openSession, { body: { slug: 'board', surfaces } });
  await world.poll();
  await world.ready();
  const assigned = await browser.send(pollHost, {
    params: { hostId: browser.hostId },
    body: { generation: 0, hold: 5 },
  });
  return { sessionId: body.id, world, browser, assigned: assigned.body.browser };
};

type Tunnel = { status: number; socket: Socket };

const tunnel = (authority: string, token?: string): Promise<Tunnel> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(control.running.addresses.host[0] ?? '');
    const headers = token === undefined ? {} : { 'proxy-authorization': `Bearer ${token}` };
    request({ host: '127.0.0.1', port, method: 'CONNECT', path: authority, headers, agent: false })
      .on('connect', ({ statusCode = 0 }, socket) => {
        open.add(socket as Socket);
        resolve({ status: statusCode, socket: socket as Socket });
      })
      .on('error', reject)
      .end();
  });

const askThrough = ({ socket }: Tunnel, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = '';
    socket.on('data', (chunk) => {
      said += chunk;
    });
    socket.on('end', () => resolve(said)).on('error', reject);
    socket.write(`GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  });

describe('a browser tunnel', () => {
  it('connects a browser to the page of the session that it serves', async () => {
    const { sessionId, browser, assigned } = await openWithBrowser();
    const authority = `${sessionId}--ui.localhost:${surfacePort}`;
    expect(assigned?.reach[0]).toEqual({ origin: `http://${authority}` });
    const made = await tunnel(authority, browser.token);
    expect(made.status).toBe(200);
    expect(await askThrough(made, authority)).toContain(`surface ${authority}`);
  });

  it('is refused for every other address', async () => {
    const { sessionId, browser } = await openWithBrowser();
    const other = await warmHost(control);
    for (const authority of [
      `${sessionId}--api.localhost:${surfacePort}`,
      `ses_00000000000000000000000000--ui.localhost:${surfacePort}`,
      `${sessionId}--ui.localhost:${surfacePort + 1}`,
      `localhost:${surfacePort}`,
      '169.254.169.254:80',
      new URL(playedAddress(other.id)).host,
      new URL(control.running.addresses.internal[0] ?? '').host,
      new URL(database.url).host,
      'example.com:443',
      '',
      '/api/host',
    ]) {
      expect({ authority, ...(await tunnel(authority || '*', browser.token)) }).toMatchObject({
        authority,
        status: 403,
      });
    }
  });

  it('is refused for every caller but the browser of the session', async () => {
    const { sessionId, world } = await openWithBrowser();
    const authority = `${sessionId}--ui.localhost:${surfacePort}`;
    const warm = await registerBrowser();
    expect((await tunnel(authority)).status).toBe(401);
    expect((await tunnel(authority, 'hst_x.y')).status).toBe(401);
    expect((await tunnel(authority, world.token)).status).toBe(403);
    expect((await tunnel(authority, warm.token)).status).toBe(403);
  });

  it('is refused once the browser has the maximum number of open tunnels', async () => {
    const { sessionId, browser } = await openWithBrowser();
    const authority = `${sessionId}--ui.localhost:${surfacePort}`;
    const made = await Promise.all(
      Array.from({ length: 64 }, () => tunnel(authority, browser.token)),
    );
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await tunnel(authority, browser.token)).status).toBe(429);
    made[0]?.socket.destroy();
    const again = async () => (await tunnel(authority, browser.token)).status === 200;
    await until(again, { timeoutMs: 30_000, what: 'a tunnel in the place of one that ended' });
  });
});
