/** Tests the older names of worlds and versions: bundles are pushed, read, pinned and branched. */
import { beforeAll, describe, expect, it } from 'vitest';
import * as api from '#wire/public-api/operations.ts';
import { createDesk } from '../../support/cli/commands-on-control.ts';
import type { TestControl } from '../../support/control/control.ts';
import { changed, pushFiles } from '../../support/control/pushes.ts';
import { addNeighbour } from '../../support/control/second-project.ts';
import { shareControl } from '../../support/control/shared-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: TestControl;
let id: string;

beforeAll(async () => {
  control = await shareControl();
  const rows = { notes: [{ id: 7, folder_id: 1, title: 'given', done: false }] };
  const body = { slug: 'notes', from: encodeTree(notesWorld()), data: { rows } };
  id = (await control.send(api.createWorld, { body })).body.id;
});

const files = pushFiles(changed(notesWorld(), { 'a.md': 'a' }));

describe('a benchmark container', () => {
  it('is a world, read by slug or id, and its bundles are the versions of the world', async () => {
    const pushed = await control.send(api.pushBundle, {
      params: { containerId: id },
      body: { base: 1, files },
    });
    expect(pushed).toMatchObject({ status: 201, body: { number: 2, slug: 'notes', keptRows: 1 } });
    const { body: version } = await control.read(api.getVersion, {
      params: { slug: 'notes', version: '2' },
    });
    for (const containerId of ['notes', id]) {
      const { body: container } = await control.read(api.getContainer, { params: { containerId } });
      expect(container).toMatchObject({ containerId: id, slug: 'notes', version: { number: 2 } });
      const { body: list } = await control.read(api.listBundles, { params: { containerId } });
      expect(list.data.map(({ number }) => number)).toEqual([2, 1]);
      const params = { containerId, bundle: '2' };
      expect((await control.read(api.getBundle, { params })).body).toEqual(version);
    }
  });

  it('is found by its id wherever its slug is accepted', async () => {
    const { body: session } = await control.send(api.openSession, { body: { slug: id } });
    for (const world of ['notes', id]) {
      const { body: list } = await control.read(api.listSessions, { query: { world } });
      expect(list.data.map((each) => each.id)).toEqual([session.id]);
    }
    const params = { slug: id };
    const reads = [
      await control.read(api.getWorld, { params }),
      await control.read(api.listVersions, { params }),
      await control.read(api.listWorldTasks, { params }),
      await control.read(api.listWorldEntities, { params }),
      await control.read(api.listWorldRequests, { params }),
      await control.read(api.getWorld, { params: { slug: `${id}@1` } }),
    ];
    expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 200));
  });

  it('has pinned labels, by which its bundles are read', async () => {
    const params = { containerId: 'notes' };
    const body = { bundle: '1', label: 'stable' };
    expect((await control.send(api.pinBundle, { params, body })).body).toMatchObject({ number: 1 });
    const pinned = { containerId: 'notes', bundle: 'stable' };
    expect((await control.read(api.getBundle, { params: pinned })).body.number).toBe(1);
  });

  it('is not found by another project', async () => {
    const neighbour = await addNeighbour(control);
    const push = { base: 2, files };
    const asked = [
      ['GET', '', undefined],
      ['GET', '/bundles', undefined],
      ['GET', '/bundles/1', undefined],
      ['POST', '/bundles', push],
      ['POST', '/pin', { bundle: '1', label: 'mine' }],
      ['POST', '/branch', { slug: 'mine' }],
    ] as const;
    for (const [method, path, body] of asked) {
      const at = `/benchmark-containers/notes${path}`;
      expect((await neighbour.ask(method, at, body)).status).toBe(404);
      const authorization = `Bearer ${control.publicKey}`;
      const headers = { authorization, 'content-type': 'application/json' };
      const given = body === undefined ? {} : { body: JSON.stringify(body) };
      const raw = { method, path: `/api/public${at}`, headers, ...given };
      expect((await control.raw(raw)).status).toBe(method === 'GET' ? 200 : 403);
      const without = { ...raw, headers: { 'content-type': 'application/json' } };
      expect((await control.raw(without)).status).toBe(401);
    }
  });
});

describe('a branch of a bundle', () => {
  const branch = (body: { slug: string; bundle?: string; name?: string }, key?: string) =>
    control.send(api.branchContainer, {
      params: { containerId: 'notes' },
      headers: key === undefined ? {} : { 'idempotency-key': key },
      body,
    });

  it('starts with the files and rows of the bundle, and changes independently of it', async () => {
    const { status, body: world } = await branch({ slug: 'trial', bundle: 'stable' });
    expect(status).toBe(201);
    expect(world).toMatchObject({
      slug: 'trial',
      version: { number: 1, message: 'branched from notes@1', entityCounts: { notes: 2 } },
    });
    const params = { slug: 'notes', version: '1' };
    const { body: version } = await control.read(api.getVersion, { params });
    expect(world.files).toEqual(version.files);
    expect(world.version.contentHash).toBe(version.contentHash);
    const push = { params: { slug: 'trial' }, body: { base: 1, files } };
    expect((await control.send(api.pushVersion, push)).body).toMatchObject({ keptRows: 1 });
    const { body: from } = await control.read(api.getWorld, { params: { slug: 'notes' } });
    expect(from.version.number).toBe(2);
    const opened = await control.send(api.openSession, { body: { slug: 'trial@1' } });
    expect(opened.status).toBe(201);
  });

  it('keeps working when the world that it came from is deleted', async () => {
    const { body: world } = await branch({ slug: 'left', name: 'Left' }, 'branch-1');
    expect(await branch({ slug: 'left', name: 'Left' }, 'branch-1')).toMatchObject({
      status: 200,
      body: { id: world.id, name: 'Left' },
    });
    await expect(branch({ slug: 'left' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(branch({ slug: 'other', bundle: '9' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(branch({ slug: 'Other' })).rejects.toMatchObject({ code: 'invalid' });
    const [row] = await control.sql<{ same: boolean }>(
      `select bool_and(a.blobs @> b.blobs and a.bytes = b.bytes) as same from versions a join versions b
         on b.world_id = $1 and a.world_id = $2 and a.number = 2`,
      [world.id, id],
    );
    expect(row?.same).toBe(true);
  });
});

describe('svc worlds branch', () => {
  it('creates a world from a version', async () => {
    const desk = createDesk(control);
    try {
      const { out } = await desk.svc('worlds branch notes@1 by-hand -m why --json');
      expect(JSON.parse(out)).toMatchObject({ slug: 'by-hand', version: { message: 'why' } });
    } finally {
      desk.clear();
    }
  });
});

it('answers of versions, pushes, bundles and pins have names in the OpenAPI document', async () => {
  const { body } = await control.raw({ method: 'GET', path: '/api/public/openapi.json' });
  const document = body as {
    paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
    components: { schemas: Record<string, unknown> };
  };
  for (const [path, method, status, name] of [
    ['/worlds/{slug}/versions', 'post', '201', 'PushedVersion'],
    ['/worlds/{slug}/versions/{version}', 'get', '200', 'Version'],
    ['/benchmark-containers/{containerId}/bundles', 'post', '201', 'PushedVersion'],
    ['/benchmark-containers/{containerId}/pin', 'post', '200', 'Label'],
    ['/benchmark-containers/{containerId}/branch', 'post', '201', 'World'],
  ] as const) {
    const $ref = `#/components/schemas/${name}`;
    expect(document.paths[path]?.[method]?.responses[status]).toMatchObject({
      content: { 'application/json': { schema: { $ref } } },
    });
    expect(document.components.schemas).toHaveProperty(name);
  }
});
