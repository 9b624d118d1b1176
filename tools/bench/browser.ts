/**
 * Measures a session's browser by itself: the time until it shows its entry page, its memory, the delay until a person
 * sees the result of an action, and the time to restore it after a loss. The page is small and local, so that the
 * browser alone is measured.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { WebSocket } from 'ws';
import { pause, until } from '#runtime/pause.ts';
import {
  type Site,
  type StartedBrowser,
  startBrowserForTest,
  startSite,
} from '../../test/support/browser/browser-program.ts';
import { type Figure, median, percentile } from './figure.ts';

const opens = 10;
const clicks = 60;
const losses = 4;
/**
 * Pause before each measurement, in milliseconds: a browser of a warm pool has been up for at least this time, and
 * Chromium keeps working for a moment after its start.
 */
const settleMs = 2_000;

const accepts = async (browser: StartedBrowser): Promise<void> => {
  const socket = new WebSocket(browser.cdpLink());
  await once(socket, 'open');
  socket.send('{"id":1,"method":"Browser.getVersion"}');
  await once(socket, 'message');
  socket.close();
};

/** Returns the memory of a process group in MB, with shared pages counted in parts (PSS). */
const megabytesOf = (group: number): number => {
  const share = (pid: string): number => {
    try {
      const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
      if (Number(fields.split(' ')[2]) !== group) return 0;
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
    } catch {
      return 0; // the process ended after it was listed
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.reduce((sum, pid) => sum + share(pid), 0) / 1_000;
};

const measureViews = async (browser: StartedBrowser): Promise<number[]> => {
  const entered = await fetch(browser.viewLink({ isReadOnly: false }), { redirect: 'manual' });
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const headers = { cookie, origin: browser.address };
  const view = new WebSocket(`${browser.address.replace('http', 'ws')}/view/socket`, { headers });
  let onFrame = (): void => {};
  view.on('message', (_, isBinary) => {
    if (isBinary) onFrame();
  });
  await once(view, 'open');
  await pause(settleMs);
  const samples: number[] = [];
  const at = { x: 60, y: 330, button: 'left', clicks: 1, modifiers: 0 };
  for (let click = 0; click < clicks; click += 1) {
    const begunAt = performance.now();
    const frame = new Promise<void>((resolve) => {
      onFrame = resolve;
    });
    view.send(JSON.stringify({ type: 'mouse', event: 'down', buttons: 1, ...at }));
    await frame;
    samples.push(performance.now() - begunAt);
    view.send(JSON.stringify({ type: 'mouse', event: 'up', buttons: 0, ...at }));
    await pause(150);
  }
  view.terminate();
  return samples;
};

/** Measures losses, with a spare Chromium if the program keeps one, as containers do. */
const measureLosses = async (browser: StartedBrowser, hasSpare: boolean): Promise<number[]> => {
  const samples: number[] = [];
  for (let loss = 0; loss < losses; loss += 1) {
    const isReady = () => browser.status().hasSpare === hasSpare;
    await until(isReady, { timeoutMs: 30_000, what: 'the spare' });
    await pause(settleMs);
    const begunAt = performance.now();
    process.kill(browser.status().pid as number, 'SIGKILL');
    const isLost = () => browser.status().condition === 'lost';
    await until(isLost, { timeoutMs: 5_000, everyMs: 1, what: 'the loss' });
    await accepts(browser);
    samples.push(performance.now() - begunAt);
  }
  return samples;
};

type Samples = Record<
  'cold' | 'warm' | 'connect' | 'memory' | 'view' | 'restore' | 'restoreAlone',
  number[]
>;

const measureRestores = async (site: Site, samples: Samples, spare: 'yes' | 'no') => {
  const browser = await startBrowserForTest({ SVC_BROWSER_SPARE: spare });
  try {
    await browser.assign({ entry: `${site.origin}/`, reach: [{ origin: site.origin }] });
    const found = await measureLosses(browser, spare === 'yes');
    (spare === 'yes' ? samples.restore : samples.restoreAlone).push(...found);
  } finally {
    await browser.stop();
  }
};

const measureOne = async (site: Site, samples: Samples, isLast: boolean): Promise<void> => {
  const startedAt = performance.now();
  const browser = await startBrowserForTest();
  const startMs = performance.now() - startedAt;
  try {
    await pause(settleMs);
    const openedAt = performance.now();
    const reach = [{ origin: site.origin }];
    const { cdpUrl, token } = await browser.assign({ entry: `${site.origin}/`, reach });
    await accepts(browser);
    const openMs = performance.now() - openedAt;
    samples.warm.push(openMs);
    samples.cold.push(startMs + openMs);
    const connectedAt = performance.now();
    const headers = { authorization: `Bearer ${token}` };
    const client = await chromium.connectOverCDP(cdpUrl, { headers });
    samples.connect.push(performance.now() - connectedAt);
    await client.close();
    samples.memory.push(megabytesOf(browser.status().pid as number));
    if (!isLast) return;
    samples.view.push(...(await measureViews(browser)));
  } finally {
    await browser.stop();
  }
};

/** Measures browsers, one after another. */
export const benchBrowser = async (): Promise<Figure[]> => {
  const site = await startSite();
  const samples: Samples = {
    ...{ cold: [], warm: [], connect: [], memory: [], view: [] },
    ...{ restore: [], restoreAlone: [] },
  };
  for (let open = 1; open <= opens; open += 1) await measureOne(site, samples, open === opens);
  for (const spare of ['yes', 'no'] as const) await measureRestores(site, samples, spare);
  await site.close();
  const figure = (name: string, value: number, rest: Partial<Figure> = {}): Figure => ({
    name: `browser.${name}`,
    value,
    unit: 'ms',
    floor: null,
    peer: null,
    target: null,
    better: 'lower',
    ...rest,
  });
  return [
    figure('assign.p50', median(samples.warm)),
    figure('assign.p95', percentile(samples.warm, 0.95)),
    figure('open.cold', median(samples.cold)),
    figure('connect', median(samples.connect)),
    figure('rss', median(samples.memory), { unit: 'MB' }),
    figure('view.latency', median(samples.view), { target: 80 }),
    figure('restore', median(samples.restore), { target: 2_000 }),
    figure('restore.alone', median(samples.restoreAlone)),
  ];
};
