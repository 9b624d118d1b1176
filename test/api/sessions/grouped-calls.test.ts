/** Tests that calls of several sessions written in one batch do not affect each other. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { createLog } from '#runtime/log.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { type Database, openDatabase } from '../../../src/control/db/core/database.ts';
import {
  type CallWrites,
  createCallWrites,
} from '../../../src/control/db/sessions/batched-calls.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let db: Database;
let writes: CallWrites;
let hosts: PlayedHost[];

beforeAll(async () => {
  control = await startNotesControl();
  db = openDatabase(control.config.databaseUrl, createLog('test', 'silent'));
  writes = createCallWrites(db);
});

beforeEach(async () => {
  hosts = [];
  for (let number = 0; number < 4; number += 1) {
    const host = await warmHost(control);
    await control.send(openSession, { body: { slug: 'notes' } });
    await host.poll();
    await host.ready();
    hosts.push(host);
  }
});

afterEach(() => clearPool(control));

afterAll(async () => {
  await db.close();
  await control.stop();
});

const sessionOf = ({ assignment }: PlayedHost): string => assignment?.sessionId ?? '';

const servedBy = (host: PlayedHost) => ({
  sessionId: sessionOf(host),
  hostId: host.id,
  generation: host.generation,
});

/** Builds a call of a session whose host polls for it. */
const insert = async (host: PlayedHost, more: { key?: string; inputJson?: string } = {}) => {
  const { sessionId, ...waiting } = servedBy(host);
  const [found] = await control.sql<{ project_id: string }>('select project_id from sessions');
  const { key = null, inputJson = '{}' } = more;
  const call = {
    id: newId('call'),
    projectId: found?.project_id ?? '',
    sessionId,
    kind: 'tool',
    name: 'list_notes',
    inputJson,
    keepWarm: false,
    idempotencyKey: key,
    requestHash: key,
    traceParent: null,
  } as const;
  return { given: { call, waiting }, id: call.id };
};

const take = async (which: readonly PlayedHost[]) => {
  const calls = await Promise.all(which.map((host) => insert(host)));
  return Promise.all(calls.map(({ given }) => writes.insert(given, 100)));
};

const answerOf = (host: PlayedHost, callId: string, more: object = {}) => ({
  host: { ...servedBy(host), ...more },
  answer: {
    callId,
    state: 'succeeded',
    outputJson: `"of ${callId}"`,
    errorJson: null,
    shortErrorJson: null,
    changesJson: '{}',
  } as const,
  isStopping: false,
});

const onlyTime = (dates: readonly (Date | null | undefined)[]): number =>
  new Set(dates.map((date) => date?.getTime())).size;

it('calls of several sessions are inserted and answered in one transaction each', async () => {
  const rows = await take(hosts);
  expect(rows.map((row) => [row?.state, row?.seq, row?.sessionId])).toEqual(
    hosts.map((host) => ['claimed', 1, sessionOf(host)]),
  );
  const taken = await control.sql('select distinct xmin::text from calls where id = any($1)', [
    rows.map((row) => row?.id),
  ]);
  expect(taken).toHaveLength(1);
  const answers = await Promise.all(
    hosts.map((host, index) => writes.answer(answerOf(host, rows[index]?.id ?? ''))),
  );
  expect(answers.map((answered) => answered?.call.outputJson)).toEqual(
    rows.map((row) => `"of ${row?.id}"`),
  );
  expect(onlyTime(answers.map((answered) => answered?.call.answeredAt))).toBe(1);
});

it('an answer returns the next queued call of its own session, and no other', async () => {
  const [one, two] = hosts as [PlayedHost, PlayedHost];
  const [first, second] = await take([one, two]);
  const [next] = await take([one]);
  expect(next).toMatchObject({ state: 'queued', seq: 2 });
  const [ofOne, ofTwo] = await Promise.all([
    writes.answer(answerOf(one, first?.id ?? '')),
    writes.answer(answerOf(two, second?.id ?? '')),
  ]);
  expect(ofOne?.work.call?.id).toBe(next?.id);
  expect(ofTwo?.work).toEqual({ state: 'READY', keepWarm: false, call: undefined });
});

it('an answer with an older generation, another host or an unknown call is refused, and the rest of its batch is not', async () => {
  const rows = await take(hosts);
  const [one, two, three, four] = hosts as [PlayedHost, PlayedHost, PlayedHost, PlayedHost];
  const ids = rows.map((row) => row?.id ?? '');
  const answers = await Promise.all([
    writes.answer(answerOf(one, ids[0] ?? '', { generation: one.generation - 1 })),
    writes.answer(answerOf(two, ids[1] ?? '', { hostId: one.id })),
    writes.answer(answerOf(three, 'cal-none')),
    writes.answer(answerOf(four, ids[3] ?? '')),
  ]);
  expect(answers.map((answered) => answered?.call.state)).toEqual([
    undefined,
    undefined,
    undefined,
    'succeeded',
  ]);
  const states = await control.sql<{ state: string }>(
    'select state from calls where id = any($1) order by array_position($1::text[], id)',
    [ids],
  );
  expect(states.map(({ state }) => state)).toEqual(['claimed', 'claimed', 'claimed', 'succeeded']);
});

it('a repeated answer is stored once', async () => {
  const [row] = await take(hosts.slice(0, 1));
  const given = answerOf(hosts[0] as PlayedHost, row?.id ?? '');
  const answers = await Promise.all([writes.answer(given), writes.answer(given)]);
  expect(answers.map((answered) => answered?.call.id)).toEqual([row?.id, undefined]);
  const [session] = await control.sql<{ open_calls: number }>(
    'select open_calls from sessions where id = $1',
    [sessionOf(hosts[0] as PlayedHost)],
  );
  expect(session?.open_calls).toBe(0);
});

it('a session whose row is locked does not delay the others', async () => {
  const [locked, ...free] = hosts as [PlayedHost, ...PlayedHost[]];
  const client = new pg.Client({ connectionString: control.config.databaseUrl.reveal() });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select from sessions where id = $1 for update', [sessionOf(locked)]);
    const { given } = await insert(locked);
    const late = writes.insert(given, 100);
    const rows = await take(free);
    expect(rows.map((row) => row?.state)).toEqual(['claimed', 'claimed', 'claimed']);
    await client.query('rollback');
    expect((await late)?.state).toBe('claimed');
  } finally {
    await client.end();
  }
});

it('a call that violates a constraint fails alone', async () => {
  const [one, two] = hosts as [PlayedHost, PlayedHost];
  const first = await insert(one, { key: 'k' });
  await writes.insert(first.given, 100);
  const again = await insert(one, { key: 'k' });
  const broken = await insert(two, { inputJson: '{' });
  const good = await insert(hosts[2] as PlayedHost);
  const results = await Promise.allSettled(
    [again, broken, good].map(({ given }) => writes.insert(given, 100)),
  );
  expect(results).toMatchObject([
    { status: 'rejected', reason: { constraint: 'calls_idempotency' } },
    { status: 'rejected', reason: { code: 'invalid' } },
    { status: 'fulfilled', value: { id: good.id } },
  ]);
});
