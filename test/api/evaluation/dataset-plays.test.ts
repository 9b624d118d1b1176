/**
 * Tests experiment runs of datasets on worlds: each item gets a session, and the grade of the session is its score.
 * Runs can be stopped and resumed.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { reap } from '#wire/pool-api/operations.ts';
import * as api from '#wire/public-api/operations.ts';
import { openDatabase } from '../../../src/control/db/core/database.ts';
import {
  assignSession,
  msUntilDue,
} from '../../../src/control/db/evaluation/dataset-world-runs.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let number = 0;

beforeAll(async () => {
  control = await startNotesControl();
});
afterEach(() => clearPool(control));
afterAll(() => control.stop());

const task = { instruction: 'Do it.' };

/** Creates a dataset with an item for each of these inputs, in their order. */
const makeDataset = async (inputs: readonly unknown[]): Promise<string> => {
  number += 1;
  const datasetName = `plays/${number}`;
  await control.send(api.createDataset, { body: { name: datasetName } });
  for (const [index, input] of inputs.entries()) {
    const body = { datasetName, id: `item-${number}-${index}`, input };
    await control.send(api.createDatasetItem, { body });
  }
  return datasetName;
};

const runOf = (name: string) => ({ name: encodeURIComponent(name), runName: 'run' });

const begin = async (dataset: string, concurrency = 4) => {
  const { name } = runOf(dataset);
  const body = { world: 'notes', name: 'run', concurrency };
  return (await control.send(api.startDatasetRun, { params: { name }, body })).body;
};

const rollouts = async (dataset: string) =>
  (await control.send(api.listDatasetRunSessions, { params: runOf(dataset), query: {} })).body;

/**
 * Waits until the items have these states, in the order of the items. The timeout is shorter than the interval at which
 * a control plane polls for runs.
 */
const stand = async (dataset: string, states: readonly string[]) => {
  let seen: Awaited<ReturnType<typeof rollouts>> | undefined;
  await until(
    async () => {
      seen = await rollouts(dataset);
      return seen.data.map(({ state }) => state).join() === states.join();
    },
    { timeoutMs: 9_000, what: `items that are ${states.join()}` },
  );
  if (seen === undefined) throw new Error('nothing was seen');
  return seen;
};

describe('a run that is dispatched to a world', () => {
  it('belongs to the dataset and that world, and is resumed by a request with its name', async () => {
    const dataset = await makeDataset([]);
    const dispatch = (containerId: string, more: object = {}) =>
      control.send(api.dispatchRun, {
        params: { containerId },
        body: { dataset, name: 'run', concurrency: 1, ...more },
      });
    const started = await dispatch('notes', { bundle: '1' });
    expect(started.status).toBe(202);
    expect(started.body).toMatchObject({ name: 'run', datasetName: dataset });
    expect((await dispatch('notes', { bundle: '1' })).body.id).toBe(started.body.id);
    const { name } = runOf(dataset);
    const listed = await control.send(api.listDatasetRuns, { params: { name }, query: {} });
    expect(listed.body.data).toMatchObject([{ id: started.body.id }]);
    await expect(dispatch('none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(dispatch('notes', { bundle: '9' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(dispatch('notes', { dataset: 'none' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

/** Assigns the open sessions to the hosts, and returns the hosts by session id. */
const serve = async (hosts: readonly PlayedHost[]): Promise<Map<string, PlayedHost>> => {
  const serving = new Map<string, PlayedHost>();
  for (const host of hosts) {
    const assignment = await host.poll();
    if (assignment === undefined) throw new Error(`${host.id} has nothing to serve`);
    await host.ready();
    serving.set(assignment.sessionId, host);
  }
  return serving;
};

const gradeOf = (passes: boolean) => ({
  output: { verdict: passes ? 'pass' : 'fail', passed: passes, score: passes ? 1 : 0, checks: [] },
});

/** Ledger entry that a host sends about a grade; it puts the grade into the trace of the session. */
const entryOf = (callId: string) => ({
  ...{ id: 1, at: new Date().toISOString(), via: 'session', operation: 'grade', status: null },
  ...{ method: null, path: null, request: {}, response: {}, duration_ms: 1, changes: {}, rows: [] },
  call_id: callId,
});

const grade = async (host: PlayedHost | undefined, sessionId: string, passes: boolean) => {
  const params = { sessionId };
  const { id } = (await control.send(api.enqueueCall, { params, body: { kind: 'grade' } })).body;
  await host?.calls();
  await host?.answer(id, gradeOf(passes));
  await host?.requests([entryOf(id)]);
};

const closing = async (host: PlayedHost | undefined) => {
  expect(await host?.calls(10)).toHaveProperty('close');
  await host?.closed();
};

const warmHosts = (count: number): Promise<PlayedHost[]> =>
  Promise.all(Array.from({ length: count }, () => warmHost(control)));

const age = (sessionId: string, minutes: number) =>
  control.sql(
    `update sessions set last_activity_at = last_activity_at - $2 * interval '1 minute' where id = $1`,
    [sessionId, minutes],
  );

const reapAfterTen = () =>
  control.pool(reap, {
    body: { idleMs: 600_000, maxAgeMs: 6e7, provisionMs: 600_000, closingMs: 600_000 },
  });

describe('an experiment run of a dataset on a world', () => {
  it('opens as many sessions as its concurrency, links the items to the traces of their sessions, and scores them by the grades', async () => {
    const dataset = await makeDataset([task, task, task]);
    const hosts = await warmHosts(2);
    expect((await begin(dataset, 2)).worldRun).toMatchObject({ state: 'RUNNING', items: 3 });
    const { data } = await stand(dataset, ['OPEN', 'OPEN', 'WAITING']);
    const serving = await serve(hosts);
    const [first, second] = data.map(({ sessionId }) => sessionId ?? '');
    await grade(serving.get(first ?? ''), first ?? '', true);
    await closing(serving.get(first ?? ''));
    const next = await stand(dataset, ['GRADED', 'OPEN', 'OPEN']);
    await grade(serving.get(second ?? ''), second ?? '', false);
    await closing(serving.get(second ?? ''));
    const third = next.data[2]?.sessionId ?? '';
    const more = await serve(await warmHosts(1));
    await grade(more.get(third), third, true);
    const over = await stand(dataset, ['GRADED', 'GRADED', 'GRADED']);
    expect(over.data).toMatchObject([
      { attempt: 1, sessionId: first, verdict: 'pass', score: 1, error: null },
      { attempt: 1, sessionId: second, verdict: 'fail', score: 0, error: null },
      { attempt: 1, sessionId: third, verdict: 'pass', score: 1, error: null },
    ]);
    await until(async () => (await rollouts(dataset)).worldRun.state === 'COMPLETED', {
      timeoutMs: 9_000,
      what: 'the run is over',
    });
    const run = (await control.send(api.getDatasetRun, { params: runOf(dataset) })).body;
    expect(run.worldRun).toMatchObject({ graded: 3, passed: 2, failed: 0, waiting: 0, open: 0 });
    const links = new Map(
      run.datasetRunItems.map(({ datasetItemId, traceId }) => [datasetItemId, traceId]),
    );
    for (const { datasetItemId, sessionId, score } of over.data) {
      const params = { sessionId: sessionId ?? '' };
      const { traceId } = (await control.send(api.getSession, { params })).body;
      expect(links.get(datasetItemId)).toBe(traceId);
      const query = { traceId: traceId ?? '', name: 'score' };
      await until(
        async () => (await control.send(api.listScores, { query })).body.data[0]?.value === score,
        { timeoutMs: 9_000, what: `the score of ${sessionId}` },
      );
    }
  });

  it('fails an item that is not a task, with the reason', async () => {
    const dataset = await makeDataset([7, task]);
    const hosts = await warmHosts(1);
    await begin(dataset);
    const { data } = await stand(dataset, ['FAILED', 'OPEN']);
    expect(data[0]).toMatchObject({ sessionId: null, error: expect.stringContaining('no task') });
    const sessionId = data[1]?.sessionId ?? '';
    const serving = await serve(hosts);
    await grade(serving.get(sessionId), sessionId, true);
    expect((await stand(dataset, ['FAILED', 'GRADED'])).worldRun).toMatchObject({ failed: 1 });
  });

  it('is stopped when a session ends as idle, and resumes with the items that are not graded', async () => {
    const dataset = await makeDataset([task, task, task]);
    const hosts = await warmHosts(2);
    await begin(dataset, 2);
    const { data } = await stand(dataset, ['OPEN', 'OPEN', 'WAITING']);
    const serving = await serve(hosts);
    const [worked = '', idle = ''] = data.map(({ sessionId }) => sessionId ?? '');
    await age(idle, 11);
    await reapAfterTen();
    await closing(serving.get(idle));
    await until(async () => (await rollouts(dataset)).worldRun.state === 'STOPPED', {
      timeoutMs: 9_000,
      what: 'the run is stopped',
    });
    const stopped = await stand(dataset, ['FAILED', 'FAILED', 'WAITING']);
    expect(stopped.worldRun.reason).toBe(
      `no agent worked in the session ${idle}, which ended with the reason "idle"`,
    );
    expect(stopped.data.map(({ error }) => error)).toEqual([
      'the run was stopped',
      'the session ended without a grade: idle',
      null,
    ]);
    await closing(serving.get(worked));
    const params = { sessionId: worked };
    expect((await control.send(api.getSession, { params })).body.state).toBe('CLOSED');

    await begin(dataset, 3);
    const again = await stand(dataset, ['OPEN', 'OPEN', 'OPEN']);
    expect(again.data.map(({ attempt }) => attempt)).toEqual([2, 2, 1]);
    expect(new Set([worked, idle, ...again.data.map(({ sessionId }) => sessionId)]).size).toBe(5);
    const { body } = await control.send(api.stopDatasetRun, { params: runOf(dataset) });
    expect(body.worldRun).toMatchObject({ state: 'STOPPED', reason: 'a client stopped the run' });
  });

  it('keeps a grade that arrived before its session was closed', async () => {
    const dataset = await makeDataset([task]);
    const hosts = await warmHosts(1);
    await begin(dataset);
    const sessionId = (await stand(dataset, ['OPEN'])).data[0]?.sessionId ?? '';
    const serving = await serve(hosts);
    await control.sql(`update dataset_plays set due_at = now() + interval '1 hour'`);
    await grade(serving.get(sessionId), sessionId, true);
    await control.send(api.closeSession, { params: { sessionId }, body: {} });
    await closing(serving.get(sessionId));
    await begin(dataset);
    expect((await stand(dataset, ['GRADED'])).data[0]).toMatchObject({
      sessionId,
      verdict: 'pass',
    });
  });
});

describe('an agent that fails', () => {
  const ended = {
    ...{ outcome: 'failed' as const, exitCode: 1, signal: null, seconds: 2.5 },
    ...{ lastLines: ['Traceback', 'No module "x"'], output: 'a\0b', outputCut: false },
  };
  const report = (sessionId: string, more: object = {}) =>
    control.send(api.reportAgentEnd, { params: { sessionId }, body: { ...ended, ...more } });

  it('fails its item without a grade, closes its session, and has its output stored', async () => {
    const dataset = await makeDataset([task, task]);
    const hosts = await warmHosts(2);
    await begin(dataset);
    const { data } = await stand(dataset, ['OPEN', 'OPEN']);
    const serving = await serve(hosts);
    const [lost = '', played = ''] = data.map(({ sessionId }) => sessionId ?? '');
    const { body: kept } = await report(lost);
    expect(kept).toMatchObject({ ...ended, sessionId: lost, output: 'a\ufffdb' });
    await report(played, { outcome: 'ended' });
    await closing(serving.get(lost));
    await stand(dataset, ['FAILED', 'OPEN']);
    await grade(serving.get(played), played, false);
    const { data: items, worldRun } = await stand(dataset, ['FAILED', 'GRADED']);
    expect(worldRun).toMatchObject({ graded: 1, passed: 0, failed: 1, crashed: 1 });
    expect(items).toMatchObject([
      {
        verdict: null,
        error: 'the agent ended with exit status 1 before it used the session: No module "x"',
        agent: { outcome: 'failed', exitCode: 1, lastLines: ended.lastLines },
      },
      { verdict: 'fail', error: null, agent: { outcome: 'ended', exitCode: 1 } },
    ]);
    const params = { sessionId: lost };
    expect((await control.send(api.getAgentEnd, { params })).body).toEqual(kept);
    await expect(control.read(api.getAgentEnd, { params })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('fails its item also if the run is stopped first, or if the item has a grade', async () => {
    const dataset = await makeDataset([task]);
    const hosts = await warmHosts(1);
    await begin(dataset);
    const sessionId = (await stand(dataset, ['OPEN'])).data[0]?.sessionId ?? '';
    await control.sql(`update dataset_plays set due_at = now() + interval '1 hour'`);
    const serving = await serve(hosts);
    await grade(serving.get(sessionId), sessionId, true);
    await report(sessionId, { outcome: 'timed_out', exitCode: null, signal: 'SIGTERM' });
    await control.send(api.stopDatasetRun, { params: runOf(dataset) });
    const [item] = (await stand(dataset, ['FAILED'])).data;
    expect(item?.error).toMatch(
      /^the agent reached its time limit and was ended \(signal SIGTERM\)/,
    );
  });

  it('can be reported only for a session of the project, and only within the size limits of the report', async () => {
    await expect(report('ses-none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(
      control.send(api.getAgentEnd, { params: { sessionId: 'ses-none' } }),
    ).rejects.toMatchObject({ code: 'not_found' });
    const { id } = (await control.send(api.openSession, { body: { slug: 'notes' } })).body;
    await expect(control.send(api.getAgentEnd, { params: { sessionId: id } })).rejects.toThrow(
      /no end of an agent was reported/,
    );
    for (const more of [
      { outcome: 'crashed' },
      { output: 'x'.repeat(70_000) },
      { lastLines: Array.from({ length: 21 }, () => 'x') },
      { seconds: -1 },
    ]) {
      await expect(report(id, more)).rejects.toMatchObject({ code: 'invalid' });
    }
    await control.send(api.closeSession, { params: { sessionId: id }, body: {} });
  });
});

describe('a run with an agent build', () => {
  const hash = 'sha256:of-a-dataset';

  it('has sessions of that build, and completes when it is resumed', async () => {
    const body = { agentId: 'player', buildHash: hash };
    const build = (await control.send(api.registerBuild, { body })).body;
    const dataset = await makeDataset([task, task]);
    const { name } = runOf(dataset);
    const startWith = async (more: object) =>
      (
        await control.send(api.startDatasetRun, {
          params: { name },
          body: { world: 'notes', name: 'run', ...more },
        })
      ).body;
    await expect(startWith({ buildHash: 'none' })).rejects.toMatchObject({ code: 'not_found' });
    const hosts = await warmHosts(2);
    const started = await startWith({ buildHash: hash });
    expect(started.worldRun.buildHash).toBe(hash);
    await expect(startWith({ buildHash: 'other' })).rejects.toMatchObject({ code: 'not_found' });
    const [first = '', second = ''] = (await stand(dataset, ['OPEN', 'OPEN'])).data.map(
      ({ sessionId }) => sessionId ?? '',
    );
    const serving = await serve(hosts);
    const listed = (await control.send(api.listSessions, { query: { run: started.id } })).body.data;
    expect(listed).toHaveLength(2);
    expect(listed[0]).toMatchObject({
      run: { kind: 'dataset', id: started.id },
      build: { id: build.id, buildHash: hash },
    });
    await grade(serving.get(first), first, true);
    await closing(serving.get(first));
    await control.send(api.reportAgentEnd, {
      params: { sessionId: second },
      body: {
        ...{ outcome: 'missing', exitCode: 127, signal: null, seconds: 0, lastLines: [] },
        ...{ output: '', outputCut: false },
      },
    });
    await closing(serving.get(second));
    await stand(dataset, ['GRADED', 'FAILED']);
    const runNow = async () =>
      (await control.send(api.getAgentRun, { params: { agentRunId: started.id } })).body;
    expect(await runNow()).toMatchObject({ state: 'INCOMPLETE', planned: 2, graded: 1 });
    await startWith({});
    const again = (await stand(dataset, ['GRADED', 'OPEN'])).data[1]?.sessionId ?? '';
    const more = await serve(await warmHosts(1));
    await grade(more.get(again), again, true);
    await stand(dataset, ['GRADED', 'GRADED']);
    expect(await runNow()).toMatchObject({ state: 'COMPLETED', graded: 2, passed: 2 });
  });

  it('is refused under the name of a run that has another build or none', async () => {
    const other = { agentId: 'player', buildHash: 'sha256:another' };
    await control.send(api.registerBuild, { body: other });
    const dataset = await makeDataset([]);
    await begin(dataset);
    const { name } = runOf(dataset);
    const body = { world: 'notes', name: 'run', buildHash: other.buildHash };
    await expect(control.send(api.startDatasetRun, { params: { name }, body })).rejects.toThrow(
      'the run "run" has no build, not "sha256:another"',
    );
  });
});

describe('a session of an experiment run', () => {
  /** Starts a run with one session that a host serves. */
  const openOne = async () => {
    const dataset = await makeDataset([task]);
    const hosts = await warmHosts(1);
    await begin(dataset);
    const sessionId = (await stand(dataset, ['OPEN'])).data[0]?.sessionId ?? '';
    const host = (await serve(hosts)).get(sessionId);
    return { dataset, sessionId, host };
  };
  const itemsAre = (state: string, sessionId: string) =>
    control.sql('update dataset_rollouts set state = $1 where session_id = $2', [state, sessionId]);

  it('is closed if its item is settled and the request to close the session was lost', async () => {
    const { sessionId, host } = await openOne();
    await itemsAre('GRADED', sessionId);
    await reapAfterTen();
    await closing(host);
  });

  it('is closed if its run is deleted', async () => {
    const { dataset, host } = await openOne();
    await control.send(api.deleteDatasetRun, { params: runOf(dataset) });
    await reapAfterTen();
    await closing(host);
  });

  it('is closed if its run was stopped before the session was assigned to its item', async () => {
    const { dataset, sessionId, host } = await openOne();
    const waits = `update dataset_rollouts set state = 'WAITING', session_id = null where session_id = $1`;
    await control.sql(`update dataset_plays set state = 'STOPPED'`);
    await control.sql(waits, [sessionId]);
    await reapAfterTen();
    await closing(host);
    await begin(dataset);
    const { data } = await stand(dataset, ['OPEN']);
    expect(data[0]).toMatchObject({ attempt: 2, error: null });
    expect(data[0]?.sessionId).not.toBe(sessionId);
    await control.send(api.stopDatasetRun, { params: runOf(dataset) });
  });

  it('is closed at once if its run is stopped while the session is opening', async () => {
    const dataset = await makeDataset([task]);
    const others = new pg.Client(control.config.databaseUrl.reveal());
    await others.connect();
    let id: string;
    try {
      await others.query('begin; lock table sessions in share mode');
      id = (await begin(dataset)).id;
      const waits = `select 1 from pg_locks where relation = 'sessions'::regclass and not granted`;
      await until(async () => (await control.sql(waits)).length > 0, {
        timeoutMs: 9_000,
        what: 'a session to open',
      });
      await control.send(api.stopDatasetRun, { params: runOf(dataset) });
    } finally {
      await others.end();
    }
    const closed = `select 1 from sessions where dataset_run_id = $1 and end_reason = 'requested'`;
    await until(async () => (await control.sql(closed, [id])).length > 0, {
      timeoutMs: 9_000,
      what: 'its end',
    });
    expect((await rollouts(dataset)).data).toMatchObject([{ state: 'WAITING', sessionId: null }]);
  });

  it('is assigned to its item once, even by several workers', async () => {
    const { dataset, sessionId } = await openOne();
    const [item] = await control.sql<{ runKey: string; itemKey: string }>(
      `select run_key as "runKey", item_key as "itemKey" from dataset_rollouts where session_id = $1`,
      [sessionId],
    );
    if (item === undefined) throw new Error('no item has the session');
    const db = openDatabase(control.config.databaseUrl, createLog('test', 'silent'));
    try {
      expect(await assignSession(db, { ...item, sessionId })).toBe(true);
      expect(await assignSession(db, { ...item, sessionId: 'ses-other' })).toBe(false);
      await control.send(api.stopDatasetRun, { params: runOf(dataset) });
      expect(await assignSession(db, { ...item, sessionId })).toBe(false);
    } finally {
      await db.close();
    }
  });

  it('appears only in session lists that ask for sessions of experiment runs', async () => {
    const { dataset, sessionId } = await openOne();
    const run = (await control.send(api.getDatasetRun, { params: runOf(dataset) })).body;
    const listed = async (query: { runs?: 'only'; run?: string }) =>
      (await control.send(api.listSessions, { query })).body.data;
    expect((await listed({})).map(({ id }) => id)).not.toContain(sessionId);
    const own = { id: sessionId, run: { kind: 'dataset', id: run.id } };
    expect(await listed({ run: run.id })).toMatchObject([own]);
    expect(await listed({ runs: 'only' })).toContainEqual(expect.objectContaining(own));
    await control.send(api.stopDatasetRun, { params: runOf(dataset) });
  });

  it('stays open while its run continues, before and after the session is assigned to its item', async () => {
    const { dataset, sessionId } = await openOne();
    await reapAfterTen();
    await control.sql(`update dataset_plays set due_at = now() + interval '1 hour'`);
    await itemsAre('WAITING', sessionId);
    await reapAfterTen();
    const { body } = await control.send(api.getSession, { params: { sessionId } });
    expect(body).toMatchObject({ state: 'READY', endReason: null });
    await control.send(api.stopDatasetRun, { params: runOf(dataset) });
  });
});

describe('a control plane', () => {
  it('checks its runs again when the earliest of them is due, and not at all if no run is active', async () => {
    const db = openDatabase(control.config.databaseUrl, createLog('test', 'silent'));
    try {
      // A run ends just after its last item. The run of the test before may not have ended yet.
      const none = async () => (await msUntilDue(db)) === undefined;
      await until(none, { timeoutMs: 9_000, what: 'the end of the runs before' });
      const dataset = await makeDataset([task]);
      await begin(dataset);
      expect(await msUntilDue(db)).toBeGreaterThanOrEqual(0);
      await control.send(api.stopDatasetRun, { params: runOf(dataset) });
      await until(none, { timeoutMs: 9_000, what: 'no run that goes on' });
    } finally {
      await db.close();
    }
  });
});
