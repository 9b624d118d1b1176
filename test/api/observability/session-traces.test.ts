/**
 * Tests how sessions appear in the traces of their project: their calls, requests, deliveries and grades, within size
 * limits.
 */
import { describe, expect, it } from 'vitest';
import {
  closeSession,
  deleteTrace,
  getSession,
  getTraceSession,
  ingest,
} from '#wire/public-api/operations.ts';
import {
  at,
  check,
  entry,
  entryOfCall,
  gradeOf,
  playTracedSessions,
} from '../../support/control/traced-sessions.ts';

const stage = playTracedSessions();
const { open, call, reported, read, named } = stage;

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${spanId}-01`;

describe('a session in the traces of its project', () => {
  it('has a trace as soon as it is open, and the id of that trace in its view', async () => {
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
    const shown = (await stage.control.read(getSession, { params: { sessionId: session.id } }))
      .body;
    expect(shown).toMatchObject({ traceId: session.traceId, traceSessionId: session.id });
  });

  it('counts in the daily usage until its trace is deleted', async () => {
    const counted = () =>
      stage.control.sql<object>(`select coalesce(sum(traces), 0)::int as traces, coalesce(sum(observations), 0)::int as observations
        from daily_usage where environment is not null`);
    const there = () =>
      stage.control.sql<object>(`select (select count(*)::int from traces) as traces,
        (select count(*)::int from observations) as observations`);
    const session = await open();
    await reported();
    expect(await counted()).toEqual(await there());
    await stage.control.send(closeSession, { params: { sessionId: session.id }, body: {} });
    await read(session.traceId);
    expect(await counted()).toEqual(await there());
    await stage.control.send(deleteTrace, { params: { traceId: session.traceId ?? '' } });
    expect(await counted()).toEqual(await there());
  });

  it('has its calls, requests, deliveries, browser steps and its end as observations', async () => {
    const session = await open();
    const callId = await call(session.id, { kind: 'tool', name: 'list_notes' }, { output: [] });
    const created = { notes: { inserted: 1, updated: 0, deleted: 0 } };
    await stage.host.requests([
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
    await stage.control.send(closeSession, { params: { sessionId: session.id }, body: {} });
    await stage.host.calls();
    await stage.host.closed();
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

  it('is scored by its grade, and scored again by the next grade', async () => {
    const session = await open();
    const first = await call(
      session.id,
      { kind: 'grade' },
      gradeOf('fail', [check('added', 'fail'), check('kept', 'pass'), check('odd', 'unknown')]),
    );
    await stage.host.requests([entryOfCall(1, first, { via: 'session', operation: 'grade' })]);
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
    await stage.host.requests([
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

  it('has its grade while it is open, before any report of the host', async () => {
    const session = await open();
    const good = gradeOf('pass', [check('added', 'pass')]);
    const graded = await call(session.id, { kind: 'grade' }, good);
    const error = { code: 'grader_failed', message: 'the grader ended' };
    const failed = await call(session.id, { kind: 'grade' }, { error });
    const trace = await read(session.traceId);
    expect(trace.scores.map(({ name, value }) => [name, value]).sort()).toEqual([
      ['check: added', 1],
      ['passed', 1],
      ['score', 1],
    ]);
    const outcome = { verdict: 'pass', passed: true, score: 1 };
    expect(trace.output).toEqual(outcome);
    const judged = trace.observations.filter(({ type }) => type === 'EVALUATOR');
    expect(judged.toSorted((one) => (one.id === graded ? -1 : 1))).toMatchObject([
      { id: graded, level: 'DEFAULT', output: outcome, metadata: { callState: 'succeeded' } },
      { id: failed, level: 'ERROR', statusMessage: 'the grader ended' },
    ]);
  });

  it('has no scores when the verdict is unknown', async () => {
    const session = await open();
    const graded = await call(session.id, { kind: 'grade' }, gradeOf('unknown', []));
    await stage.host.requests([entryOfCall(1, graded, { via: 'session', operation: 'grade' })]);
    expect((await read(session.traceId)).scores).toEqual([]);
  });

  it('joins the trace whose context its opener sent, whether the agent writes to that trace before or after', async () => {
    const session = await open({ headers: { traceparent } });
    expect(session.traceId).toBe(traceId);
    await reported();
    const batch = [
      { id: 'e1', type: 'trace-create', timestamp: at(0), body: { id: traceId, name: 'agent' } },
      {
        ...{ id: 'e2', type: 'span-create', timestamp: at(0) },
        body: { id: spanId, traceId, name: 'run', startTime: at(0) },
      },
    ];
    await stage.control.send(ingest, { body: { batch } });
    const trace = await read(traceId);
    expect(trace).toMatchObject({ name: 'agent', sessionId: null, externalId: session.id });
    expect(trace.metadata).toMatchObject({ worldSessions: { [session.id]: { world: 'notes' } } });
    expect(named(trace, 'notes/add a note')).toMatchObject({ parentObservationId: spanId });
  });

  it('adds calls made within another trace to that trace, with a link to the session', async () => {
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
    await stage.host.requests([
      entryOfCall(1, callId),
      entry(2, { request, operation: 'get_note' }),
    ]);
    const trace = await read(other);
    expect(named(trace, 'list_notes')).toMatchObject({ id: callId, parentObservationId: spanId });
    expect(named(trace, 'get_note')).toMatchObject({ parentObservationId: spanId });
    expect(trace).toMatchObject({ externalId: session.id });
    expect(named(await read(session.traceId), 'notes/add a note')?.id).toBe(session.id);
  });

  it('belongs to the trace session that it was opened for', async () => {
    const session = await open({ body: { traceSessionId: 'conversation 7' } });
    expect(session.traceSessionId).toBe('conversation 7');
    await reported();
    const body = { id: 'agents', sessionId: 'conversation 7' };
    const batch = [{ id: 'e3', type: 'trace-create', timestamp: at(0), body }];
    await stage.control.send(ingest, { body: { batch } });
    const found = await stage.control.send(getTraceSession, {
      params: { sessionId: 'conversation 7' },
    });
    expect(found.body.traces.map(({ id }) => id).sort()).toEqual(
      [session.traceId, 'agents'].sort(),
    );
  });

  it('ignores an invalid trace context', async () => {
    const session = await open({ headers: { traceparent: 'nonsense' } });
    const callId = await call(
      session.id,
      { kind: 'tool', name: 'list_notes' },
      { output: [] },
      { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` },
    );
    const request = { query: {}, headers: { traceparent: { deep: 1 } }, body: null };
    await stage.host.requests([entryOfCall(1, callId), entry(2, { request })]);
    expect((await read(session.traceId)).observations).toHaveLength(3);
  });

  it('truncates long content and names the route that returns all of it', async () => {
    const session = await open();
    const request = { query: {}, headers: {}, body: 'x'.repeat(100_000) };
    await stage.host.requests([entry(1, { request })]);
    const { input } = named(await read(session.traceId), 'list_notes') ?? {};
    expect(input).toMatchObject({
      truncated: true,
      readAt: `/api/public/world-sessions/${session.id}/requests`,
    });
    expect(JSON.stringify(input).length).toBeLessThan(2_000);
  });
});
