/**
 * Tests recordings of browsers: the parts that are stored, how recordings are described and read, and when they are
 * deleted.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recordingLimits } from '#domain/recording.ts';
import type { Digest } from '#domain/world.ts';
import { reap } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  createWorld,
  getRecording,
  getRecordingFilm,
  openSession,
} from '#wire/public-api/operations.ts';
import { pathOf } from '../../../src/control/platform/blobs/blobs.ts';
import { startTestControl } from '../../support/control/control.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { type PlayedBrowser, warmBrowser } from '../../support/control/played-browser.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: Awaited<ReturnType<typeof startTestControl>>;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  const from = encodeTree(toTree(unlinkedWorld()));
  await control.send(createWorld, { body: { slug: 'board', from } });
});

afterEach(() => clearPool(control));

afterAll(async () => {
  await control.stop();
  await database.drop();
});

const beganAtMs = Date.UTC(2026, 2, 1);

/** Returns a picture: the header of a VP8 key frame, and filler bytes. */
const picture = (afterMs: number, width: number = recordingLimits.width, bytes = 100) => {
  const data = Buffer.alloc(bytes, 7);
  data.set([0x10, 0, 0, 0x9d, 0x01, 0x2a]);
  data.writeUInt16LE(width, 6);
  data.writeUInt16LE(recordingLimits.height, 8);
  return { afterMs, data: data.toString('base64') };
};

const part = (number: number, parts: object = {}) => ({
  ...{ number, beganAtMs: beganAtMs + number * 6_000, mark: null },
  ...{ pictures: [picture(0), picture(400)] },
  ...parts,
});

/** Opens a session, recorded unless `browserRecording` is false, and returns it with its browser. */
const openRecorded = async (browserRecording = true) => {
  const host = await warmHost(control);
  const browser = await warmBrowser(control);
  const body = { slug: 'board', surfaces: ['browser' as const], browserRecording };
  const { id } = (await control.send(openSession, { body })).body;
  await host.poll();
  await host.ready();
  const assignment = await browser.poll();
  await browser.ready();
  return { id, host, browser, assignment };
};

const tell = async (sessionId: string) =>
  (await control.send(getRecording, { params: { sessionId } })).body;

const film = async (sessionId: string) =>
  (await control.send(getRecordingFilm, { params: { sessionId } })).body;

const partsOf = (sessionId: string) =>
  control.sql<{ number: number; digest: string }>(
    'select number, digest from browser_recording_parts where session_id = $1 order by number',
    [sessionId],
  );

const tidy = () =>
  control.pool(reap, {
    body: { idleMs: 600_000, maxAgeMs: 600_000, provisionMs: 600_000, closingMs: 600_000 },
  });

const refused = async (browser: PlayedBrowser, sent: object) =>
  browser.record(part(0, sent)).then(
    () => 'taken',
    ({ code }) => code,
  );

describe('a recording', () => {
  it('can be described and read up to the present while it continues, with the times of its parts', async () => {
    const { id, browser, assignment } = await openRecorded();
    expect(assignment?.recording).toEqual({ next: 0 });
    expect(await tell(id)).toMatchObject({ beganAt: null, pictures: 0, bytes: 0, marks: [] });
    await expect(film(id)).rejects.toMatchObject({ code: 'not_found' });
    await browser.record(part(0, { mark: 'start' }));
    await browser.record(part(1, { mark: 'reset' }));
    const result = await tell(id);
    expect(result).toMatchObject({ durationMs: 7_400, pictures: 4, complete: false, cutAt: null });
    expect(result.marks).toEqual([
      { atMs: 0, at: '2026-03-01T00:00:00.000Z', what: 'start' },
      { atMs: 6_000, at: '2026-03-01T00:00:06.000Z', what: 'reset' },
    ]);
    const bytes = await film(id);
    expect(bytes.byteLength).toBe(result.bytes);
    expect(Buffer.from(bytes).subarray(0, 4).toString('hex')).toBe('1a45dfa3');
  });

  it("continues with the next browser, regardless of that browser's clock", async () => {
    const { id, browser } = await openRecorded();
    await browser.record(part(0, { mark: 'start' }));
    await browser.leave();
    const next = await warmBrowser(control);
    expect((await next.poll())?.recording).toEqual({ next: 1 });
    await next.record(part(1, { mark: 'reclaimed', beganAtMs: beganAtMs - 3_600_000 }));
    expect((await tell(id)).marks.map(({ atMs }) => atMs)).toEqual([0, 401]);
    await expect(browser.record(part(2))).rejects.toMatchObject({ code: 'conflict' });
  });

  it('stores a part once, even when the part is sent again or with other content', async () => {
    const { id, browser } = await openRecorded();
    await browser.record(part(0));
    const before = await partsOf(id);
    await browser.record(part(0));
    await browser.record(part(0, { pictures: [picture(9)] }));
    expect(await partsOf(id)).toEqual(before);
    expect((await tell(id)).pictures).toBe(2);
  });

  it('accepts the last part while its session is closing', async () => {
    const { id, host, browser } = await openRecorded();
    await browser.record(part(0));
    await control.send(closeSession, { params: { sessionId: id }, query: {}, body: {} });
    await host.poll();
    await browser.record(part(1));
    expect(await tell(id)).toMatchObject({ pictures: 4, complete: false });
  });

  it('accepts only pictures of its size, in order and within bounds', async () => {
    const { id, browser } = await openRecorded();
    const none = { afterMs: 0, data: Buffer.from('<svg onload=alert(1)>').toString('base64') };
    expect(await refused(browser, { pictures: [] })).toBe('invalid');
    expect(await refused(browser, { pictures: [none] })).toBe('invalid');
    expect(await refused(browser, { pictures: [picture(0, 640)] })).toBe('invalid');
    expect(await refused(browser, { pictures: [picture(5), picture(5)] })).toBe('invalid');
    expect(await refused(browser, { pictures: [picture(40_000)] })).toBe('invalid');
    expect(await refused(browser, { mark: '__proto__' })).toBe('invalid');
    expect(await refused(browser, { number: -1 })).toBe('invalid');
    expect(await partsOf(id)).toEqual([]);
  });

  it('is cut at its size limit, and reports when it was cut', async () => {
    const { id, browser } = await openRecorded();
    expect((await browser.record(part(0))).body).toEqual({ isCut: false });
    await control.sql('update browser_recordings set bytes = $1 where session_id = $2', [
      recordingLimits.bytes,
      id,
    ]);
    expect((await browser.record(part(1))).body).toEqual({ isCut: true });
    expect((await browser.record(part(2))).body).toEqual({ isCut: true });
    const result = await tell(id);
    expect(result.cutAt).not.toBeNull();
    expect(result.pictures).toBe(2);
    await browser.leave();
    const next = await warmBrowser(control);
    expect(await next.poll()).not.toHaveProperty('recording');
  });

  it('is deleted with its bytes some time after its session ended', async () => {
    const { id, browser } = await openRecorded();
    await browser.record(part(0));
    const [kept] = await partsOf(id);
    const { blobs } = control.config;
    if (blobs.kind !== 'folder') throw new Error('the blobs of tests are in a folder');
    const path = join(blobs.folder, pathOf(kept?.digest as Digest));
    await tidy();
    expect(existsSync(path)).toBe(true);
    expect(await partsOf(id)).toHaveLength(1);
    await control.sql(
      `update sessions set state = 'CLOSED', end_reason = 'requested', closed_at = now() - interval '31 days' where id = $1`,
      [id],
    );
    await tidy();
    expect(await partsOf(id)).toEqual([]);
    expect(existsSync(path)).toBe(false);
    expect(await tell(id)).toMatchObject({ pictures: 0, bytes: 0 });
    await expect(film(id)).rejects.toMatchObject({
      message: expect.stringContaining('30 days'),
    });
  });
});

describe('a session without a recording', () => {
  it('reports how to get one and refuses parts', async () => {
    const { id, browser, assignment } = await openRecorded(false);
    expect(assignment).not.toHaveProperty('recording');
    await expect(tell(id)).rejects.toMatchObject({
      message: expect.stringContaining('browserRecording'),
    });
    expect(await refused(browser, {})).toBe('conflict');
  });

  it('is not opened when a recording is requested without a browser', async () => {
    const body = { slug: 'board', surfaces: ['ui' as const], browserRecording: true };
    await expect(control.send(openSession, { body })).rejects.toMatchObject({
      code: 'invalid',
      fields: [expect.objectContaining({ path: ['browserRecording'] })],
    });
  });
});

it('a recording is not shown to a public key, as it may show what was typed', async () => {
  const { id } = await openRecorded();
  for (const shape of [getRecording, getRecordingFilm]) {
    await expect(control.read(shape, { params: { sessionId: id } })).rejects.toMatchObject({
      code: 'forbidden',
    });
  }
});
