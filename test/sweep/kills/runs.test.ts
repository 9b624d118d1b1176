/**
 * Tests test runs and experiment runs of datasets while the database crashes or the control plane is killed, at any
 * moment: while sessions are opened, graded, settled and closed. Afterwards every run has ended or continues, and no
 * ended run has an open session. `make sweep-runs` strikes a hundred times.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isReady } from '#domain/session.ts';
import { pause, until } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import { retrying } from '#wire/retry.ts';
import { createChance } from '../../support/random/chance.ts';
import { isSingle } from './extent.ts';
import { rest } from './run-case.ts';
import { type Service, startService } from './service.ts';

const { seed, runs: times } = inject('sweep');
const victims = ['database crashed', 'control plane killed'] as const;
type Case = { victim: (typeof victims)[number]; delayMs: number; awayMs: number };

const chance = createChance(seed);
const cases: Case[] = Array.from({ length: isSingle ? 0 : times }, (_, at) => ({
  victim: victims[(at + seed) % victims.length] ?? 'database crashed',
  delayMs: Math.round(chance.between(0, 4_000)),
  awayMs: Math.round(chance.between(100, 2_000)),
}));

const caseTimeoutMs = 180_000;
const retryForMs = 60_000;
/** Time in which every run ends that a strike affected, in milliseconds. */
const endMs = 60_000;
const items = 3;
const dataset = 'sweep';

let service: Service;
let client: Client;
let made = 0;
const found = { strikes: 0, runs: 0, sessions: 0, left: 0 };

const task = {
  instruction: 'Do it.',
  grader: { kind: 'assertions', checks: [{ name: 'one note', entity: 'notes', where: { id: 1 } }] },
};

const strike = async ({ victim, awayMs }: Case): Promise<void> => {
  found.strikes += 1;
  if (victim === 'database crashed') return service.crashDatabase(() => pause(awayMs));
  await service.network.control.end('SIGKILL');
  await pause(awayMs);
  await service.network.restartControl();
};

const paramsOf = (runName: string) => ({ params: { name: dataset, runName } });

/** Starts the run of this name. A repeated request continues it, so that nothing starts twice. */
const startRun = (runName: string): Promise<void> =>
  until(
    async () => {
      const body = { world: 'notes', name: runName, concurrency: items };
      const started = client.send(api.startDatasetRun, { params: { name: dataset }, body });
      return started.then(
        () => true,
        () => false,
      );
    },
    { timeoutMs: endMs, everyMs: 200, what: `the start of ${runName}` },
  ).then(() => undefined);

/** Grades every session of a dataset's run until the run is over, as agents do; returns why items failed. */
const playDataset = async (runName: string): Promise<string[]> => {
  await startRun(runName);
  const graded = new Set<string>();
  let failed: string[] = [];
  const isOver = async (): Promise<boolean> => {
    const { worldRun, data } = (
      await client.send(api.listDatasetRunSessions, { ...paramsOf(runName), query: {} })
    ).body;
    for (const { sessionId, state } of data) {
      if (sessionId === null || state !== 'OPEN' || graded.has(sessionId)) continue;
      const params = { sessionId };
      const session = (await client.send(api.getSession, { params, query: {} })).body;
      if (!isReady(session.state)) continue;
      await client.send(api.enqueueCall, { params, body: { kind: 'grade' }, query: { wait: 5 } });
      graded.add(sessionId);
    }
    failed = data.flatMap(({ error }) => error ?? []);
    return worldRun.state !== 'RUNNING';
  };
  await until(isOver, { timeoutMs: endMs, everyMs: 200, what: `the end of ${runName}` });
  return failed;
};

/** Starts the tests of the world, and waits for their end. */
const runTests = async (): Promise<void> => {
  const params = { slug: 'notes' };
  const headers = { 'idempotency-key': `tests ${made}` };
  const asked = { params, body: { wait: false }, headers };
  const { runId } = (await client.send(api.runTests, asked)).body;
  const isOver = async (): Promise<boolean> => {
    const run = await client.send(api.getTestRun, { params: { ...params, runId }, query: {} });
    return run.body.state === 'finished';
  };
  await until(isOver, { timeoutMs: endMs, everyMs: 200, what: `the end of ${runId}` });
};

const runCase = async (given: Case): Promise<string[]> => {
  made += 1;
  const striking = (async () => {
    await pause(given.delayMs);
    await strike(given);
  })();
  const [failed] = await Promise.all([playDataset(`run ${made}`), runTests(), striking]);
  found.runs += 2;
  const left = await rest(service);
  found.left += left.filter((what) => what.startsWith('ses-')).length;
  return [...failed, ...left];
};

describe.runIf(cases.length > 0)('runs of tests and of datasets', () => {
  beforeAll(async () => {
    service = await startService('process');
    client = retrying(service.network.client, { forMs: retryForMs });
    await client.send(api.createDataset, { body: { name: dataset } });
    for (let item = 0; item < items; item += 1) {
      const body = { datasetName: dataset, id: `item-${item}`, input: task };
      await client.send(api.createDatasetItem, { body });
    }
  }, caseTimeoutMs);

  afterAll(async () => {
    const [opened] = await service.network.sql<{ count: number }>(
      'select count(*)::int as count from sessions',
    );
    found.sessions = opened?.count ?? 0;
    const result = Object.entries(found).map(([what, number]) => `${number} ${what}`);
    console.info(`runs, seed ${seed}: ${result.join(', ')}`);
    await service.stop();
  });

  it.each(cases.map((given, at) => ({ ...given, at })))(
    'leave no session behind: $victim after $delayMs ms, for $awayMs ms ($at)',
    { timeout: caseTimeoutMs },
    async (given) => {
      expect(await runCase(given)).toEqual([]);
    },
  );
});
