/** Tests archived and deleted worlds: what is still served, what can be reused, and when their blobs are collected. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { previewCollection } from '#wire/admin-api/operations.ts';
import { reap } from '#wire/pool-api/operations.ts';
import {
  archiveWorld,
  closeSession,
  createWorld,
  deleteWorld,
  getSession,
  getWorld,
  listSessions,
  listWorlds,
  openSession,
} from '#wire/public-api/operations.ts';
import { createDesk } from '../../support/cli/commands-on-control.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { changed, push } from '../../support/control/pushes.ts';
import { addNeighbour } from '../../support/control/second-project.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});

afterAll(() => control.stop());

const create = (slug: string, text = '') =>
  control.send(createWorld, {
    body: { slug, from: encodeTree(changed(notesWorld(), { 'own.md': `${slug} ${text}` })) },
  });

const slugs = async (archived: boolean) =>
  (await control.read(listWorlds, { query: { archived } })).body.data.map(({ slug }) => slug);

describe('an archived world', () => {
  it('can be read, but neither opened nor pushed to until it is restored', async () => {
    const { body: world } = await create('old');
    const params = { slug: 'old' };
    await control.send(archiveWorld, { params, body: { archived: true } });
    expect(await slugs(true)).toEqual(['old']);
    expect(await slugs(false)).toEqual([]);
    const { body: read } = await control.read(getWorld, { params });
    expect(read.archivedAt).not.toBeNull();
    for (const body of [{ slug: 'old' }, { versionId: world.version.id }]) {
      await expect(control.send(openSession, { body })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('svc worlds archive old --undo'),
      });
    }
    await expect(push(control.send, 'old', notesWorld())).rejects.toMatchObject({
      code: 'conflict',
    });
    await control.send(archiveWorld, { params, body: { archived: false } });
    expect(await slugs(false)).toEqual(['old']);
    expect((await control.send(openSession, { body: params })).status).toBe(201);
  });
});

describe('a deleted world', () => {
  it('is not found, its slug can be reused, and its open sessions keep their version', async () => {
    const { body: first } = await create('gone', 'first');
    const params = { slug: 'gone' };
    const { body: session } = await control.send(openSession, { body: params });
    expect((await control.send(deleteWorld, { params })).body.id).toBe(first.id);
    for (const slug of ['gone', first.id]) {
      await expect(control.read(getWorld, { params: { slug } })).rejects.toMatchObject({
        code: 'not_found',
      });
    }
    await expect(
      control.send(openSession, { body: { versionId: first.version.id } }),
    ).rejects.toMatchObject({ code: 'not_found' });
    await expect(control.send(deleteWorld, { params })).rejects.toMatchObject({
      code: 'not_found',
    });
    const { body: second } = await create('gone', 'second');
    expect(second.id).not.toBe(first.id);
    const shown = await control.read(getSession, { params: { sessionId: session.id } });
    expect(shown.body).toMatchObject({ slug: 'gone', versionId: first.version.id });
    const { body: list } = await control.read(listSessions, {});
    expect(list.data.find(({ id }) => id === session.id)?.slug).toBe('gone');
    await control.send(closeSession, { params: { sessionId: session.id }, body: {} });
  });

  it('can be deleted and archived only by its own project', async () => {
    const neighbour = await addNeighbour(control);
    for (const [method, path, body] of [
      ['DELETE', '', undefined],
      ['PUT', '/archived', '{"archived":true}'],
    ] as const) {
      const answer = await control.raw({
        method,
        path: `/api/public/worlds/gone${path}`,
        headers: {
          authorization: neighbour.authorization,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body }),
      });
      expect(answer.status).toBe(404);
    }
  });
});

describe('the blobs of a deleted world', () => {
  const tidy = () =>
    control.pool(reap, {
      body: { idleMs: 1e9, maxAgeMs: 1e9, provisionMs: 1e9, closingMs: 1e9 },
    });
  const heldBy = async (id: string) => {
    const [row] = await control.sql<{ bytes: string }>(
      'select sum(bytes)::text as bytes from versions where world_id = $1',
      [id],
    );
    return Number(row?.bytes);
  };

  it('are kept while a session is open and for an hour, then removed unless another world uses them', async () => {
    const { body: world } = await create('heavy', 'alone');
    const { body: twin } = await create('light');
    const own = world.files.find(({ path }) => path === 'own.md')?.sha256 ?? '';
    const shared = world.files.find(({ path }) => path === 'tools.py')?.sha256 ?? '';
    const { body: session } = await control.send(openSession, { body: { slug: 'heavy' } });
    const preview = async () => (await control.admin(previewCollection, {})).body;
    const before = await preview();
    await control.send(deleteWorld, { params: { slug: 'heavy' } });
    const result = await preview();
    // Only one file is not shared; the bundle and the rows are also those of the twin.
    expect(result.blobs).toBe(before.blobs + 1);
    expect(result.bytes).toBe(before.bytes + 'heavy alone'.length);
    expect(result.worlds.at(-1)?.world).toMatch(/\/heavy$/);
    const has = (hex: string) => {
      const { blobs } = control.config;
      const folder = blobs.kind === 'folder' ? blobs.folder : '';
      return existsSync(join(folder, hex.slice(0, 2), hex));
    };
    await tidy();
    expect(await heldBy(world.id)).toBeGreaterThan(0);
    await control.sql(
      `update worlds set deleted_at = now() - interval '2 hours' where deleted_at is not null`,
    );
    for (let run = 0; run < 3; run += 1) await tidy();
    expect(await heldBy(world.id)).toBeGreaterThan(0);
    expect(has(own)).toBe(true);
    await control.send(closeSession, { params: { sessionId: session.id }, body: {} });
    await control.sql(
      `update sessions set state = 'CLOSED', closed_at = now(), end_reason = 'requested' where id = $1`,
      [session.id],
    );
    for (let run = 0; run < 10; run += 1) await tidy();
    expect(await heldBy(world.id)).toBe(0);
    expect(has(own)).toBe(false);
    expect(has(shared)).toBe(true);
    expect(await preview()).toMatchObject({ blobs: 0, bytes: 0, worlds: [], graceMinutes: 60 });
    expect(await heldBy(twin.id)).toBeGreaterThan(0);
    const [left] = await control.sql<{ uploads: number }>(
      'select count(*)::int as uploads from uploads',
    );
    expect(left?.uploads).toBe(0);
  });
});

describe('svc worlds archive and delete', () => {
  it('archive a world, restore it and delete it', async () => {
    await create('desk');
    const desk = createDesk(control);
    try {
      expect((await desk.svc('worlds archive desk')).out).toBe('desk is archived\n');
      expect((await desk.svc('worlds archive desk --undo')).out).toBe('desk is restored\n');
      const refused = await desk.svc('worlds delete desk');
      expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('add --yes') });
      expect((await desk.svc('worlds delete desk --yes')).out).toBe('desk is deleted\n');
      expect((await desk.svc('worlds describe desk')).status).toBe(1);
    } finally {
      desk.clear();
    }
  });
});
