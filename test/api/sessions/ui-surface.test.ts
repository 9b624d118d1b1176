/**
 * Tests sessions with a page: the addresses and files that clients, hosts and gateways receive, and the use of links.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { parseSurfaceTemplate } from '#domain/surface-address.ts';
import { Secret } from '#runtime/secret.ts';
import { entryKeyOf } from '#runtime/surface-pass.ts';
import { resolveRoute } from '#wire/gateway-api/operations.ts';
import { consumeEntry } from '#wire/host-api/operations.ts';
import {
  createSurfaceLink,
  createWorld,
  getSession,
  openSession,
} from '#wire/public-api/operations.ts';
import { startTestControl, type TestControl } from '../../support/control/control.ts';
import { clearPool, playedAddress, warmHost } from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

const template = parseSurfaceTemplate('https://{session}--{surface}.worlds.test');
if (template === undefined) throw new Error('the template is not taken');
const gateway = { template, token: new Secret('gateway-token') };

let database: TestDatabase;
let direct: TestControl & Awaited<ReturnType<typeof startTestControl>>;
let fronted: typeof direct;

beforeAll(async () => {
  database = await testDatabase();
  direct = await startTestControl({ databaseUrl: database.url });
  const config = { ...direct.config, gateway };
  fronted = await startTestControl({ databaseUrl: database.url, replicaOf: { config } });
  const small = unlinkedWorld();
  small.text['web/board/app.js'] = 'export const board = 1;';
  await direct.send(createWorld, { body: { slug: 'board', from: encodeTree(toTree(small)) } });
});

afterEach(() => clearPool(direct));

afterAll(async () => {
  await fronted.stop();
  await direct.stop();
  await database.drop();
});

const openReady = async (surfaces: 'ui'[] = ['ui']) => {
  const host = await warmHost(direct);
  const { body } = await direct.send(openSession, { body: { slug: 'board', surfaces } });
  const assignment = await host.poll();
  await host.ready();
  return { id: body.id, host, assignment };
};

const viewOn = async (control: TestControl, sessionId: string) =>
  (await control.send(getSession, { params: { sessionId }, query: {} })).body.surfaces;

describe('a session opened with a page', () => {
  it('gives clients the address of its page: at the gateway, or at its host on this machine', async () => {
    const { id, host } = await openReady();
    const { port } = new URL(playedAddress(host.id));
    expect((await viewOn(direct, id)).ui).toEqual({ url: `http://${id}--ui.localhost:${port}` });
    expect((await viewOn(fronted, id)).ui).toEqual({ url: `https://${id}--ui.worlds.test` });
    const usual = await openReady([]);
    expect(Object.keys(await viewOn(direct, usual.id))).toEqual(['api', 'mcp']);
    expect(usual.assignment?.ui).toBeUndefined();
  });

  it('sends its host the files of the page, which no other host may read', async () => {
    const { host, assignment } = await openReady();
    const files = assignment?.ui?.files ?? [];
    const generated = ['app.css', 'app.js', 'licences.txt', 'world.json'].map(
      (name) => `_app/${name}`,
    );
    expect(files.map(({ path }) => path).sort()).toEqual([...generated, 'app.js', 'index.html']);
    const app = files.find(({ path }) => path === 'app.js');
    if (app === undefined) throw new Error('no app.js');
    expect(new TextDecoder().decode(await host.blob(app.sha256))).toBe('export const board = 1;');
    const other = await openReady([]);
    await expect(other.host.blob(app.sha256)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(host.blob(`sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('sends gateways the address of its page, with the key that its host requires', async () => {
    const { id, host, assignment } = await openReady();
    const address = playedAddress(host.id);
    const { body } = await fronted.gateway(resolveRoute, { params: { sessionId: id } });
    const token = new Secret(assignment?.sessionToken ?? '');
    expect(body.surfaces).toEqual({ api: address, ui: address });
    expect(body.entryKeys).toEqual({ ui: entryKeyOf(token, 'ui') });
    const usual = await openReady([]);
    const { body: without } = await fronted.gateway(resolveRoute, {
      params: { sessionId: usual.id },
    });
    expect(without.surfaces).toEqual({ api: playedAddress(usual.host.id) });
    expect(without.entryKeys).toBeUndefined();
  });
});

describe('a link to a page without a gateway', () => {
  const linkTo = async (sessionId: string) =>
    (await direct.send(createSurfaceLink, { params: { sessionId }, body: {} })).body;

  it('leads to the host, which can use it once and only for its own session', async () => {
    const { id, host } = await openReady();
    const { url, surface } = await linkTo(id);
    expect(surface).toBe('ui');
    expect(url).toMatch(new RegExp(`^http://${id}--ui\\.localhost:\\d+/\\.svc/enter\\?token=lt-`));
    const token = new URL(url).searchParams.get('token') ?? '';
    const other = await openReady();
    const use = async (by: typeof host, sessionId: string, generation = by.generation) => {
      const body = { generation, surface: 'ui', token } as const;
      return (await by.send(consumeEntry, { params: { sessionId }, body })).body.accepted;
    };
    await expect(use(other.host, id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(use(host, id, host.generation - 1)).rejects.toMatchObject({ code: 'conflict' });
    await expect(use(host, newId('ses'))).rejects.toMatchObject({ code: 'conflict' });
    expect(await use(other.host, other.id)).toBe(false);
    expect([await use(host, id), await use(host, id)]).toEqual([true, false]);
  });

  it('is refused while the session has no host, with the state to wait for', async () => {
    const { body } = await direct.send(openSession, { body: { slug: 'board', surfaces: ['ui'] } });
    await expect(linkTo(body.id)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('once it is READY'),
    });
  });
});
