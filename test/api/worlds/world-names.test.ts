/** Tests renamed worlds: the answers for their old slugs, and the places that have the new slug. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createWorld,
  deleteWorld,
  getSession,
  getWorld,
  openSession,
  renameWorld,
} from '#wire/public-api/operations.ts';
import { createDesk } from '../../support/cli/commands-on-control.ts';
import type { TestControl } from '../../support/control/control.ts';
import { changed } from '../../support/control/pushes.ts';
import { addNeighbour } from '../../support/control/second-project.ts';
import { shareControl } from '../../support/control/shared-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: TestControl;

beforeAll(async () => {
  control = await shareControl();
});

const create = async (slug: string) =>
  (await control.send(createWorld, { body: { slug, from: encodeTree(notesWorld()) } })).body;

const renameTo = async (slug: string, next: string) =>
  (await control.send(renameWorld, { params: { slug }, body: { slug: next } })).body;

describe('a renamed world', () => {
  it('keeps its id, versions and sessions, which show the new slug', async () => {
    const world = await create('crm');
    const { body: session } = await control.send(openSession, { body: { slug: 'crm' } });
    const renamed = await renameTo('crm', 'sales');
    expect(renamed).toMatchObject({ id: world.id, slug: 'sales', version: world.version });
    const params = { sessionId: session.id };
    expect((await control.read(getSession, { params })).body.slug).toBe('sales');
    for (const slug of ['sales', world.id]) {
      expect((await control.read(getWorld, { params: { slug } })).body.slug).toBe('sales');
    }
  });

  it('is named in errors about its old slug, which a new world may use at once', async () => {
    await create('old');
    await renameTo('old', 'middle');
    await renameTo('middle', 'new');
    for (const slug of ['old', 'middle@1']) {
      await expect(control.read(getWorld, { params: { slug } })).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('it was renamed to "new"'),
      });
    }
    const other = await create('old');
    expect((await control.read(getWorld, { params: { slug: 'old' } })).body.id).toBe(other.id);
    await renameTo('new', 'middle');
    await control.send(deleteWorld, { params: { slug: 'middle' } });
    await expect(control.read(getWorld, { params: { slug: 'new' } })).rejects.toMatchObject({
      message: expect.not.stringContaining('renamed'),
    });
  });

  it('can change its name and description, and gets no slug that is taken or invalid', async () => {
    await create('texts');
    const params = { slug: 'texts' };
    const named = { name: 'Texts', description: 'of all kinds' };
    const { body } = await control.send(renameWorld, { params, body: named });
    expect(body).toMatchObject({ slug: 'texts', ...named });
    const without = await control.send(renameWorld, { params, body: { description: '' } });
    expect(without.body).toMatchObject({ name: 'Texts', description: null });
    for (const [given, code] of [
      [{ slug: 'sales' }, 'conflict'],
      [{ slug: 'Texts' }, 'invalid'],
      [{ slug: 'templates' }, 'invalid'],
      [{}, 'invalid'],
    ] as const) {
      await expect(control.send(renameWorld, { params, body: given })).rejects.toMatchObject({
        code,
      });
    }
  });

  it('cannot be renamed with a key of another project or with a public key', async () => {
    const neighbour = await addNeighbour(control);
    const body = { slug: 'mine' };
    expect((await neighbour.ask('PATCH', '/worlds/texts', body)).status).toBe(404);
    await expect(
      control.read(renameWorld, { params: { slug: 'texts' }, body }),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('svc worlds rename', () => {
  it('renames a world without losing the base version of its folder', async () => {
    const desk = createDesk(control);
    try {
      desk.write('folder', notesWorld());
      await desk.svc('worlds create desk --from ./folder');
      expect((await desk.svc('worlds rename desk table')).out).toMatch(/table/);
      desk.write('other', changed(notesWorld(), { 'theirs.md': '' }));
      await desk.svc('worlds push table ./other');
      desk.write('folder', changed([], { 'mine.md': '' }));
      const refused = await desk.svc('worlds push table ./folder');
      expect(refused.err).toContain('this push is based on version 1');
      const lost = await desk.svc('worlds push desk ./folder');
      expect(lost.err).toContain('it was renamed to "table"');
      expect((await desk.svc('worlds rename table')).err).toContain('nothing to change');
    } finally {
      desk.clear();
    }
  });
});
