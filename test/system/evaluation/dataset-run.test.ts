/**
 * Tests a dataset run on a world while its control plane is killed repeatedly: each item gets exactly one session and
 * one result.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { until } from '#runtime/pause.ts';
import * as api from '#wire/public-api/operations.ts';
import { call, createNotes } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';

const items = 16;
const atOnce = 4;
const kills = 4;
const runOf = { name: 'killed', runName: 'run' };

let database: TestDatabase;
let network: Network;

beforeAll(async () => {
  database = await testDatabase();
  network = await startNetwork({ databaseUrl: database.url, poolSize: atOnce });
  await createNotes(network.client);
  await network.client.send(api.createDataset, { body: { name: runOf.name } });
  for (let index = 0; index < items; index += 1) {
    const body = { datasetName: runOf.name, id: `item-${index}`, input: 'finish' };
    await network.client.send(api.createDatasetItem, { body });
  }
  await network.warm(atOnce);
}, 120_000);
afterAll(async () => {
  await network.stop();
  await database.drop();
});

/** Retries while the control plane is down, as a client does. */
const patiently = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
  let value: Value | undefined;
  await until(
    async () => {
      try {
        value = await ask();
        return true;
      } catch (error) {
        const isGone = error instanceof AppError && ['unavailable', 'timeout'].includes(error.code);
        if (!isGone) throw error;
        return false;
      }
    },
    { timeoutMs: 60_000, what: 'the control plane answers again' },
  );
  return value as Value;
};

const look = async () =>
  (await network.client.send(api.listDatasetRunSessions, { params: runOf, query: { limit: 100 } }))
    .body;

/** Plays an item's session well or badly, by its index, and grades it. */
const play = async (sessionId: string, place: number): Promise<void> => {
  const input = { id: 99, folder_id: 1, title: 'done', done: place % 2 === 0 };
  await call(network.client, sessionId, { kind: 'tool', name: 'create_notes', input });
  await call(network.client, sessionId, { kind: 'grade' });
};

/**
 * Plays every open session once; repeats a session only if its control plane went down meanwhile.
 */
const playAll = async (): Promise<void> => {
  const begun = new Map<string, Promise<void>>();
  await until(
    async () => {
      const { data, worldRun } = await patiently(look);
      for (const [place, { state, sessionId }] of data.entries()) {
        if (state !== 'OPEN' || sessionId === null || begun.has(sessionId)) continue;
        const playing = play(sessionId, place).catch(() => {
          begun.delete(sessionId);
        });
        begun.set(sessionId, playing);
      }
      return worldRun.state !== 'RUNNING';
    },
    { timeoutMs: 200_000, everyMs: 200, what: 'the run is over' },
  );
  await Promise.all(begun.values());
};

/**
 * Skips the minute for which a killed control plane still holds the run; after that, another control plane continues
 * the run.
 */
const passTime = () => network.sql('update dataset_plays set due_at = now()');

it('a dataset run has one session for each item, however often the control plane is killed', async () => {
  const body = { world: 'notes', name: runOf.runName, concurrency: atOnce };
  await network.client.send(api.startDatasetRun, { params: { name: runOf.name }, body });
  const playing = playAll();
  for (let kill = 0; kill < kills; kill += 1) {
    await until(async () => (await patiently(look)).worldRun.graded >= kill * 3, {
      timeoutMs: 60_000,
      what: 'some are graded',
    });
    // The kill comes at a random moment.
    await sleep(Math.random() * 300);
    await network.control.end('SIGKILL');
    await network.restartControl();
    await passTime();
  }
  await playing;

  const { data, worldRun } = await patiently(look);
  expect(worldRun).toMatchObject({ state: 'COMPLETED', items, graded: items, failed: 0 });
  expect(worldRun.passed).toBe(items / 2);
  expect(data.map(({ attempt }) => attempt)).toEqual(data.map(() => 1));
  const opened = await network.sql<{ id: string }>('select id from sessions');
  expect(opened.map(({ id }) => id).sort()).toEqual(data.map(({ sessionId }) => sessionId).sort());
  const run = (await network.client.send(api.getDatasetRun, { params: runOf })).body;
  expect(new Set(run.datasetRunItems.map(({ datasetItemId }) => datasetItemId)).size).toBe(items);
  expect(run.datasetRunItems).toHaveLength(items);
  for (const { sessionId, score } of data) {
    const { body: session } = await network.client.send(api.getSession, {
      params: { sessionId: sessionId ?? '' },
    });
    const query = { traceId: session.traceId ?? '', name: 'score' };
    await until(
      async () => (await network.client.send(api.listScores, { query })).body.data.length > 0,
      { timeoutMs: 20_000, what: `the score of ${sessionId}` },
    );
    const scores = (await network.client.send(api.listScores, { query })).body.data;
    expect(scores.map(({ value }) => value)).toEqual([score]);
  }
}, 300_000);
