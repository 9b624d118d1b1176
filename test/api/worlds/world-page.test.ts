/** Tests the address of a world: it returns the descriptor to programs, and a page to people. */
import { beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import type { TestControl } from '../../support/control/control.ts';
import { addNeighbour } from '../../support/control/second-project.ts';
import { shareControl } from '../../support/control/shared-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: TestControl;

beforeAll(async () => {
  control = await shareControl();
  const description = '<script>alert(1)</script> & "more"';
  const body = { slug: 'notes', from: encodeTree(notesWorld()), name: '<b>Notes</b>', description };
  await control.send(api.createWorld, { body });
});

const pair = () => basicAuthorization(control.publicKey, control.secretKey);

const ask = (path: string, headers: Record<string, string>) =>
  control.raw({ method: 'GET', path, headers });

describe('the address of a world', () => {
  it('is its `url` and returns the same descriptor as the route of the API', async () => {
    const { body: world } = await control.read(api.getWorld, { params: { slug: 'notes' } });
    expect(new URL(world.url).pathname).toBe('/world/notes');
    for (const accept of ['*/*', 'application/json']) {
      const { status, body } = await ask('/world/notes', { authorization: pair(), accept });
      expect([status, body]).toEqual([200, world]);
    }
    const bearer = { authorization: `Bearer ${control.publicKey}` };
    for (const slug of [world.id, 'notes@1', 'notes@latest']) {
      expect((await ask(`/world/${slug}`, bearer)).body).toMatchObject({ slug: 'notes' });
    }
  });

  it('is a page in browsers, with all text of the world escaped', async () => {
    const accept = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
    const page = await ask('/world/notes', { authorization: pair(), accept });
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'cache-control': 'private, no-cache',
      vary: expect.stringContaining('accept'),
    });
    const text = String(page.body);
    expect(text).toContain('&lt;b&gt;Notes&lt;/b&gt;');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;');
    expect(text).not.toMatch(/<script|<b>/);
    expect(text).toContain('schema/world.json');
  });

  it('is not shown to other projects or without credentials', async () => {
    const neighbour = await addNeighbour(control);
    const { authorization } = neighbour;
    expect((await ask('/world/notes', { authorization })).status).toBe(404);
    const without = await ask('/world/notes', { accept: 'text/html' });
    expect(without.status).toBe(401);
    expect(without.headers['www-authenticate']).toContain('Basic');
    expect((await ask('/world/none', { authorization: pair() })).status).toBe(404);
  });
});
