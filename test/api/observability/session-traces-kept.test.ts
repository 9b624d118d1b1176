/**
 * Tests the traces of sessions when hosts are lost and when reports are late or repeated: the traces stay complete and
 * free of duplicates. A project that has turned them off gets none.
 */
import { describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { reportGone } from '#wire/pool-api/operations.ts';
import { closeSession, deleteTrace, enqueueCall, getTrace } from '#wire/public-api/operations.ts';
import { startTestControl } from '../../support/control/control.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { setSettings } from '../../support/control/settings.ts';
import {
  check,
  entry,
  entryOfCall,
  gradeOf,
  playTracedSessions,
} from '../../support/control/traced-sessions.ts';

const stage = playTracedSessions();
const { open, call, reported, read, named } = stage;

describe('a session in the traces of its project', () => {
  it('is scored by the last grade that a call returned, even if the host is lost before it reports that call', async () => {
    const session = await open();
    const first = await call(session.id, { kind: 'grade' }, gradeOf('pass', [check('a', 'pass')]));
    await stage.host.requests([entryOfCall(1, first, { via: 'session', operation: 'grade' })]);
    const last = await call(session.id, { kind: 'grade' }, gradeOf('fail', [check('b', 'fail')]));
    await stage.control.pool(reportGone, {
      params: { hostId: stage.host.id },
      body: { reason: 'exited' },
    });
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

  it('has the answered calls that its host did not report before the host was lost', async () => {
    const session = await open();
    const written = await call(session.id, { kind: 'tool', name: 'list_notes' }, { output: 1 });
    await stage.host.requests([entryOfCall(1, written)]);
    const good = await call(session.id, { kind: 'tool', name: 'create_notes' }, { output: [] });
    const error = { code: 'not_found', message: 'no such note' };
    const bad = await call(session.id, { kind: 'tool', name: 'count_slowly' }, { error });
    await stage.control.pool(reportGone, {
      params: { hostId: stage.host.id },
      body: { reason: 'exited' },
    });
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

  it('waits for the answer to a call that its host reported before the answer arrived', async () => {
    const session = await open();
    const { id } = (
      await stage.control.send(enqueueCall, {
        params: { sessionId: session.id },
        body: { kind: 'tool', name: 'list_notes' },
      })
    ).body;
    await stage.host.calls(0);
    await stage.host.requests([entryOfCall(1, id)]);
    await until(
      async () => {
        const [row] = await stage.control.sql<{ looks: number }>(
          'select count(*)::int as looks from trace_dues where not_before > queued_at',
        );
        return row?.looks === 1;
      },
      { timeoutMs: 10_000, what: 'its entry looked at' },
    );
    await stage.host.answer(id, { error: { code: 'not_found', message: 'no such note' } });
    expect(named(await read(session.traceId), 'list_notes')).toMatchObject({
      level: 'ERROR',
      metadata: { callState: 'failed' },
    });
  });

  it('has the calls that no host answered', async () => {
    const session = await open();
    const params = { sessionId: session.id };
    await stage.control.send(enqueueCall, { params, body: { kind: 'tool', name: 'list_notes' } });
    await stage.host.calls(0);
    await stage.control.send(enqueueCall, { params, body: { kind: 'tool', name: 'create_notes' } });
    await stage.control.send(closeSession, { params, body: {} });
    await clearPool(stage.control);
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

  it('is not written again after its trace was deleted', async () => {
    const session = await open();
    const traced = session.traceId ?? '';
    await stage.host.requests([entry(1)]);
    await read(traced);
    await stage.control.send(deleteTrace, { params: { traceId: traced } });
    await stage.host.requests([entry(1), entry(2)]);
    await reported();
    await stage.host.requests([entry(3)]);
    await reported();
    await expect(
      stage.control.send(getTrace, { params: { traceId: traced } }),
    ).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is not written when its project has turned session traces off', async () => {
    await setSettings(stage.control, { sessionTraces: false });
    const session = await open();
    await stage.host.requests([entry(1)]);
    expect(session).toMatchObject({ traceId: null, traceSessionId: null });
    const dues = `select from trace_dues where session_id = '${session.id}'`;
    expect(await stage.control.sql(dues)).toEqual([]);
    await setSettings(stage.control, { sessionTraces: true });
  });

  it('is written once by two control planes', async () => {
    const databaseUrl = stage.control.config.databaseUrl.reveal();
    const other = await startTestControl({ databaseUrl, replicaOf: stage.control });
    try {
      const session = await open();
      for (let id = 1; id <= 40; id += 1)
        await stage.host.requests([entry(id, { operation: `r${id}` })]);
      const { observations } = await read(session.traceId);
      expect(new Set(observations.map(({ name }) => name)).size).toBe(41);
      expect(observations).toHaveLength(41);
    } finally {
      await other.stop();
    }
  });

  it('is written later when writing fails, and does not block another session', async () => {
    const broken = await open();
    await read(broken.traceId);
    await stage.control.sql(`create function refuse_telling() returns trigger language plpgsql as $$ begin
      if new.id = '${broken.id}-1' then raise 'not now'; end if; return new; end $$`);
    await stage.control.sql(
      'create trigger refuses before insert on observations for each row execute function refuse_telling()',
    );
    await stage.host.requests([entry(1)]);
    const other = await warmHost(stage.control);
    const session = await open({ on: other });
    await other.requests([entry(1)]);
    await until(
      async () => {
        const [row] = await stage.control.sql<{ count: number }>(
          'select count(*)::int as count from observations where id = $1',
          [`${session.id}-1`],
        );
        return row?.count === 1;
      },
      { timeoutMs: 10_000, what: 'a report of the other session' },
    );
    const [due] = await until(
      async () => {
        const rows = await stage.control.sql<{ session_id: string }>(
          'select session_id from trace_dues where attempts > 0',
        );
        return rows.length > 0 && rows;
      },
      { timeoutMs: 10_000, what: 'a failure noted' },
    );
    expect(due?.session_id).toBe(broken.id);
    await stage.control.sql('drop trigger refuses on observations');
    expect((await read(broken.traceId)).observations).toHaveLength(2);
  });
});
