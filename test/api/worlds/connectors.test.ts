/** Tests connectors: published in an organization, listed, and used to create worlds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reap } from '#wire/pool-api/operations.ts';
import * as api from '#wire/public-api/operations.ts';
import { createDesk } from '../../support/cli/commands-on-control.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { changed } from '../../support/control/pushes.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
/** Another project of the same organization, and a project of another organization. */
let neighbour: Neighbour;
let stranger: Neighbour;

beforeAll(async () => {
  control = await startOwnControl();
  neighbour = await addNeighbour(control);
  stranger = await addNeighbour(control);
  await control.sql(`insert into organizations (id, slug, name) values ('org-x', 'x', 'x')`);
  await control.sql(`update projects set organization_id = 'org-x' where id = $1`, [
    stranger.projectId,
  ]);
});

afterAll(() => control.stop());

const tree = (text: string) => encodeTree(changed(notesWorld(), { 'own.md': text }));

const publish = (slug: string, text: string, more = {}) =>
  control.send(api.publishConnector, { params: { slug }, body: { files: tree(text), ...more } });

const create = (slug: string, from: string) =>
  control.send(api.createWorld, { body: { slug, from } });

const fileOf = (world: { files: { path: string; sha256: string }[] }) =>
  world.files.find(({ path }) => path === 'own.md')?.sha256;

describe('a connector of an organization', () => {
  it('is published in versions, from which worlds are created', async () => {
    const first = await publish('crm', 'one', { description: 'of deals', message: 'first' });
    expect(first).toMatchObject({
      status: 201,
      body: {
        slug: 'crm',
        from: 'workspace:crm',
        name: 'Notes',
        description: 'of deals',
        latest: { number: 1, message: 'first', author: control.publicKey },
        changed: true,
      },
    });
    expect(await publish('crm', 'one')).toMatchObject({ status: 200, body: { changed: false } });
    const second = await publish('crm', 'two');
    expect(second.body).toMatchObject({ description: 'of deals', latest: { number: 2 } });
    const { body: newest } = await create('newest', 'workspace:crm');
    const { body: latest } = await create('latest', 'workspace:crm@latest');
    const { body: old } = await create('old', 'workspace:crm@1');
    expect(fileOf(latest)).toBe(fileOf(newest));
    expect(fileOf(old)).not.toBe(fileOf(newest));
    const { body: list } = await control.read(api.listConnectors, {});
    expect(list.data.map(({ slug, latest: { number } }) => [slug, number])).toEqual([['crm', 2]]);
    const { body: versions } = await control.read(api.listConnectorVersions, {
      params: { slug: 'crm' },
      query: { limit: 1 },
    });
    expect(versions).toMatchObject({ data: [{ number: 2 }], meta: { totalItems: 2 } });
  });

  it('can be published from a world', async () => {
    const body = { world: 'old@1' };
    const published = await control.send(api.publishConnector, { params: { slug: 'of' }, body });
    expect(published.status).toBe(201);
    const { body: again } = await create('again', 'workspace:of');
    const { body: old } = await control.read(api.getWorld, { params: { slug: 'old' } });
    expect(again.version.contentHash).toBe(old.version.contentHash);
  });

  it('is named in the error when it or its version does not exist', async () => {
    for (const [from, result] of [
      ['workspace:crn', 'has no connector "crn"; did you mean "crm"'],
      ['workspace:crm@9', 'no version 9; its latest is 2'],
      ['workspace:crm@stable', '"stable" is no version of a connector'],
    ] as const) {
      await expect(create('refused', from)).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringContaining(result),
        fields: [{ path: ['from'] }],
      });
    }
    const broken = encodeTree(changed(notesWorld(), { 'svc-env.toml': null }));
    const refused = { params: { slug: 'crm' }, body: { files: broken } };
    await expect(control.send(api.publishConnector, refused)).rejects.toMatchObject({
      detail: { problems: [{ file: 'svc-env.toml' }] },
    });
    for (const body of [{}, { files: broken, world: 'old' }]) {
      await expect(
        control.send(api.publishConnector, { params: { slug: 'crm' }, body }),
      ).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  it('is available to all projects of its organization, and to no other organization', async () => {
    const made = { slug: 'theirs', from: 'workspace:crm' };
    expect((await neighbour.ask('POST', '/worlds', made)).status).toBe(201);
    expect((await stranger.ask('POST', '/worlds', made)).status).toBe(400);
    expect((await stranger.ask('GET', '/connectors')).body).toMatchObject({ data: [] });
    expect((await stranger.ask('GET', '/connectors/crm/versions')).status).toBe(404);
    const files = { files: tree('theirs') };
    expect((await stranger.ask('POST', '/connectors/crm/versions', files)).status).toBe(201);
    const next = await neighbour.ask('POST', '/connectors/crm/versions', files);
    expect(next).toMatchObject({ status: 201, body: { latest: { number: 3 } } });
    await expect(
      control.read(api.publishConnector, { params: { slug: 'crm' }, body: files }),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('keeps its files when no world uses them, and counts for the quota of the project that published it', async () => {
    const usedBy = async () => {
      const [row] = await control.sql<{ bytes: number }>(
        'select coalesce(sum(bytes), 0)::int as bytes from uploads where project_id in (select id from projects where id <> $1 and id <> $2)',
        [neighbour.projectId, stranger.projectId],
      );
      return row?.bytes ?? 0;
    };
    const before = await usedBy();
    await publish('alone', 'alone');
    expect(await usedBy()).toBeGreaterThan(before);
    const body = { idleMs: 1e9, maxAgeMs: 1e9, provisionMs: 1e9, closingMs: 1e9 };
    for (let run = 0; run < 3; run += 1) await control.pool(reap, { body });
    expect((await create('from-alone', 'workspace:alone')).status).toBe(201);
  });
});

describe('svc worlds connector', () => {
  it('publishes a folder, lists connectors, and creates a world', async () => {
    const desk = createDesk(control);
    try {
      desk.write('desk', notesWorld());
      const out = await desk.svc('worlds connector publish desk ./desk -m begun');
      expect(out.out).toMatch(/connector +workspace:desk@1\nmessage +begun/);
      const again = await desk.svc('worlds connector publish desk ./desk');
      expect(again.out).toContain('nothing changed: workspace:desk@1');
      expect((await desk.svc('worlds connector list')).out).toMatch(/workspace:desk +1 +Notes/);
      expect((await desk.svc('worlds connector versions desk')).out).toMatch(/^1 .* begun$/m);
      const made = await desk.svc('worlds create by-hand --from workspace:desk@1 --json');
      expect(JSON.parse(made.out).slug).toBe('by-hand');
      const unknown = await desk.svc('worlds connector versions dusk');
      expect(unknown.err).toContain('did you mean "desk"');
    } finally {
      desk.clear();
    }
  });
});
