/** Sessions in the project's traces: calls, requests, deliveries and grades, told once and within bounds. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { reportGone } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  deleteTrace,
  enqueueCall,
  getSession,
  getTrace,
  getTraceSession,
  ingest,
  openSession,
} from '#wire/public-api/operations.ts';
import { startTestControl } from '../support/control.ts';
import { clearPool, type PlayedHost, warmHost } from '../support/host.ts';
import { type OwnControl, startNotesControl } from '../support/own-control.ts';
import { setSettings } from '../support/settings.ts';

let control: OwnControl;
let host: PlayedHost;

beforeAll(async () => {
  control = await startNotesControl();
});
afterAll(() => control.stop());
beforeEach(async () => {
  host = await warmHost(control);
});
afterEach(() => clearPool(control));

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${spanId}-01`;

const task = { name: 'add a note', instruction: 'Add one note.' };

type Opening = { headers?: { traceparent: string }; body?: object; on?: PlayedHost };

const open = async ({ headers = undefined, body = {}, on = host }: Opening = {}) => {
  const opened = await control.send(openSession, {
    ...(headers === undefined ? {} : { headers }),
    body: { slug: 'notes', task, ...body },
  });
  await on.poll();
  await on.ready();
  return opened.body;
};

const at = (seconds: number): string =>
  new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();

const entry = (id: number, parts: Record<string, unknown> = {}) => ({
  id,
  at: at(id),
  via: 'api',
  operation: 'list_notes',
  method: 'GET',
  path: '/notes',
  status: 200,
  request: { query: {}, headers: {}, body: null },
  response: { body: [{ id: 1 }], reason: null },
  duration_ms: 20,
  changes: {},
  rows: [],
  call_id: null,
  ...parts,
});

const entryOfCall = (id: number, callId: string, parts: Record<string, unknown> = {}) =>
  entry(id, {
    ...{ via: 'tool', method: null, path: null, status: null, call_id: callId },
    ...{ request: { title: 'a' }, response: { output: { id: 1 } } },
    ...parts,
  });

/** Has a call made and answered, and returns its id. */
const call = async (
  sessionId: string,
  body: { kind: 'tool' | 'grade' | 'reset'; name?: string },
  answer: object,
  headers?: { traceparent: string },
): Promise<string> => {
  const params = { sessionId };
  const sent = { params, body, ...(headers === undefined ? {} : { headers }) };
  const { id } = (await control.send(enqueueCall, sent)).body;
  await host.calls(0);
  await host.answer(id, answer);
  return id;
};

/** Waits until everything that waits has been told. */
const told = () =>
  until(
    async () => {
      const [row] = await control.sql<{ waiting: number }>(
        'select count(*)::int as waiting from trace_dues',
      );
      return row?.waiting === 0;
    },
    { timeoutMs: 20_000, what: 'everything told' },
  );

const read = async (id: string | null) => {
  await told();
  return (await control.send(getTrace, { params: { traceId: id ?? '' } })).body;
};

const named = (trace: Awaited<ReturnType<typeof read>>, name: string) => {
  const found = trace.observations.filter((one) => one.name === name);
  expect(found.map(({ name: each }) => each)).toEqual([name]);
  return found[0];
};

const gradeOf = (verdict: string, checks: object[]) => ({
  output: { verdict, passed: verdict === 'pass', score: verdict === 'pass' ? 1 : 0.5, checks },
});
const check = (name: string, verdict: string) => ({
  ...{ name, verdict, passed: verdict === 'pass', expected: 1, found: 2, detail: `${name} it is` },
});

describe('a session in the traces of its project', () => {
  it('is a trace as soon as it is open, and knows which', async () => {
    const session = await open();
    const trace = await read(session.traceId);
    expect(trace).toMatchObject({
      name: 'notes/add a note',
      externalId: session.id,
      sessionId: session.id,
      input: 'Add one note.',
      timestamp: session.createdAt,
      metadata: {
        worldSessions: {
          [session.id]: { world: 'notes', versionId: session.versionId, task: 'add a note' },
        },
      },
      scores: [],
    });
    expect(trace.observations).toMatchObject([
      {
        id: session.id,
        type: 'SPAN',
        endTime: null,
        parentObservationId: null,
        metadata: {
          worldSessionId: session.id,
          state: expect.stringMatching(/PROVISIONING|READY/),
        },
      },
    ]);
    const shown = (await control.read(getSession, { params: { sessionId: session.id } })).body;
    expect(shown).toMatchObject({ traceId: session.traceId, traceSessionId: session.id });
  });

  it('counts in the sums of its day, until its trace is deleted', async () => {
    const counted = () =>
      control.sql<object>(`select coalesce(sum(traces), 0)::int as traces, coalesce(sum(observations), 0)::int as observations
        from daily_usage where environment is not null`);
    const there = () =>
      control.sql<object>(`select (select count(*)::int from traces) as traces,
        (select count(*)::int from observations) as observations`);
    const session = await open();
    await told();
    expect(await counted()).toEqual(await there());
    await control.send(closeSession, { params: { sessionId: session.id }, body: {} });
    await read(session.traceId);
    expect(await counted()).toEqual(await there());
    await control.send(deleteTrace, { params: { traceId: session.traceId ?? '' } });
    expect(await counted()).toEqual(await there());
  });

  it('tells its calls, requests, deliveries, steps of its browser and its end', async () => {
    const session = await open();
    const callId = await call(session.id, { kind: 'tool', name: 'list_notes' }, { output: [] });
    const created = { notes: { inserted: 1, updated: 0, deleted: 0 } };
    await host.requests([
      entryOfCall(1, callId, { operation: 'list_notes', changes: created }),
      entry(2, { status: 404, operation: 'get_note' }),
      entry(3, {
        ...{
          via: 'webhook',
          operation: 'note.created',
          method: 'POST',
          status: null,
          call_id: callId,
        },
        ...{ request: { url: 'https://example.com', headers: {}, body: '{}' }, response: null },
      }),
      entry(4, { via: 'webhook-skipped', operation: 'note.gone', status: null, response: null }),
      entry(5, {
        via: 'browser',
        operation: 'navigated',
        method: null,
        status: null,
        duration_ms: 0,
      }),
      entry(6, {
        ...{ via: 'webhook', operation: 'note.created.answer', status: 503, method: 'POST' },
        ...{ request: { delivery: 3, sender: 'push' }, response: { reason: 'busy' } },
      }),
    ]);
    await control.send(closeSession, { params: { sessionId: session.id }, body: {} });
    await host.calls();
    await host.closed();
    const trace = await read(session.traceId);
    expect(trace.observations).toHaveLength(6);
    expect(named(trace, 'list_notes')).toMatchObject({
      id: callId,
      type: 'TOOL',
      parentObservationId: session.id,
      input: { title: 'a' },
      output: { output: { id: 1 } },
      level: 'DEFAULT',
      metadata: { callState: 'succeeded', changes: created, worldSessionId: session.id, entry: 1 },
    });
    expect(named(trace, 'get_note')).toMatchObject({
      id: `${session.id}-2`,
      startTime: at(2),
      endTime: new Date(Date.parse(at(2)) + 20).toISOString(),
      level: 'WARNING',
      metadata: { via: 'api', method: 'GET', path: '/notes', status: 404 },
    });
    expect(named(trace, 'webhook note.created')).toMatchObject({
      id: `${session.id}-3`,
      parentObservationId: callId,
      startTime: at(3),
      endTime: at(6),
      level: 'ERROR',
      output: { reason: 'busy' },
      metadata: { status: 503 },
    });
    expect(named(trace, 'webhook note.gone')).toMatchObject({ type: 'EVENT', level: 'WARNING' });
    expect(named(trace, 'browser navigated')).toMatchObject({ type: 'EVENT' });
    expect(named(trace, 'notes/add a note')).toMatchObject({
      endTime: expect.any(String),
      metadata: { state: 'CLOSED', endReason: 'requested' },
    });
  });

  it('is scored by its grade, and anew by the next one', async () => {
    const session = await open();
    const first = await call(
      session.id,
      { kind: 'grade' },
      gradeOf('fail', [check('added', 'fail'), check('kept', 'pass'), check('odd', 'unknown')]),
    );
    await host.requests([entryOfCall(1, first, { via: 'session', operation: 'grade' })]);
    const before = await read(session.traceId);
    const scoresOf = ({ scores }: typeof before) =>
      Object.fromEntries(scores.map(({ name, dataType, value }) => [name, [dataType, value]]));
    expect(scoresOf(before)).toEqual({
      passed: ['BOOLEAN', 0],
      score: ['NUMERIC', 0.5],
      'check: added': ['BOOLEAN', 0],
      'check: kept': ['BOOLEAN', 1],
    });
    expect(before.scores.find(({ name }) => name === 'check: added')).toMatchObject({
      source: 'EVAL',
      comment: 'added it is',
      metadata: { worldSessionId: session.id, callId: first },
    });
    expect(before.output).toEqual({ verdict: 'fail', passed: false, score: 0.5 });
    const reset = await call(session.id, { kind: 'reset' }, { output: {} });
    const second = await call(
      session.id,
      { kind: 'grade' },
      gradeOf('pass', [check('added', 'pass')]),
    );
    await host.requests([
      entryOfCall(2, reset, { via: 'session', operation: 'reset' }),
      entryOfCall(3, second, { via: 'session', operation: 'grade' }),
    ]);
    const after = await read(session.traceId);
    expect(scoresOf(after)).toEqual({
      passed: ['BOOLEAN', 1],
      score: ['NUMERIC', 1],
      'check: added': ['BOOLEAN', 1],
    });
    expect(after.output).toEqual({ verdict: 'pass', passed: true, score: 1 });
    expect(after.observations.filter(({ type }) => type === 'EVALUATOR')).toHaveLength(2);
  });

  it('has no scores of what could not be judged', async () => {
    const session = await open();
    const graded = await call(session.id, { kind: 'grade' }, gradeOf('unknown', []));
    await host.requests([entryOfCall(1, graded, { via: 'session', operation: 'grade' })]);
    expect((await read(session.traceId)).scores).toEqual([]);
  });

  it('is scored by a grade that its host was lost with before it wrote it down', async () => {
    const session = await open();
    const first = await call(session.id, { kind: 'grade' }, gradeOf('pass', [check('a', 'pass')]));
    await host.requests([entryOfCall(1, first, { via: 'session', operation: 'grade' })]);
    const last = await call(session.id, { kind: 'grade' }, gradeOf('fail', [check('b', 'fail')]));
    await control.pool(reportGone, { params: { hostId: host.id }, body: { reason: 'exited' } });
    const trace = await read(session.traceId);
    const { scores, output } = trace;
    expect(scores.map(({ name, value }) => [name, value]).sort()).toEqual([
      ['check: b', 0],
      ['passed', 0],
      ['score', 0.5],
    ]);
    expect(output).toMatchObject({ verdict: 'fail' });
    const judged = trace.observations.filter(({ type }) => type === 'EVALUATOR');
    expect(judged.map(({ id }) => id).sort()).toEqual([first, last].sort());
  });

  it('tells of calls that were answered and that its host was lost with before it wrote them down', async () => {
    const session = await open();
    const written = await call(session.id, { kind: 'tool', name: 'list_notes' }, { output: 1 });
    await host.requests([entryOfCall(1, written)]);
    const good = await call(session.id, { kind: 'tool', name: 'create_notes' }, { output: [] });
    const error = { code: 'not_found', message: 'no such note' };
    const bad = await call(session.id, { kind: 'tool', name: 'count_slowly' }, { error });
    await control.pool(reportGone, { params: { hostId: host.id }, body: { reason: 'exited' } });
    const trace = await read(session.traceId);
    expect(trace.observations).toHaveLength(4);
    expect(named(trace, 'list_notes')).toMatchObject({
      id: written,
      output: { output: { id: 1 } },
    });
    expect(named(trace, 'create_notes')).toMatchObject({
      ...{ id: good, type: 'TOOL', level: 'DEFAULT', parentObservationId: session.id },
      ...{ output: null, metadata: { callState: 'succeeded' } },
    });
    expect(named(trace, 'count_slowly')).toMatchObject({
      ...{ id: bad, level: 'ERROR', statusMessage: 'no such note' },
      metadata: { callState: 'failed' },
    });
  });

  it('is told in the trace of whoever opened it, whatever the agent says of that first or later', async () => {
    const session = await open({ headers: { traceparent } });
    expect(session.traceId).toBe(traceId);
    await told();
    const batch = [
      { id: 'e1', type: 'trace-create', timestamp: at(0), body: { id: traceId, name: 'agent' } },
      {
        ...{ id: 'e2', type: 'span-create', timestamp: at(0) },
        body: { id: spanId, traceId, name: 'run', startTime: at(0) },
      },
    ];
    await control.send(ingest, { body: { batch } });
    const trace = await read(traceId);
    expect(trace).toMatchObject({ name: 'agent', sessionId: null, externalId: session.id });
    expect(trace.metadata).toMatchObject({ worldSessions: { [session.id]: { world: 'notes' } } });
    expect(named(trace, 'notes/add a note')).toMatchObject({ parentObservationId: spanId });
  });

  it('has what is asked within a trace hang there, and each trace name the other', async () => {
    const session = await open();
    const other = traceId.replace('4', '5');
    const within = { traceparent: `00-${other}-${spanId}-01` };
    const callId = await call(
      session.id,
      { kind: 'tool', name: 'list_notes' },
      { output: [] },
      within,
    );
    const request = { query: {}, headers: within, body: null };
    await host.requests([entryOfCall(1, callId), entry(2, { request, operation: 'get_note' })]);
    const trace = await read(other);
    expect(named(trace, 'list_notes')).toMatchObject({ id: callId, parentObservationId: spanId });
    expect(named(trace, 'get_note')).toMatchObject({ parentObservationId: spanId });
    expect(trace).toMatchObject({ externalId: session.id });
    expect(named(await read(session.traceId), 'notes/add a note')?.id).toBe(session.id);
  });

  it('stands with the traces of the session that it was opened for, or of its own id', async () => {
    const session = await open({ body: { traceSessionId: 'conversation 7' } });
    expect(session.traceSessionId).toBe('conversation 7');
    await told();
    const body = { id: 'agents', sessionId: 'conversation 7' };
    const batch = [{ id: 'e3', type: 'trace-create', timestamp: at(0), body }];
    await control.send(ingest, { body: { batch } });
    const found = await control.send(getTraceSession, { params: { sessionId: 'conversation 7' } });
    expect(found.body.traces.map(({ id }) => id).sort()).toEqual(
      [session.traceId, 'agents'].sort(),
    );
  });

  it('leaves a trace context alone that is none', async () => {
    const session = await open({ headers: { traceparent: 'nonsense' } });
    const callId = await call(
      session.id,
      { kind: 'tool', name: 'list_notes' },
      { output: [] },
      { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` },
    );
    const request = { query: {}, headers: { traceparent: { deep: 1 } }, body: null };
    await host.requests([entryOfCall(1, callId), entry(2, { request })]);
    expect((await read(session.traceId)).observations).toHaveLength(3);
  });

  it('waits for the answer to a call that was written down before it arrived', async () => {
    const session = await open();
    const { id } = (
      await control.send(enqueueCall, {
        params: { sessionId: session.id },
        body: { kind: 'tool', name: 'list_notes' },
      })
    ).body;
    await host.calls(0);
    await host.requests([entryOfCall(1, id)]);
    await until(
      async () => {
        const [row] = await control.sql<{ looks: number }>(
          'select count(*)::int as looks from trace_dues where not_before > queued_at',
        );
        return row?.looks === 1;
      },
      { timeoutMs: 10_000, what: 'its entry looked at' },
    );
    await host.answer(id, { error: { code: 'not_found', message: 'no such note' } });
    expect(named(await read(session.traceId), 'list_notes')).toMatchObject({
      level: 'ERROR',
      metadata: { callState: 'failed' },
    });
  });

  it('tells of calls that no host took', async () => {
    const session = await open();
    const params = { sessionId: session.id };
    await control.send(enqueueCall, { params, body: { kind: 'tool', name: 'list_notes' } });
    await host.calls(0);
    await control.send(enqueueCall, { params, body: { kind: 'tool', name: 'create_notes' } });
    await control.send(closeSession, { params, body: {} });
    await clearPool(control);
    const trace = await read(session.traceId);
    expect(named(trace, 'list_notes')).toMatchObject({
      level: 'ERROR',
      metadata: { callState: 'lost' },
    });
    expect(named(trace, 'create_notes')).toMatchObject({
      level: 'WARNING',
      metadata: { callState: 'cancelled' },
    });
  });

  it('begins what is long, and says where the rest is', async () => {
    const session = await open();
    const request = { query: {}, headers: {}, body: 'x'.repeat(100_000) };
    await host.requests([entry(1, { request })]);
    const { input } = named(await read(session.traceId), 'list_notes') ?? {};
    expect(input).toMatchObject({
      truncated: true,
      readAt: `/api/public/world-sessions/${session.id}/requests`,
    });
    expect(JSON.stringify(input).length).toBeLessThan(2_000);
  });

  it('is not told again once its trace was deleted', async () => {
    const session = await open();
    const traced = session.traceId ?? '';
    await host.requests([entry(1)]);
    await read(traced);
    await control.send(deleteTrace, { params: { traceId: traced } });
    await host.requests([entry(1), entry(2)]);
    await told();
    await host.requests([entry(3)]);
    await told();
    await expect(control.send(getTrace, { params: { traceId: traced } })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is told in none where its project has that turned off', async () => {
    await setSettings(control, { sessionTraces: false });
    const session = await open();
    await host.requests([entry(1)]);
    expect(session).toMatchObject({ traceId: null, traceSessionId: null });
    const dues = `select from trace_dues where session_id = '${session.id}'`;
    expect(await control.sql(dues)).toEqual([]);
    await setSettings(control, { sessionTraces: true });
  });

  it('is told once by two control planes', async () => {
    const databaseUrl = control.config.databaseUrl.reveal();
    const other = await startTestControl({ databaseUrl, replicaOf: control });
    try {
      const session = await open();
      for (let id = 1; id <= 40; id += 1) await host.requests([entry(id, { operation: `r${id}` })]);
      const { observations } = await read(session.traceId);
      expect(new Set(observations.map(({ name }) => name)).size).toBe(41);
      expect(observations).toHaveLength(41);
    } finally {
      await other.stop();
    }
  });

  it('is told later where telling it fails, and keeps no other from being told', async () => {
    const broken = await open();
    await read(broken.traceId);
    await control.sql(`create function refuse_telling() returns trigger language plpgsql as $$ begin
      if new.id = '${broken.id}-1' then raise 'not now'; end if; return new; end $$`);
    await control.sql(
      'create trigger refuses before insert on observations for each row execute function refuse_telling()',
    );
    await host.requests([entry(1)]);
    const other = await warmHost(control);
    const session = await open({ on: other });
    await other.requests([entry(1)]);
    await until(
      async () => {
        const [row] = await control.sql<{ count: number }>(
          'select count(*)::int as count from observations where id = $1',
          [`${session.id}-1`],
        );
        return row?.count === 1;
      },
      { timeoutMs: 10_000, what: 'the other session told' },
    );
    const [due] = await until(
      async () => {
        const rows = await control.sql<{ session_id: string }>(
          'select session_id from trace_dues where attempts > 0',
        );
        return rows.length > 0 && rows;
      },
      { timeoutMs: 10_000, what: 'a failure noted' },
    );
    expect(due?.session_id).toBe(broken.id);
    await control.sql('drop trigger refuses on observations');
    expect((await read(broken.traceId)).observations).toHaveLength(2);
  });
});
