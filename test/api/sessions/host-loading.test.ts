/** Tests what hosts load: the assigned session, the blobs that it needs, and the result when loading fails. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SessionState } from '#domain/session.ts';
import type { Digest } from '#domain/world.ts';
import { checkBlobs, examine } from '#wire/admin-api/operations.ts';
import { heartbeat, pollHost, reportWarm } from '#wire/host-api/operations.ts';
import { closeSession, createWorld, getSession, openSession } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { pathOf } from '../../../src/control/platform/blobs/blobs.ts';
import { startTestControl } from '../../support/control/control.ts';
import {
  baseState,
  clearPool,
  type PlayedHost,
  playedAddress,
  warmHost,
} from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl({ hostMaxUses: 3 });
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

const open = async (): Promise<SessionView> =>
  (await control.send(openSession, { body: { slug: 'notes', reuseWarm: true } })).body;

const read = async (sessionId: string): Promise<SessionView> =>
  (await control.send(getSession, { params: { sessionId } })).body;

const rowOf = async (host: PlayedHost) => {
  const [row] = await control.sql<{
    state: string;
    generation: number;
    end_reason: string | null;
    end_detail: string | null;
  }>('select state, generation, end_reason, end_detail from hosts where id = $1', [host.id]);
  return row;
};

/** Returns a session and its host, brought into this state. */
const inState = async (state: SessionState): Promise<[SessionView, PlayedHost]> => {
  const host = await warmHost(control);
  const session = await open();
  await host.poll();
  if (state === 'PROVISIONING') return [session, host];
  await host.ready();
  if (state === 'CLOSING') {
    await control.send(closeSession, { params: { sessionId: session.id }, body: {} });
  }
  return [session, host];
};

const holdingOf = (host: PlayedHost) => ({
  bundle: host.assignment?.bundle ?? baseState,
  stateDigest: baseState,
});

describe('a host that cannot load its session', () => {
  it('fails the session with its error, and is drained', async () => {
    const [session, host] = await inState('PROVISIONING');
    await host.failed('load_failed', 'tools.py: line 3: no module named numpy');
    expect(await read(session.id)).toMatchObject({
      state: 'FAILED',
      endReason: 'provision_failed',
      error: { code: 'load_failed', message: 'tools.py: line 3: no module named numpy' },
    });
    expect(await rowOf(host)).toMatchObject({ state: 'draining', end_reason: 'load_failed' });
  });

  it('gets its assignment without the lost blobs, and the doctor names the blobs', async () => {
    const { config } = control;
    if (config.blobs.kind !== 'folder') throw new Error('blobs are in no folder');
    const slug = 'lost-notes';
    const { body: world } = await control.send(createWorld, {
      body: {
        slug,
        from: encodeTree(notesWorld()),
        data: { rows: { folders: [{ id: 9, name: 'x' }] } },
      },
    });
    const [row] = await control.sql<{ snapshot: Digest }>(
      'select snapshot from versions where id = $1',
      [world.version.id],
    );
    const lost = row?.snapshot ?? baseState;
    await rm(join(config.blobs.folder, pathOf(lost)));
    const host = await warmHost(control);
    const { id: sessionId } = (await control.send(openSession, { body: { slug } })).body;
    const assignment = await host.poll();
    expect(assignment).toMatchObject({ sessionId, snapshot: lost });
    expect(Object.keys(assignment?.blobs ?? {})).toEqual([assignment?.bundle]);
    await expect(host.blob(lost)).rejects.toMatchObject({
      code: 'not_found',
      message: `there is no blob ${lost}`,
    });
    const { body: found } = await control.admin(examine, {});
    expect(found.checks.find(({ name }) => name === 'worlds')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining(`local/default/${slug} (${lost})`),
      fix: expect.stringContaining('create the worlds again under their slugs'),
    });
    const again = { slug, from: encodeTree(notesWorld()) };
    const made = (await control.send(createWorld, { body: again })).body;
    expect(made).toMatchObject({ id: world.id, version: { number: 2 } });
    await expect(control.send(createWorld, { body: again })).rejects.toThrow('is taken');
    const well = (await control.admin(examine, {})).body.checks;
    expect(well.find(({ name }) => name === 'worlds')).toMatchObject({ status: 'ok' });
  });

  it('does not get damaged bytes, and the doctor names the damaged blob and its world', async () => {
    const { config } = control;
    if (config.blobs.kind !== 'folder') throw new Error('blobs are in no folder');
    const data = { rows: { folders: [{ id: 7, name: 'y' }] } };
    const from = encodeTree(notesWorld());
    const { body: world } = await control.send(createWorld, {
      body: { slug: 'damaged-notes', from, data },
    });
    const [row] = await control.sql<{ snapshot: Digest }>(
      'select snapshot from versions where id = $1',
      [world.version.id],
    );
    const damaged = row?.snapshot ?? baseState;
    const path = join(config.blobs.folder, pathOf(damaged));
    const bytes = await readFile(path);
    const result = { world: 'local/default/damaged-notes', blob: damaged };
    await writeFile(path, Buffer.alloc(bytes.byteLength));
    try {
      const { body: found } = await control.admin(examine, {});
      expect(found.checks.find(({ name }) => name === 'worlds')).toMatchObject({
        status: 'failed',
        message: expect.stringContaining('blobs of 1 worlds are damaged'),
        fix: expect.stringContaining('copy the blobs back'),
      });
      const { body: all } = await control.admin(checkBlobs, { query: {} });
      expect(all).toMatchObject({ damaged: [result], looked: all.total, next: null });
    } finally {
      await writeFile(path, bytes);
    }
    const { body: well } = await control.admin(checkBlobs, { query: {} });
    expect(well).toMatchObject({ damaged: [], bytes: expect.any(Number), next: null });
  });

  it('cannot become ready with a bundle other than the assigned one', async () => {
    const [session, host] = await inState('PROVISIONING');
    if (host.assignment === undefined) throw new Error('no assignment');
    host.assignment = { ...host.assignment, bundle: baseState };
    await expect(host.ready()).rejects.toMatchObject({ code: 'conflict' });
    expect((await read(session.id)).state).toBe('PROVISIONING');
  });
});

describe('a host that became warm under the previous release', () => {
  it('continues to serve at its address, whatever the source address of its requests', async () => {
    const [session, host] = await inState('READY');
    await control.sql('update hosts set source_address = null where id = $1', [host.id]);
    const fresh = await startTestControl({
      databaseUrl: control.config.databaseUrl.reveal(),
      replicaOf: control,
    });
    try {
      const there = fresh.asHost(host.token, '10.9.8.7');
      const params = { hostId: host.id };
      const body = { generation: host.generation, rssBytes: 1 };
      expect((await there(heartbeat, { params, body })).body).toMatchObject({ drain: false });
      const close = { params: { sessionId: session.id }, body: { keepWarm: true } };
      await control.send(closeSession, close);
      await host.closed();
      const report = { generation: host.generation, holding: holdingOf(host), found: [] };
      const moved = { ...report, address: 'http://127.0.0.1:5432' };
      await expect(there(reportWarm, { params, body: moved })).rejects.toMatchObject({
        code: 'forbidden',
      });
      const same = { ...report, address: playedAddress(host.id) };
      expect((await there(reportWarm, { params, body: same })).body).toEqual({ state: 'warm' });
      expect((await there(pollHost, { params, body: report })).body).toEqual({});
    } finally {
      await fresh.stop();
    }
  });
});

describe('blobs', () => {
  it('can be read by the host that they are assigned to, and by no other', async () => {
    const [, host] = await inState('PROVISIONING');
    const { bundle, snapshot } = host.assignment ?? { bundle: baseState, snapshot: baseState };
    expect((await host.blob(bundle)).byteLength).toBeGreaterThan(100);
    expect((await host.blob(snapshot)).byteLength).toBeGreaterThan(100);
    await expect(host.blob(baseState)).rejects.toMatchObject({ code: 'forbidden' });
    const other = await warmHost(control);
    await expect(other.blob(bundle)).rejects.toMatchObject({ code: 'forbidden' });
  });
});
