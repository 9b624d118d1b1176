/**
 * Tests ingestion while its control plane is killed during writes of batches; now and then it is down for 3 s. Clients
 * repeat what was not answered, as SDKs do. Afterwards every event that was answered 201 exists once, and is counted
 * once. `make sweep-ingestion` kills it a hundred times.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import { ingest } from '#wire/public-api/operations.ts';
import { type PostgresServer, startPostgres } from '../../../src/cli/up/postgres.ts';
import { execute } from '../../support/database/sql.ts';
import { controlSettings } from '../../support/programs/control-program.ts';
import { type Program, startProgram } from '../../support/programs/program.ts';
import { createChance } from '../../support/random/chance.ts';
import { isSingle } from './extent.ts';

const { seed, ingestion: times } = inject('sweep');
const kills = isSingle ? 0 : times;
const chance = createChance(seed);

const timeoutMs = 120_000;
const senders = 4;
const spansOfBatch = 20;
const awayMs = 3_000;
const againMs = 100;
const oneIn = 10;

let folder: string;
let server: PostgresServer;
let program: Program;
let env: Record<string, string>;
let send: Client['send'];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-sweep-ingestion-'));
  server = await startPostgres({
    dataDir: join(folder, 'pg'),
    password: randomBytes(12).toString('hex'),
    flags: { max_connections: '60' },
  });
  const settings = await controlSettings(server.url(), folder);
  env = settings.env;
  program = await startProgram('src/control/main.ts', env);
  const baseUrl = `http://127.0.0.1:${settings.ports.public}/api/public`;
  const authorization = basicAuthorization(settings.publicKey, settings.secretKey);
  send = createClient({ baseUrl, authorization }).send;
}, timeoutMs);

const found = { kills: 0, batches: 0, 'answered 201': 0, 'refused 400': 0 };

afterAll(async () => {
  const result = Object.entries(found).map(([what, number]) => `${number} ${what}`);
  console.info(`ingestion, seed ${seed}: ${result.join(', ')}`);
  await program.end('SIGTERM');
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Ids of events that were answered 201; the objects that these events created have the same ids. */
const taken = new Set<string>();
let made = 0;

/**
 * Builds a batch: two events that create observations, one that updates each, a score, and one event that is refused,
 * in a few traces.
 */
const batchOf = (sender: number): object[] => {
  made += 1;
  const traceId = `trace-${sender}-${made % 3}`;
  const timestamp = new Date().toISOString();
  const event = (type: string, id: string, body: object) => ({ id, type, timestamp, body });
  const spans = Array.from({ length: spansOfBatch }, (_, at) => {
    const id = `span-${made}-${at}`;
    const usage = { input: 3, output: 1 };
    return [
      event('generation-create', id, { id, traceId, model: 'm', input: 'x'.repeat(500) }),
      event('generation-update', `${id}-end`, { id, traceId, endTime: timestamp, usage }),
    ];
  });
  const score = `score-${made}`;
  return [
    event('trace-create', `trace-event-${made}`, { id: traceId, name: `run ${made % 2}` }),
    ...spans.flat(),
    event('score-create', score, { id: score, traceId, name: 'right', value: 1 }),
    event('span-create', `bad-${made}`, { level: 'HIGH' }),
  ];
};

const sendOnce = async (batch: object[]) => {
  try {
    return (await send(ingest, { body: { batch } })).body;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return undefined;
    throw error;
  }
};

/** Sends a batch repeatedly, unchanged, until it is answered. */
const deliver = async (batch: object[]) => {
  for (;;) {
    const answer = await sendOnce(batch);
    if (answer !== undefined) return answer;
    await pause(againMs);
  }
};

const sendUntil = async (sender: number, isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    const body = await deliver(batchOf(sender));
    for (const { id } of body.successes) taken.add(id);
    found.batches += 1;
    found['answered 201'] += body.successes.length;
    found['refused 400'] += body.errors.length;
  }
};

const strike = async (number: number): Promise<void> => {
  await pause(chance.between(50, 800));
  await program.end('SIGKILL');
  found.kills += 1;
  if (number % oneIn === 0) await pause(awayMs);
  program = await startProgram('src/control/main.ts', env);
};

const idsIn = async (table: string): Promise<string[]> =>
  (await execute<{ id: string }>(server.url(), `select id from ${table}`)).map(({ id }) => id);

const sumsOf = async (text: string) => (await execute<object>(server.url(), text))[0];

describe.skipIf(kills === 0)('ingestion', () => {
  it(
    `has stored everything that it accepted exactly once after ${kills} kills`,
    async () => {
      let isOver = false;
      const sending = Array.from({ length: senders }, (_, at) => sendUntil(at, () => isOver));
      for (let number = 1; number <= kills; number += 1) await strike(number);
      isOver = true;
      await Promise.all(sending);
      const [spans, scores] = [await idsIn('observations'), await idsIn('scores')];
      expect(new Set(spans).size).toBe(spans.length);
      const there = new Set([...spans, ...scores]);
      const wanted = [...taken].filter((id) => /^(span-\d+-\d+|score-\d+)$/.test(id));
      expect(wanted.length).toBeGreaterThan(kills * spansOfBatch);
      expect(wanted.filter((id) => !there.has(id))).toEqual([]);
      // Each span contains both of its events.
      const halves = 'select id from observations where end_time is null or input is null';
      expect(await execute(server.url(), halves)).toEqual([]);
      const kept = `select sum(events)::int as events, sum(observations)::int as observations,
        sum(input_usage)::int as input from daily_usage`;
      expect(await sumsOf(kept)).toEqual({
        events: taken.size,
        observations: spans.length,
        input: spans.length * 3,
      });
      expect(there.size).toBe(wanted.length);
    },
    timeoutMs + kills * 30_000,
  );
});
