/**
 * Tests where the verdict, task, run and build of a session appear: in its view, in lists, in its trace and in metrics.
 */
import { describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import {
  closeSession,
  compareBuilds,
  enqueueCall,
  getMetrics,
  getSession,
  ingest,
  listSessions,
  listTraces,
  registerBuild,
} from '#wire/public-api/operations.ts';
import { openDatabase } from '../../../src/control/db/core/database.ts';
import { fillVerdicts } from '../../../src/control/db/sessions/last-grade.ts';
import { type PlayedHost, warmHost } from '../../support/control/host.ts';
import {
  check,
  entryOfCall,
  gradeOf,
  playTracedSessions,
} from '../../support/control/traced-sessions.ts';

const stage = playTracedSessions();
const { open, call, reported } = stage;

const build = { agentId: 'support', buildHash: 'sha256:b1', semanticVer: '1.4.0' };
const register = () => stage.control.send(registerBuild, { body: build });

const list = async (query: object) =>
  (await stage.control.read(listSessions, { query })).body.data.map(({ id }) => id);
const show = async (sessionId: string) =>
  (await stage.control.read(getSession, { params: { sessionId } })).body;

const hostsUsed = new Set<PlayedHost>();

/** Runs a session on a host of its own: a tool is called, the session is graded and closed. */
const play = async (body: object, output: object): Promise<string> => {
  const host = hostsUsed.has(stage.host) ? await warmHost(stage.control) : stage.host;
  hostsUsed.add(host);
  const { id: sessionId } = await open({ body, on: host });
  for (const [given, answer] of [
    [{ kind: 'tool' as const, name: 'list_notes' }, { output: [] }],
    [{ kind: 'grade' as const }, { output }],
  ] as const) {
    const params = { sessionId };
    const { id } = (await stage.control.send(enqueueCall, { params, body: given })).body;
    await host.calls(0);
    await host.answer(id, answer);
  }
  await stage.control.send(closeSession, { params: { sessionId }, body: {} });
  await host.calls();
  await host.closed();
  return sessionId;
};

const end = async (sessionId: string) => {
  await stage.control.send(closeSession, { params: { sessionId }, body: {} });
  await stage.host.calls();
  await stage.host.closed();
};

const query = (question: object) => ({
  query: JSON.stringify({
    ...{ fromTimestamp: '2020-01-01T00:00:00Z', toTimestamp: '2100-01-01T00:00:00Z' },
    ...question,
  }),
});
const ask = async (question: object) =>
  (await stage.control.send(getMetrics, { query: query(question) })).body.data;
const count = { measure: 'count', aggregation: 'count' };

describe('a graded session', () => {
  it('has the verdict and the score of its last successful grade, while it is open and after it is closed', async () => {
    const { id } = await open();
    expect(await show(id)).toMatchObject({ verdict: null, score: null, build: null });
    await call(id, { kind: 'grade' }, gradeOf('fail', []));
    expect(await show(id)).toMatchObject({ state: 'READY', verdict: 'fail', score: 0.5 });
    await call(id, { kind: 'grade' }, { error: { code: 'crashed', message: 'no grade' } });
    expect(await show(id)).toMatchObject({ verdict: 'fail', score: 0.5 });
    const tiny = { verdict: 'pass', passed: true, score: 1e-7, checks: [] };
    await call(id, { kind: 'grade' }, { output: tiny });
    expect(await show(id)).toMatchObject({ verdict: 'pass', score: 1e-7 });
    const unknown = { verdict: 'unknown', passed: false, score: null, checks: [] };
    await call(id, { kind: 'grade' }, { output: unknown });
    await end(id);
    expect(await show(id)).toMatchObject({ state: 'CLOSED', verdict: 'unknown', score: null });
  });

  it('ignores answers of other calls and malformed grades', async () => {
    const { id } = await open();
    const output = { verdict: 'pass', passed: true, score: 1 };
    await call(id, { kind: 'tool', name: 'list_notes' }, { output });
    await call(id, { kind: 'grade' }, { output: { passed: true } });
    expect(await show(id)).toMatchObject({ verdict: null, score: null });
  });
});

describe('a list of sessions', () => {
  it('can be filtered by verdict, task, run and build, and by combinations', async () => {
    await register();
    const run = { id: 'nightly', buildHash: build.buildHash };
    const passed = await play({ run }, gradeOf('pass', []).output);
    const other = { name: 'another one', instruction: 'Do it.' };
    const failed = await play(
      { run: { ...run, id: 'weekly' }, task: other },
      gradeOf('fail', []).output,
    );
    const buildView = { agentId: 'support', buildHash: 'sha256:b1', version: '1.4.0' };
    expect(await show(passed)).toMatchObject({
      run: { kind: 'agent', id: 'nightly' },
      build: buildView,
      verdict: 'pass',
    });
    const { id: buildId = '' } = (await show(passed)).build ?? {};
    const both = [failed, passed];
    expect(await list({ build: build.buildHash })).toEqual(both);
    expect(await list({ build: buildId })).toEqual(both);
    expect(await list({ build: 'none' })).toEqual([]);
    expect(await list({ build: buildId, verdict: 'pass' })).toEqual([passed]);
    expect(await list({ build: buildId, task: 'another one' })).toEqual([failed]);
    expect(await list({ run: 'nightly' })).toEqual([passed]);
    expect(await list({ run: 'nightly', verdict: 'fail' })).toEqual([]);
    expect(await list({ run: 'weekly', state: 'CLOSED', world: 'notes' })).toEqual([failed]);
    expect(await list({ verdict: 'fail', task: 'another one' })).toEqual([failed]);
    expect(await list({ task: 'tsk-00000000000000000000000000' })).toEqual([]);
  });

  it('refuses an unknown verdict', async () => {
    await expect(list({ verdict: 'good' })).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('the trace of a session', () => {
  it('has its build as release and version, and world and task as tags', async () => {
    await register();
    const { traceId } = await open({
      body: { run: { id: 'reported', buildHash: build.buildHash } },
    });
    const trace = await stage.read(traceId);
    expect(trace).toMatchObject({
      ...{ release: 'sha256:b1', version: '1.4.0' },
      tags: ['task:add a note', 'world:notes'],
    });
    const filters = { release: 'sha256:b1', tags: ['world:notes', 'task:add a note'] };
    const { data } = (await stage.control.send(listTraces, { query: filters })).body;
    expect(data.map(({ id }) => id)).toContain(traceId);
  });

  it('keeps the release and version that its agent set, and has the tags of the agent and of the session', async () => {
    await register();
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4737';
    const timestamp = '2026-01-01T00:00:00.000Z';
    const body = { id: traceId, timestamp, release: 'own', version: '9', tags: ['mine'] };
    const batch = [{ id: 'ev-1', type: 'trace-create', timestamp, body }];
    await stage.control.send(ingest, { body: { batch } });
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    await open({ headers, body: { run: { id: 'reported', buildHash: build.buildHash } } });
    expect(await stage.read(traceId)).toMatchObject({
      ...{ release: 'own', version: '9', tags: ['mine', 'task:add a note', 'world:notes'] },
    });
  });
});

describe('metrics', () => {
  it('count sessions by verdict, task, run and build, and average their results', async () => {
    await register();
    const run = { id: 'measured', buildHash: build.buildHash };
    for (const verdict of ['pass', 'pass', 'fail', 'unknown']) {
      const score = verdict === 'unknown' ? null : Number(verdict === 'pass');
      await play({ run }, { verdict, passed: verdict === 'pass', score, checks: [] });
    }
    const dimensions = ['world', 'task', 'run', 'build', 'agent', 'buildVersion', 'sessionState'];
    const filters = [{ type: 'string', column: 'run', operator: '=', value: 'measured' }];
    const passed = { measure: 'passed', aggregation: 'avg' };
    const calls = { measure: 'toolCalls', aggregation: 'sum' };
    const view = { view: 'world-sessions', filters };
    const all = { ...view, metrics: [count, passed, calls] };
    expect(await ask({ ...all, dimensions: dimensions.map((field) => ({ field })) })).toEqual([
      {
        ...{ world: 'notes', task: 'add a note', run: 'measured', build: 'sha256:b1' },
        ...{ agent: 'support', buildVersion: '1.4.0', sessionState: 'CLOSED' },
        ...{ count_count: 4, avg_passed: 2 / 3, sum_toolCalls: 4 },
      },
    ]);
    const byVerdict = { ...view, metrics: [count], dimensions: [{ field: 'verdict' }] };
    expect(await ask(byVerdict)).toEqual([
      { verdict: 'pass', count_count: 2 },
      { verdict: 'fail', count_count: 1 },
      { verdict: 'unknown', count_count: 1 },
    ]);
  });

  it.each([
    ['traces', {}],
    ['observations', { type: 'string', column: 'type', operator: '=', value: 'TOOL' }],
    ['scores-boolean', { type: 'string', column: 'name', operator: '=', value: 'check: added' }],
  ])('of %s can be grouped by fields of the session', async (view, only) => {
    await register();
    const run = { id: `of-${view}`, buildHash: build.buildHash };
    const { id } = await open({ body: { run } });
    const callId = await call(id, { kind: 'tool', name: 'list_notes' }, { output: [] });
    await call(id, { kind: 'grade' }, gradeOf('pass', [check('added', 'pass')]));
    await stage.host.requests([entryOfCall(1, callId)]);
    await end(id);
    await reported();
    const fields = ['world', 'task', 'run', 'build', 'sessionState', 'verdict'];
    const ofRun = { type: 'string', column: 'run', operator: '=', value: run.id };
    const question = {
      ...{ view, metrics: [count], dimensions: fields.map((field) => ({ field })) },
      filters: [ofRun, ...('type' in only ? [only] : [])],
    };
    expect(await ask(question)).toEqual([
      {
        ...{ world: 'notes', task: 'add a note', run: run.id, build: 'sha256:b1' },
        ...{ sessionState: 'CLOSED', verdict: 'pass', count_count: 1 },
      },
    ]);
  });
});

describe('two builds', () => {
  it('are compared by the last grades of their sessions', async () => {
    for (const buildHash of ['sha256:old', 'sha256:new']) {
      await stage.control.send(registerBuild, { body: { agentId: 'compared', buildHash } });
    }
    const run = (buildHash: string) => ({ run: { id: `run of ${buildHash}`, buildHash } });
    const graded = (verdict: string, paid: string) =>
      gradeOf(verdict, [check('paid', paid), check('kept', 'pass')]).output;
    const before = await play(run('sha256:old'), graded('pass', 'pass'));
    const after = await play(run('sha256:new'), graded('fail', 'fail'));
    await play(run('sha256:new'), graded('unknown', 'unknown'));
    const query = { base: 'sha256:old', candidate: 'sha256:new' };
    const { body } = await stage.control.send(compareBuilds, { query });
    expect(body).toMatchObject({
      base: { agentId: 'compared', buildHash: 'sha256:old' },
      candidate: { buildHash: 'sha256:new' },
      total: { base: { n: 1, passed: 1 }, candidate: { n: 1, passed: 0 }, difference: -1 },
      tasks: [
        {
          ...{ world: 'notes', task: 'add a note', contentDiffers: false },
          checks: [
            { name: 'paid', base: { n: 1, passed: 1 }, candidate: { n: 1, passed: 0 } },
            { name: 'kept', difference: 0 },
          ],
        },
      ],
      flips: [
        {
          base: { sessionId: before, verdict: 'pass' },
          candidate: { sessionId: after, verdict: 'fail' },
          checks: ['paid'],
        },
      ],
      ...{ flippedToFail: 1, flippedToPass: 0, olderLeftOut: false },
    });
    const same = { base: 'sha256:old', candidate: 'sha256:old', agentId: 'compared' };
    const unmoved = (await stage.control.send(compareBuilds, { query: same })).body;
    expect(unmoved).toMatchObject({ total: { difference: 0 }, flips: [] });
    await expect(
      stage.control.send(compareBuilds, { query: { ...query, base: 'stable' } }),
    ).rejects.toThrow(/a label or a version needs the agentId/);
  });
});

describe('sessions of an earlier release', () => {
  it('get their verdicts, runs and builds by a backfill', async () => {
    await register();
    const { id } = await open({ body: { run: { id: 'early', buildHash: build.buildHash } } });
    await call(id, { kind: 'grade' }, gradeOf('pass', []));
    const before = await show(id);
    await stage.control.sql(
      'update sessions set verdict = null, score = null, agent_run_id = null, build_id = null',
    );
    await stage.control.sql(`insert into verdict_fill values ('')`);
    expect(await show(id)).toMatchObject({ verdict: null, run: null, build: null });
    const db = openDatabase(stage.control.config.databaseUrl, createLog('test', 'silent'));
    try {
      await fillVerdicts(db);
      expect(await show(id)).toEqual(before);
      await fillVerdicts(db);
    } finally {
      await db.close();
    }
    expect(await stage.control.sql('select * from verdict_fill')).toEqual([]);
  });
});
