/** Tests versions of worlds: read by list, number, label and id, with their files, and opened as sessions. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createWorld,
  getVersion,
  getWorld,
  getWorldFile,
  listVersions,
  listWorldTasks,
  openSession,
  removeLabel,
  setLabel,
} from '#wire/public-api/operations.ts';
import type { TestControl } from '../../support/control/control.ts';
import { changed, push } from '../../support/control/pushes.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { shareControl } from '../../support/control/shared-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: TestControl;
let neighbour: Neighbour;

beforeAll(async () => {
  control = await shareControl();
  neighbour = await addNeighbour(control);
  const from = encodeTree(notesWorld());
  await control.send(createWorld, { body: { slug: 'notes', from, message: 'to begin with' } });
  await control.send(createWorld, { body: { slug: 'other', from: 'code-hosting' } });
});

const params = { slug: 'notes' };

describe('the versions of a world', () => {
  it('are listed with the author and the changes of each', async () => {
    const { body } = await control.read(listVersions, { params });
    expect(body.meta).toEqual({ page: 1, limit: 50, totalItems: 1, totalPages: 1 });
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^ver-/),
        number: 1,
        state: 'READY',
        contentHash: expect.stringMatching(/^sha256:/),
        message: 'to begin with',
        author: control.publicKey,
        origin: 'create',
        createdAt: expect.any(String),
        labels: [],
        tests: null,
        gate: null,
        changes: {
          base: null,
          files: { added: expect.any(Number), changed: 0, removed: 0 },
          entities: { added: ['folders', 'notes'], changed: [], removed: [] },
          rows: { before: 0, after: 2 },
        },
      },
    ]);
  });

  it('can be read by number, id and "latest", but not through another world', async () => {
    const { body: world } = await control.read(getWorld, { params });
    const read = (version: string) => control.read(getVersion, { params: { ...params, version } });
    for (const version of ['1', 'latest', world.version.id]) {
      expect((await read(version)).body).toMatchObject({
        id: world.version.id,
        slug: 'notes',
        labels: [],
        files: world.files,
      });
    }
    const { body: other } = await control.read(getWorld, { params: { slug: 'other' } });
    for (const version of ['2', '0', '-1', '1e0', '99999999999', 'none', '%00', other.version.id]) {
      await expect(read(version), version).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('can be named in addresses of worlds', async () => {
    const { body: world } = await control.read(getWorld, { params: { slug: 'notes@1' } });
    expect(world).toMatchObject({
      slug: 'notes',
      version: { number: 1 },
      head: { id: world.version.id, number: 1 },
    });
    const tasks = await control.read(listWorldTasks, { params: { slug: 'notes@latest' } });
    expect(tasks.body.versionId).toBe(world.version.id);
    await expect(control.read(getWorld, { params: { slug: 'notes@2' } })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('svc worlds versions notes'),
    });
  });

  it('can be opened as sessions, by address or id', async () => {
    const { body: world } = await control.read(getWorld, { params });
    const { id: versionId } = world.version;
    for (const body of [
      { slug: 'notes@1' },
      { slug: `notes@${versionId}` },
      { slug: 'notes@1', versionId },
    ]) {
      expect((await control.send(openSession, { body })).body).toMatchObject({
        slug: 'notes',
        versionId,
      });
    }
    const refused = (body: object) => control.send(openSession, { body });
    await expect(refused({ slug: 'notes@2' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(refused({ slug: 'other', versionId })).rejects.toMatchObject({
      fields: [{ path: ['versionId'] }],
    });
  });
});

describe('a file of a version', () => {
  it('can be read by its digest if the version has it', async () => {
    const { body: world } = await control.read(getWorld, { params });
    const sha256 = world.files.find(({ path }) => path === 'tools.py')?.sha256 ?? '';
    const { body } = await control.read(getWorldFile, { params: { ...params, sha256 } });
    expect(Buffer.from(body).toString()).toContain('def count_slowly');
    const read = (address: string) =>
      control.read(getWorldFile, { params: { slug: address, sha256 } });
    await expect(read('other')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is not found by the digest of another blob, such as a snapshot', async () => {
    const [row] = await control.sql<{ snapshot: string }>('select snapshot from versions limit 1');
    const sha256 = row?.snapshot.slice('sha256:'.length) ?? '';
    await expect(
      control.read(getWorldFile, { params: { ...params, sha256 } }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the key of another project', () => {
  it('finds neither versions of the world nor their files', async () => {
    const { body: world } = await control.read(getWorld, { params });
    const sha256 = world.files[0]?.sha256 ?? '';
    for (const path of [
      'notes/versions',
      'notes/versions/1',
      `notes/versions/${world.version.id}`,
      `notes/files/${sha256}`,
      'notes@1',
    ]) {
      const { status } = await neighbour.ask('GET', `/worlds/${path}`);
      expect(status, path).toBe(404);
    }
    const labelled = await control.raw({
      method: 'PUT',
      path: '/api/public/worlds/notes/labels/mine',
      headers: { authorization: neighbour.authorization, 'content-type': 'application/json' },
      body: '{"version":"1"}',
    });
    expect(labelled.status).toBe(404);
    const opened = await neighbour.ask('POST', '/world-sessions', { slug: 'notes@1' });
    expect(opened.status).toBe(404);
  });
});

describe('a label', () => {
  const pin = (label: string, version: string) =>
    control.send(setLabel, { params: { ...params, label }, body: { version } });

  it('names a version until it is moved or removed', async () => {
    await push(control.send, 'notes', changed(notesWorld(), { 'more.md': 'more' }));
    expect((await pin('stable', '1')).body).toMatchObject({ slug: 'notes', number: 1 });
    await pin('release-1.0', 'stable');
    const labels = async () =>
      (await control.read(listVersions, { params })).body.data.map((version) => version.labels);
    expect(await labels()).toEqual([[], ['release-1.0', 'stable']]);
    const opened = await control.send(openSession, { body: { slug: 'notes@stable' } });
    const { body: first } = await control.read(getVersion, {
      params: { ...params, version: 'stable' },
    });
    expect(first).toMatchObject({ number: 1, labels: ['release-1.0', 'stable'] });
    expect(opened.body.versionId).toBe(first.id);
    await pin('stable', 'latest');
    expect(await labels()).toEqual([['stable'], ['release-1.0']]);
    await control.send(removeLabel, { params: { ...params, label: 'stable' } });
    await expect(
      control.read(getWorld, { params: { slug: 'notes@stable' } }),
    ).rejects.toMatchObject({ code: 'not_found' });
    await expect(
      control.send(removeLabel, { params: { ...params, label: 'stable' } }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  it('cannot have the form of another name of a version', async () => {
    const { body: world } = await control.read(getWorld, { params });
    for (const label of ['1', '2.0', 'latest', 'head', world.version.id, 'A', 'a@b', '-a', 'a.']) {
      await expect(pin(label, '1'), label).rejects.toMatchObject({
        fields: [{ path: ['label'] }],
      });
    }
    await expect(pin('stable', '99')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is refused beyond one hundred per world', async () => {
    await control.sql(
      `insert into version_labels (world_id, label, version_id)
       select id, 'l' || n, head_version_id from worlds, generate_series(1, 100) n where slug = 'other'`,
    );
    const { body: other } = await control.read(getWorld, { params: { slug: 'other' } });
    const give = (label: string) =>
      control.send(setLabel, {
        params: { slug: other.slug, label },
        body: { version: 'latest' },
      });
    await expect(give('one-more')).rejects.toMatchObject({ code: 'conflict' });
    expect((await give('l7')).status).toBe(200);
  });
});

describe('a world', () => {
  it('can be named by its id, and a slug cannot have the form of an id', async () => {
    const { body: world } = await control.read(getWorld, { params });
    const byId = await control.read(getWorld, { params: { slug: `${world.containerId}@1` } });
    expect(byId.body).toMatchObject({ slug: 'notes', version: { number: 1 } });
    const slug = world.id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const from = encodeTree(notesWorld());
    await expect(control.send(createWorld, { body: { slug, from } })).rejects.toMatchObject({
      fields: [{ path: ['slug'] }],
    });
  });
});
