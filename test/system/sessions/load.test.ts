/**
 * 20 clients open 200 sessions over a pool of 4, on real processes. No host is assigned twice, no
 * session is lost, none sees rows of another, and each ends CLOSED.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, close, createNotes, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { processesNaming } from '../../support/programs/processes.ts';

const sessions = 200;
const clients = 20;
let database: TestDatabase;
let network: Network;

beforeAll(async () => {
  database = await testDatabase();
  network = await startNetwork({
    databaseUrl: database.url,
    poolSize: 4,
    poolMax: 4,
    env: { SVC_OPEN_WAIT_MS: '60000' }, // Opens wait for a free host here, and are not refused.
  });
  await createNotes(network.client);
  await network.warm(4);
});

afterAll(async () => {
  await network.stop();
  const left = processesNaming(network.installation);
  await database.drop();
  expect(left).toEqual([]);
});

/**
 * Runs one session from open to close; `number` identifies the only row that the session may see besides those of the
 * seed.
 */
const live = async (number: number): Promise<string> => {
  const session = await open(network.client, { slug: 'notes', reuseWarm: true });
  expect(session.state, session.error?.message).toBe('READY');
  const id = 1_000 + number;
  await call(network.client, session.id, {
    kind: 'tool',
    name: 'create_notes',
    input: { id, folder_id: 1, title: `note ${id}`, done: false },
  });
  const listed = await call(network.client, session.id, { kind: 'tool', name: 'list_notes' });
  const ids = (listed.output as { id: number }[]).map((note) => note.id);
  expect(ids.sort((a, b) => a - b)).toEqual([1, id]);
  const closed = await close(network.client, session.id, number % 20 !== 0);
  expect(closed).toMatchObject({ state: 'CLOSED', endReason: 'requested' });
  return session.id;
};

it('20 clients open, use and close 200 sessions', { timeout: 180_000 }, async () => {
  let next = 0;
  const client = async (): Promise<string[]> => {
    const lived: string[] = [];
    while (next < sessions) {
      next += 1;
      lived.push(await live(next));
    }
    return lived;
  };
  const lived = (await Promise.all(Array.from({ length: clients }, client))).flat();
  expect(new Set(lived).size).toBe(sessions);

  const states = await network.sql<{ state: string; count: string }>(
    'select state, count(*) from sessions group by state',
  );
  expect(states).toEqual([{ state: 'CLOSED', count: String(sessions) }]);
  expect((await network.hosts()).length).toBeLessThanOrEqual(4);
});
