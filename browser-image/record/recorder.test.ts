/** Tests the pictures that a recording takes of a real Chromium. */

import { chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { recordingLimits } from '#domain/recording.ts';
import { until } from '#runtime/pause.ts';
import {
  type Site,
  type StartedBrowser,
  startBrowserForTest,
  startSite,
} from '#test/support/browser/browser-program.ts';
import type { Surface } from '../program.ts';
import type { RecordedPicture } from './recorder.ts';

/** Timeout for hooks: Chromium starts and stops in them, on machines that are busy with other work. */
const hookMs = 60_000;
const waiting = { timeoutMs: 30_000 };

let site: Site;
let browser: StartedBrowser;
let surface: Surface;
let pictures: RecordedPicture[];

beforeAll(async () => {
  site = await startSite();
}, hookMs);

afterEach(() => browser.stop(), hookMs);
afterAll(() => site.close());

const assign = async (isRecorded = true): Promise<void> => {
  pictures = [];
  browser = await startBrowserForTest();
  const recording = {
    mark: 'start' as const,
    onPicture: (picture: RecordedPicture) => void pictures.push(picture),
  };
  surface = await browser.assign({
    ...{ entry: `${site.origin}/`, reach: [{ origin: site.origin }] },
    ...(isRecorded ? { recording } : {}),
  });
};

const run = async (script: string): Promise<void> => {
  const headers = { authorization: `Bearer ${surface.token}` };
  const client = await chromium.connectOverCDP(surface.cdpUrl, { headers });
  await client.contexts()[0]?.pages()[0]?.evaluate(script);
  await client.close();
};

const more = (what: string, after = pictures.length) =>
  until(() => pictures.slice(after).at(-1), { ...waiting, what });

const marked = (mark: string) =>
  until(() => pictures.find((one) => one.mark === mark), { ...waiting, what: mark });

/** Returns the width and height of a VP8 key frame. */
const sizeOf = ({ data }: RecordedPicture) => {
  const view = Buffer.from(data);
  expect(view.subarray(3, 6).toString('hex')).toBe('9d012a');
  return { width: view.readUInt16LE(6), height: view.readUInt16LE(8) };
};

it('pictures are recorded on each change, all of one size, through a reset and a loss', async () => {
  await assign();
  const first = await marked('start');
  const { width, height } = recordingLimits;
  expect(sizeOf(first)).toEqual({ width, height });
  const changed = more('a change');
  await run(`document.body.style.background = 'red'`);
  expect((await changed).atMs).toBeGreaterThan(first.atMs);
  await browser.reset();
  await marked('reset');
  process.kill(browser.status().pid as number, 'SIGKILL');
  expect(sizeOf(await marked('restored'))).toEqual({ width, height });
  await browser.end();
  const all = pictures.length;
  await browser.assign({ entry: `${site.origin}/`, reach: [{ origin: site.origin }] });
  expect(pictures).toHaveLength(all);
}, 90_000);

it('a page that changes all the time is recorded with at most four pictures a second, and the recorder does not count as a client', async () => {
  await assign();
  await marked('start');
  await run(`setInterval(() => { document.body.style.background = '#' +
    Math.floor(Math.random() * 0xffffff).toString(16).padStart(6, '0') }, 20)`);
  await until(() => pictures.length > 8, { ...waiting, what: 'eight pictures' });
  const gaps = pictures.slice(1).map(({ atMs }, index) => atMs - (pictures[index]?.atMs ?? 0));
  expect(gaps.every((gap) => gap > 0)).toBe(true);
  const [begin, end] = [pictures.at(1)?.atMs ?? 0, pictures.at(-1)?.atMs ?? 0];
  expect((end - begin) / (pictures.length - 2)).toBeGreaterThan(recordingLimits.pictureMs * 0.9);
  await until(() => browser.status().connections === 0, { ...waiting, what: 'no client' });
}, 90_000);

it('no pictures are recorded unless the session asks for a recording', async () => {
  await assign(false);
  await run(`document.body.style.background = 'red'`);
  await browser.end();
  expect(pictures).toEqual([]);
}, 60_000);
