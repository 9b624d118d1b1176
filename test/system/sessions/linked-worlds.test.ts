/**
 * Tests sessions of a world with links on real hosts: a host that is reused serves the next session, which sees no rows
 * of the previous one.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorld } from '#wire/public-api/operations.ts';
import { changed } from '../../support/control/pushes.ts';
import { call, close, createNotes, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let network: Network;

beforeAll(async () => {
  database = await testDatabase();
  network = await startNetwork({ databaseUrl: database.url, poolSize: 1, poolMax: 1 });
  await createNotes(network.client, 'crm');
  const tree = notesWorld();
  const manifest = tree.find(({ path }) => path === 'svc-env.toml');
  const text = new TextDecoder().decode(manifest?.content);
  const linked = changed(tree, { 'svc-env.toml': `${text}\n[dependencies]\ncrm = "crm@1"\n` });
  await network.client.send(createWorld, { body: { slug: 'linked', from: encodeTree(linked) } });
  await network.warm(1);
});

afterAll(async () => {
  await network.stop();
  await database.drop();
});

it('sessions of a world with links reuse one host, each with the rows of its own versions', async () => {
  const { client } = network;
  const note = { id: 70, folder_id: 1, title: 'of the first session', done: false };
  const rowsOf = async (sessionId: string): Promise<unknown[]> => {
    const listed = await call(client, sessionId, {
      kind: 'tool',
      name: 'crm.list_notes',
      input: {},
    });
    expect(listed).toMatchObject({ state: 'succeeded' });
    return listed.output as unknown[];
  };
  const first = await open(client, { slug: 'linked' });
  const before = await rowsOf(first.id);
  const name = 'crm.create_notes';
  expect(await call(client, first.id, { kind: 'tool', name, input: note })).toMatchObject({
    state: 'succeeded',
  });
  expect(await rowsOf(first.id)).toHaveLength(before.length + 1);
  await close(client, first.id, true);
  const second = await open(client, { slug: 'linked', reuseWarm: true });
  expect(second).toMatchObject({ state: 'READY', hostReused: true });
  expect(await rowsOf(second.id)).toEqual(before);
  await close(client, second.id, true);
  const third = await open(client, { slug: 'linked', reuseWarm: true });
  expect(third.hostReused).toBe(true);
  await close(client, third.id);
});
