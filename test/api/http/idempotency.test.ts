/** Tests requests that create worlds and versions and are repeated with the same `Idempotency-Key`. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createWorld,
  deleteWorld,
  listVersions,
  pushVersion,
} from '#wire/public-api/operations.ts';
import type { TestControl } from '../../support/control/control.ts';
import { changed, pushFiles } from '../../support/control/pushes.ts';
import { addNeighbour } from '../../support/control/second-project.ts';
import { shareControl } from '../../support/control/shared-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: TestControl;

beforeAll(async () => {
  control = await shareControl();
});

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

const create = (slug: string, key: string, more = {}) =>
  control.send(createWorld, {
    ...keyed(key),
    body: { slug, from: encodeTree(notesWorld()), ...more },
  });

const push = (slug: string, key: string, text: string, base = 1) =>
  control.send(pushVersion, {
    ...keyed(key),
    params: { slug },
    body: { base, files: pushFiles(changed(notesWorld(), { 'a.md': text })) },
  });

const versionsOf = async (slug: string) =>
  (await control.read(listVersions, { params: { slug } })).body.meta.totalItems;

describe('an idempotency key', () => {
  it('creates one world for repeated and concurrent requests', async () => {
    const answers = await Promise.all(['', '', ''].map(() => create('once', 'world-1')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    await expect(create('other', 'world-1')).rejects.toMatchObject({ code: 'conflict' });
    await expect(create('once', 'world-2')).rejects.toMatchObject({
      message: expect.stringContaining('is taken'),
    });
  });

  it('creates one version, and a repeat returns it also when the head is newer', async () => {
    await create('pushed', 'world-3');
    const first = await push('pushed', 'push-1', 'one');
    expect(first).toMatchObject({ status: 201, body: { number: 2, changed: true } });
    await push('pushed', 'push-2', 'two', 2);
    const again = await push('pushed', 'push-1', 'one');
    expect(again).toEqual({ ...first, status: 200 });
    expect(await versionsOf('pushed')).toBe(3);
    await expect(push('pushed', 'push-1', 'other')).rejects.toMatchObject({ code: 'conflict' });
    await expect(create('push-1', 'push-1')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('can be used again if its request was refused', async () => {
    const refused = create('refused', 'world-4', { data: { rows: { nothing: [{}] } } });
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    expect((await create('refused', 'world-4')).status).toBe(201);
  });

  it('does not recreate a world that was deleted since', async () => {
    await create('deleted', 'world-5');
    await control.send(deleteWorld, { params: { slug: 'deleted' } });
    await expect(create('deleted', 'world-5')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('belongs to one project', async () => {
    const neighbour = await addNeighbour(control);
    const { status } = await control.raw({
      method: 'POST',
      path: '/api/public/worlds',
      headers: {
        authorization: neighbour.authorization,
        'content-type': 'application/json',
        'idempotency-key': 'world-1',
      },
      body: JSON.stringify({ slug: 'once', from: encodeTree(notesWorld()) }),
    });
    expect(status).toBe(201);
  });
});
