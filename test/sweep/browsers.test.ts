/**
 * Sessions whose Chromium, browser host, gateway or control plane is killed while their page is written to. Afterwards
 * nothing is missing that was acknowledged, the page is still entered, and how long it took until the browser could be
 * used again is told.
 */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { WebSocket } from 'ws';
import { pause, until } from '#runtime/pause.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/session.ts';
import { browserOf, chromiumOf, programOf, whole } from '../support/browser-session.ts';
import { createChance } from '../support/chance.ts';
import { gatewayEnv } from '../support/gateway.ts';
import { freePorts, type Network, startNetwork } from '../support/network.ts';
import { pageWorld } from '../support/page-world.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { type Program, startProgram } from '../support/program.ts';
import { call, close, open } from '../support/sessions.ts';
import { encodeTree } from '../support/worlds.ts';
import { isSingle } from './extent.ts';

const { seed, total } = inject('sweep');
const chance = createChance(seed);
const victims = ['chromium', 'browser host', 'gateway', 'control plane'] as const;
type Victim = (typeof victims)[number];

/** Two fifths of the sweep are of browsers. */
const cases: Victim[] = Array.from(
  { length: isSingle ? 0 : Math.ceil((total * 2) / 5) },
  (_, at) => victims[(at + seed) % victims.length] ?? 'chromium',
);

let database: TestDatabase;
let network: Network;
let gateway: Program;
let gatewayPort: number;
const times: { victim: Victim; ms: number }[] = [];

const startGateway = () =>
  startProgram('src/gateway/main.ts', {
    ...gatewayEnv(network.internalUrl),
    SVC_GATEWAY_URL: `http://{session}--{surface}.localhost:${gatewayPort}`,
    SVC_LISTEN: `127.0.0.1:${gatewayPort}`,
  });

beforeAll(async () => {
  database = await testDatabase();
  gatewayPort = (await freePorts()).public;
  const { SVC_GATEWAY_TOKEN = '' } = gatewayEnv('');
  const template = `http://{session}--{surface}.localhost:${gatewayPort}`;
  network = await startNetwork({
    ...{ databaseUrl: database.url, poolSize: 1, poolMax: 4 },
    env: {
      SVC_BROWSER_POOL_SIZE: '1',
      SVC_CHECKPOINT_MS: '200',
      SVC_GATEWAY_URL: template,
      SVC_GATEWAY_TOKEN,
    },
  });
  gateway = await startGateway();
  const from = encodeTree(pageWorld());
  await network.client.send(createWorld, { body: { slug: 'notes', from } });
});

afterAll(async () => {
  await gateway.end('SIGTERM');
  await network.stop();
  await database.drop();
  const sorted = times.map(({ ms }) => ms).sort((a, b) => a - b);
  const report = {
    cases: sorted.length,
    medianMs: sorted[Math.floor(sorted.length / 2)],
    worstMs: sorted.at(-1),
  };
  console.log(JSON.stringify({ browsers: report, times }));
});

/** A connection to DevTools of the session’s page, by way of the gateway. */
const connect = async (session: SessionView) => {
  const { cdpUrl, headers } = browserOf(session);
  const { host, pathname } = new URL(cdpUrl);
  // Names below localhost lead to this machine, which Node does not know by itself.
  const url = `ws://127.0.0.1:${gatewayPort}${pathname}`;
  const socket = new WebSocket(url, { headers: { ...headers, host }, handshakeTimeout: 3_000 });
  socket.on('error', () => undefined);
  await once(socket, 'open', { signal: AbortSignal.timeout(4_000) });
  let nextId = 1;
  const send = async (method: string, params: object = {}, sessionId?: string) => {
    const id = nextId;
    nextId += 1;
    const answered = new Promise<Record<string, unknown>>((resolve, reject) => {
      const listen = (data: unknown): void => {
        const message = JSON.parse(String(data)) as {
          id?: number;
          result?: object;
          error?: unknown;
        };
        if (message.id !== id) return;
        socket.off('message', listen);
        if (message.result === undefined) reject(new Error(JSON.stringify(message.error)));
        else resolve(message.result as Record<string, unknown>);
      };
      socket.on('message', listen);
      socket.once('close', () => reject(new Error('the connection was closed')));
      setTimeout(() => reject(new Error(`no answer to ${method}`)), 5_000).unref();
    });
    socket.send(
      JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }),
    );
    return answered;
  };
  const { targetInfos } = await send('Target.getTargets');
  const page = (targetInfos as { type: string; targetId: string; url: string }[]).find(
    ({ type, url }) => type === 'page' && url.includes('--ui.'),
  );
  const attached = await send('Target.attachToTarget', { targetId: page?.targetId, flatten: true });
  const run = async (expression: string): Promise<unknown> => {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result } = await send('Runtime.evaluate', params, String(attached.sessionId));
    return (result as { value?: unknown }).value;
  };
  return { run, end: () => socket.terminate() };
};

const addNote = (title: string) =>
  `fetch('/__world-api/notes', {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify({title: '${title}'})}).then((answer) => answer.status, () => 0)`;

/** Kills the victim, and starts again what nobody else does. */
const kill = async (victim: Victim, sessionId: string): Promise<void> => {
  switch (victim) {
    case 'chromium':
      process.kill(chromiumOf(await programOf(network, sessionId)), 'SIGKILL');
      return;
    case 'browser host':
      process.kill(-(await programOf(network, sessionId)), 'SIGKILL');
      return;
    case 'gateway':
      await gateway.end('SIGKILL');
      gateway = await startGateway();
      return;
    case 'control plane':
      await network.control.end('SIGKILL');
      await network.restartControl();
  }
};

/** Adds notes one after another until it is told to stop, connecting again whenever it has to. */
const writeOn = (session: SessionView, acknowledged: string[]) => {
  let isOver = false;
  let connections = 0;
  /** When notes were acknowledged. */
  const times: number[] = [];
  const write = async (): Promise<void> => {
    let number = 0;
    while (!isOver) {
      const page = await connect(session).catch(() => undefined);
      if (page === undefined) {
        await pause(50);
        continue;
      }
      connections += 1;
      try {
        while (!isOver) {
          const title = `note ${number}`;
          number += 1;
          if ((await page.run(addNote(title))) !== 201) break;
          acknowledged.push(title);
          times.push(performance.now());
        }
      } catch {
        await pause(20); // the browser went, or the way to it; what was not acknowledged does not count
      } finally {
        page.end();
      }
    }
  };
  const done = write();
  return {
    connections: () => connections,
    /** The longest time without a note since then. */
    outageMs: (since: number) => {
      const before = times.filter((at) => at <= since).slice(-1);
      const all = [...before, ...times.filter((at) => at > since)];
      return Math.max(...all.slice(1).map((at, index) => at - (all[index] ?? at)));
    },
    lastAt: () => times.at(-1) ?? 0,
    async stop() {
      isOver = true;
      await done;
    },
  };
};

it.each(cases.map((victim, index) => [index, victim] as const))(
  'case %i: a session goes on when its %s is killed while it is written to',
  { timeout: 120_000 },
  async (_, victim) => {
    const session = await open(network.client, { slug: 'notes', surfaces: ['browser'] });
    expect(session.ready).toBe(true);
    const acknowledged: string[] = [];
    const writing = writeOn(session, acknowledged);
    await until(() => acknowledged.length > 0, { timeoutMs: 20_000, what: 'the first note' });
    await pause(chance.between(0, 600));
    const connections = writing.connections();
    const killedAt = performance.now();
    await kill(victim, session.id);
    const goneAt = performance.now();
    // Without the control plane the connection lives on.
    const isBack = () =>
      writing.lastAt() > goneAt &&
      (victim === 'control plane' || writing.connections() > connections);
    await until(isBack, { timeoutMs: 60_000, everyMs: 5, what: 'a note after the loss' });
    times.push({ victim, ms: Math.round(writing.outageMs(killedAt)) });
    await writing.stop();
    const after = await whole(network, session.id);
    expect(after.surfaces.browser?.cdpUrl).toBe(session.surfaces.browser?.cdpUrl);
    const input = { entity: 'notes', limit: 1_000 };
    const state = await call(network.client, session.id, { kind: 'state', input });
    const titles = (state.output as { rows: { title: string }[] }).rows.map(({ title }) => title);
    expect(acknowledged.filter((title) => !titles.includes(title))).toEqual([]);
    await close(network.client, session.id);
  },
);
