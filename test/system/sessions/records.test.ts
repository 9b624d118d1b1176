/**
 * Tests the records of a session on real processes. A query grades the session while it is open. Its requests can be
 * read after it has ended, even if its host was killed.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { listSessionRequests, listWorldRequests } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { call, close, createNotes, open, readSession } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { killNaming } from '../../support/programs/processes.ts';

let database: TestDatabase;
let network: Network;

beforeAll(async () => {
  database = await testDatabase();
  network = await startNetwork({ databaseUrl: database.url, poolSize: 2, poolMax: 4 });
  await createNotes(network.client);
  await network.warm(2);
});

afterAll(async () => {
  await network.stop();
  await database.drop();
});

const source = `
  select 'the note is done' as name, count(*) = 1 as passed from notes where id = 99 and done
  union all
  select 'in one call', count(*) = 1 from svc_requests where via = 'tool'
`;
const task = { grader: { kind: 'sql' as const, source } };

const openSession = async (): Promise<SessionView> => {
  const session = await open(network.client, { slug: 'notes', task });
  expect(session.state, session.error?.message).toBe('READY');
  return session;
};

const grade = async (sessionId: string): Promise<unknown> =>
  (await call(network.client, sessionId, { kind: 'grade' })).output;

const finish = (sessionId: string) =>
  call(network.client, sessionId, {
    kind: 'tool',
    name: 'create_notes',
    input: { id: 99, folder_id: 1, title: 'done', done: true },
  });

const requestsOf = async (sessionId: string) =>
  (await network.client.send(listSessionRequests, { params: { sessionId }, query: {} })).body.data;

it('a session is graded by a query, and its requests are kept after it is closed', async () => {
  const { id } = await openSession();
  expect(await grade(id)).toMatchObject({ passed: false, checks: [{ passed: false }, {}] });
  await finish(id);
  expect(await grade(id)).toMatchObject({
    passed: true,
    checks: [{ name: 'the note is done' }, { name: 'in one call' }],
  });
  await close(network.client, id);
  expect(await requestsOf(id)).toMatchObject([
    {
      id: 1,
      via: 'tool',
      operation: 'create_notes',
      rows: [{ entity: 'notes', key: { id: 99 }, kind: 'inserted' }],
    },
  ]);
});

it('requests that a host delivered before it was killed are kept', async () => {
  const { id } = await openSession();
  await finish(id);
  await until(async () => (await requestsOf(id)).length > 0, {
    timeoutMs: 10_000,
    what: 'the first delivery',
  });
  const host = (await network.hosts()).find(({ session_id }) => session_id === id);
  killNaming(`--host=${host?.id}`);
  await until(async () => (await readSession(network.client, id)).state === 'FAILED', {
    timeoutMs: 30_000,
    what: 'the end of the session',
  });
  expect(await requestsOf(id)).toMatchObject([{ operation: 'create_notes' }]);
  const { body } = await network.client.send(listWorldRequests, {
    params: { slug: 'notes' },
    query: { via: 'tool' },
  });
  expect(body.data[0]?.sessionId).toBe(id);
});
