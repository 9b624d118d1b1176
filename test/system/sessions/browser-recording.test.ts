/** Tests the recording of a session's browser, made by real programs and played in a real Chromium. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createWorld,
  getRecording,
  getRecordingFilm,
  listSessionRequests,
} from '#wire/public-api/operations.ts';
import { drive, programOf, whole } from '../../support/browser/browser-session.ts';
import { playFilm } from '../../support/browser/recording-player.ts';
import { runSvc } from '../../support/cli/svc.ts';
import { call, close, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { pageWorld } from '../../support/worlds/page-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let network: Network;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-recording-'));
  database = await testDatabase();
  const env = { SVC_BROWSER_POOL_SIZE: '1', SVC_CHECKPOINT_MS: '200' };
  network = await startNetwork({ databaseUrl: database.url, poolSize: 1, poolMax: 3, env });
  const from = encodeTree(pageWorld());
  await network.client.send(createWorld, { body: { slug: 'notes', from } });
  await network.warm(2);
});

afterAll(async () => {
  await network.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const recording = async (sessionId: string) =>
  (await network.client.send(getRecording, { params: { sessionId } })).body;

/** Changes the colour of the page and waits until the recording has the change. */
const show = async (sessionId: string, color: string): Promise<void> => {
  const { browser, page } = await drive(await whole(network, sessionId));
  const before = (await recording(sessionId)).pictures;
  await page.evaluate(`document.body.style.background = '${color}'`);
  await expect
    .poll(async () => (await recording(sessionId)).pictures, { timeout: 20_000 })
    .toBeGreaterThan(before);
  await browser.close();
};

/** Point inside the page, whatever the size of the window's frame. */
const corner = { x: 1_200, y: 600 };
const main = ([red = 0, green = 0, blue = 0]: number[]): string => {
  const most = Math.max(red, green, blue);
  return most === red ? 'red' : most === green ? 'green' : 'blue';
};

it('a browser recording is complete through a reset and the loss of its host, and plays in a browser', async () => {
  const session = await open(network.client, {
    slug: 'notes',
    surfaces: ['browser'],
    browserRecording: true,
  });
  const { id } = session;
  await show(id, 'red');
  await call(network.client, id, { kind: 'reset' });
  await show(id, 'green');
  process.kill(-(await programOf(network, id)), 'SIGKILL');
  const marks = async () => (await recording(id)).marks.map(({ what }) => what);
  await expect.poll(marks, { timeout: 60_000 }).toContain('reclaimed');
  await show(id, 'blue');
  expect(await recording(id)).toMatchObject({ complete: false, cutAt: null });
  await close(network.client, id);
  await expect.poll(async () => (await recording(id)).complete, { timeout: 20_000 }).toBe(true);
  const result = await recording(id);
  expect(await marks()).toEqual(['start', 'reset', 'reclaimed']);
  const { body } = await network.client.send(getRecordingFilm, { params: { sessionId: id } });
  expect(body.byteLength).toBe(result.bytes);
  const film = await playFilm(body);
  try {
    expect(film).toMatchObject({ width: 1_280, height: 800 });
    expect(film.durationS).toBeCloseTo(result.durationMs / 1_000, 1);
    const [, reset = { atMs: 0 }, reclaimed = { atMs: 0 }] = result.marks;
    const colors = [];
    for (const ms of [reset.atMs - 100, reclaimed.atMs - 100, result.durationMs - 100]) {
      colors.push(main(await film.colorAt(ms / 1_000, corner)));
    }
    expect(colors).toEqual(['red', 'green', 'blue']);
  } finally {
    await film.close();
  }
  const path = join(folder, 'film.webm');
  const { url, publicKey, secretKey } = network;
  const env = { SVC_URL: url, SVC_PUBLIC_KEY: publicKey, SVC_SECRET_KEY: secretKey };
  const command = await runSvc(['worlds', 'session', 'recording', id, path], env);
  expect(command).toMatchObject({ status: 0, out: expect.stringContaining('reset at') });
  if (process.env.SVC_KEEP_FILM !== undefined) await writeFile(process.env.SVC_KEEP_FILM, body);
  expect(new Uint8Array(await readFile(path))).toEqual(body);
}, 240_000);

it('a browser recording exists only when requested at open, and other sessions store nothing', async () => {
  const { id } = await open(network.client, { slug: 'notes', surfaces: ['browser'] });
  await expect(recording(id)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('opened without a recording'),
  });
  const parts = await network.sql('select 1 from browser_recordings where session_id = $1', [id]);
  expect(parts).toEqual([]);
  await close(network.client, id);
  await expect(
    open(network.client, { slug: 'notes', surfaces: ['ui'], browserRecording: true }),
  ).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('"browser"') });
});

it('a browser recording is cut when it exceeds its size limit, and the ledger has an entry for it', async () => {
  const session = await open(network.client, {
    slug: 'notes',
    surfaces: ['browser'],
    browserRecording: true,
  });
  const { id } = session;
  await show(id, 'red');
  await network.sql('update browser_recordings set bytes = $1 where session_id = $2', [
    2 ** 27,
    id,
  ]);
  const { browser, page } = await drive(session);
  await page.evaluate(`document.body.style.background = 'green'`);
  await expect.poll(async () => (await recording(id)).cutAt, { timeout: 20_000 }).not.toBeNull();
  const operations = async () => {
    const input = { params: { sessionId: id }, query: { limit: 100 } };
    const { data } = (await network.client.send(listSessionRequests, input)).body;
    return data.map(({ operation }) => operation);
  };
  await expect.poll(operations, { timeout: 10_000 }).toContain('recording_cut');
  await browser.close();
  await close(network.client, id);
  const { body } = await network.client.send(getRecordingFilm, { params: { sessionId: id } });
  expect(body.byteLength).toBeGreaterThan(1_000);
}, 120_000);
