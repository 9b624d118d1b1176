/** Tests builds of agents, labels, diffs, agent runs and the gate, over the public API. */
import { beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import type {
  BuildView,
  GateView,
  LabelMove,
  RunView,
} from '#wire/public-api/evaluation/release.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import { createAsker } from '../../support/control/client.ts';
import type { TestControl } from '../../support/control/control.ts';
import { setSettings } from '../../support/control/settings.ts';
import { shareNotesControl } from '../../support/control/shared-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: TestControl;
let ask: (
  method: string,
  path: string,
  body?: object,
) => Promise<{ status: number; body: unknown }>;
let hashes = 0;

beforeAll(async () => {
  control = await shareNotesControl();
  const asker = createAsker(control);
  const as = basicAuthorization(control.publicKey, control.secretKey);
  ask = (method, path, body) =>
    asker(method, path, { as, ...(body === undefined ? {} : { body }) });
});

const taken = async <Body>(method: string, path: string, body?: object): Promise<Body> => {
  const answer = await ask(method, path, body);
  expect({ path, status: answer.status, body: answer.body }).toMatchObject({
    status: expect.toSatisfy((status) => status < 300),
  });
  return answer.body as Body;
};

const register = (agentId: string, parts: object = {}): Promise<BuildView> => {
  hashes += 1;
  return taken('POST', '/agent-builds', { agentId, buildHash: `hash-${hashes}`, ...parts });
};
const gateOf = ({ id }: BuildView): Promise<GateView> => taken('GET', `/agent-builds/${id}/gate`);
const runOf = (id: string): Promise<RunView> => taken('GET', `/agent-runs/${id}`);

const open = async (run: object, slug = 'notes'): Promise<string> =>
  (await taken<{ id: string }>('POST', '/world-sessions', { slug, run })).id;

let calls = 0;
/** Writes the answered call that a host leaves after grading the session. */
const grade = async (sessionId: string, verdict: string, more: object = {}): Promise<void> => {
  calls += 1;
  await control.sql(
    `insert into calls (id, session_id, seq, kind, input, state, output, answered_at)
     values ($1, $2, $3, 'grade', '{}', 'succeeded', $4, now())`,
    [`call-${calls}`, sessionId, calls, JSON.stringify({ verdict, ...more })],
  );
};
const end = (sessionId: string): Promise<unknown> =>
  taken('DELETE', `/world-sessions/${sessionId}`);

/** Opens, grades and closes one session of a run for each verdict. */
const play = async (run: { id: string; buildHash: string }, verdicts: string[]): Promise<void> => {
  for (const verdict of verdicts) {
    const sessionId = await open(run);
    await grade(sessionId, verdict);
    await end(sessionId);
  }
};
const tools = (...names: string[]) => names.map((name) => ({ name, inputSchema: {} }));

describe('a build', () => {
  const sha = 'ABCDEF0123456789abcdef0123456789abcdef01';
  const body = {
    ...{ agentId: 'helper', buildHash: 'sha256:1', semanticVer: '1.0.0' },
    manifest: { model: 'm-1', prompt: 'a\0b', tools: tools('read'), team: 'blue' },
    attribution: { commitSha: sha, branch: 'main', job: 17 },
  };

  it('is registered once, and can be read and listed', async () => {
    const made = await ask('POST', '/agent-builds', body);
    expect(made).toMatchObject({
      status: 201,
      body: {
        ...body,
        id: expect.stringMatching(/^bld-/),
        attribution: { commitSha: sha.toLowerCase(), branch: 'main', job: 17 },
        labels: [],
      },
    });
    const { id } = made.body as BuildView;
    expect(await ask('POST', '/agent-builds', body)).toMatchObject({
      status: 200,
      body: made.body,
    });
    const bare = { agentId: 'helper', buildHash: 'sha256:1', semanticVer: null };
    expect(await ask('POST', '/agent-builds', bare)).toMatchObject({ status: 200, body: { id } });
    expect((await ask('GET', `/agent-builds/${id}`)).body).toEqual(made.body);
    const { data, meta } = await taken<{ data: object[]; meta: object }>(
      'GET',
      '/agent-builds?agentId=helper',
    );
    const { manifest: _, ...listed } = made.body as BuildView;
    expect([data, meta]).toMatchObject([[listed], { page: 1, totalItems: 1, totalPages: 1 }]);
    expect(data[0]).not.toHaveProperty('manifest');
  });

  it('is immutable: other content under its hash is refused, and the error names the fields that differ', async () => {
    const other = { ...body, manifest: { model: 'm-2' }, attribution: { branch: 'dev' } };
    const { status, body: answer } = await ask('POST', '/agent-builds', other);
    expect([status, answer]).toMatchObject([
      409,
      {
        error: 'build_differs',
        message: expect.stringContaining('another manifest, attribution.branch'),
      },
    ]);
  });

  it('is registered once by concurrent requests', async () => {
    const twin = { agentId: 'twin', buildHash: 'twin-hash' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask('POST', '/agent-builds', twin)),
    );
    expect(new Set(answers.map((one) => (one.body as BuildView).id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  it.each([
    [{}, 'agentId'],
    [{ agentId: 'a', buildHash: '' }, 'buildHash'],
    [{ agentId: 'a', buildHash: 'b', surprise: 1 }, 'surprise'],
    [{ agentId: 'a', buildHash: 'b', manifest: [] }, 'manifest'],
    [{ agentId: 'a', buildHash: 'b', manifest: { tools: [{}] } }, 'manifest'],
    [{ agentId: 'a', buildHash: 'b', manifest: { tools: tools('t', 't') } }, 'manifest'],
    [{ agentId: 'a', buildHash: 'b', manifest: { prompt: 'x'.repeat(600_000) } }, 'manifest'],
    [{ agentId: 'a', buildHash: 'b', attribution: { commitSha: 'main' } }, 'attribution'],
    [{ agentId: 'a', buildHash: 'b', attribution: { commitSha: 'abc123' } }, 'attribution'],
  ])('is refused with the name of the invalid field: %#', async (given, field) => {
    const { status, body: answer } = await ask('POST', '/agent-builds', given);
    const fields = (answer as { error: { path: string[] }[] }).error.map(({ path }) => path[0]);
    expect([status, fields]).toEqual([400, expect.arrayContaining([field])]);
  });

  it.each(['{"__proto__": {"x": 1}}', `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`])(
    'is refused with a manifest that is not plain JSON: %#',
    async (manifest) => {
      const { status, body: answer } = await control.raw({
        method: 'POST',
        path: '/api/public/agent-builds',
        headers: {
          authorization: basicAuthorization(control.publicKey, control.secretKey),
          'content-type': 'application/json',
        },
        body: `{"agentId": "odd", "buildHash": "odd", "manifest": ${manifest}}`,
      });
      expect([status, answer]).toEqual([400, expect.objectContaining({ error: 'invalid' })]);
      expect(await taken('GET', '/agent-builds?agentId=odd')).toMatchObject({ data: [] });
    },
  );
});

describe('a label', () => {
  it('moves, records who moved it, and resolves to its build', async () => {
    const one = await register('labelled');
    const two = await register('labelled');
    const path = ({ id }: BuildView) => `/agent-builds/${id}/labels`;
    expect((await ask('GET', '/agent-builds/resolve?agentId=labelled&label=stable')).status).toBe(
      404,
    );
    await taken('POST', path(one), { label: 'stable' });
    const given = { label: 'stable', reason: 'better', actor: 'ada', source: 'ci' };
    expect(await taken('POST', path(two), given)).toMatchObject({
      ...given,
      ...{ moved: true, previousBuildId: one.id, rollback: false, forced: false, breaking: [] },
    });
    expect(await taken('POST', path(two), { label: 'stable' })).toMatchObject({
      moved: false,
      actor: 'ada',
    });
    expect(await taken('GET', '/agent-builds/resolve?agentId=labelled&label=stable')).toMatchObject(
      {
        ...{ id: two.id, labels: ['stable'] },
      },
    );
    const history = await taken<{ data: LabelMove[] }>('GET', path(one));
    expect(history.data.map(({ buildId, actor }) => [buildId, actor])).toEqual([
      [two.id, 'ada'],
      [one.id, control.publicKey],
    ]);
  });

  it('moves back across a breaking tool change only with force', async () => {
    const old = await register('rolled', { manifest: { tools: tools('read', 'write') } });
    const added = await register('rolled', { manifest: { tools: tools('read', 'write', 'find') } });
    const broken = await register('rolled', { manifest: { tools: tools('read') } });
    const move = (build: BuildView, more: object = {}) =>
      ask('POST', `/agent-builds/${build.id}/labels`, { label: 'stable', ...more });
    const back = { status: 200, body: { rollback: true, forced: false } };
    await move(added);
    expect(await move(old)).toMatchObject(back);
    expect(await move(broken)).toMatchObject({ status: 200, body: { rollback: false } });
    expect(await move(old)).toMatchObject({
      status: 409,
      body: {
        error: 'breaking_rollback',
        message: expect.stringContaining('breaking change of "write"'),
        tools: [{ name: 'write', change: 'removed', breaking: true }],
      },
    });
    const resolve = '/agent-builds/resolve?agentId=rolled&label=stable';
    expect(await taken('GET', resolve)).toMatchObject({ id: broken.id });
    expect(await move(old, { force: true, reason: 'it lost data' })).toMatchObject({
      status: 200,
      body: { rollback: true, forced: true, breaking: ['write'], previousBuildId: broken.id },
    });
    expect(await taken('GET', resolve)).toMatchObject({ id: old.id });
  });

  it('is moved sequentially by concurrent requests', async () => {
    const builds = [];
    for (let n = 0; n < 6; n += 1) builds.push(await register('crowd'));
    await Promise.all(
      builds.map(({ id }) => taken('POST', `/agent-builds/${id}/labels`, { label: 'next' })),
    );
    const moves = await control.sql<{ build_id: string; previous_build_id: string | null }>(
      `select build_id, previous_build_id from agent_label_moves where agent_id = 'crowd' order by number`,
    );
    expect(moves.map((move) => move.previous_build_id)).toEqual([
      null,
      ...moves.slice(0, -1).map((move) => move.build_id),
    ]);
    expect(await taken('GET', '/agent-builds/resolve?agentId=crowd&label=next')).toMatchObject({
      id: moves.at(-1)?.build_id,
    });
  });

  it.each([{}, { label: '' }, { label: 'a b' }, { label: 'x', force: 'yes' }, { label: 1 }])(
    'is refused: %j',
    async (given) => {
      const { id } = await register('refused');
      expect((await ask('POST', `/agent-builds/${id}/labels`, given)).status).toBe(400);
    },
  );
});

describe('a diff', () => {
  it('accepts builds by id, hash, label or agent version', async () => {
    const base = await register('compared', { semanticVer: '1', manifest: { model: 'a' } });
    const candidate = await register('compared', {
      semanticVer: '2',
      manifest: { tools: tools('t') },
    });
    await taken('POST', `/agent-builds/${base.id}/labels`, { label: 'stable' });
    for (const [from, to] of [
      [base.id, candidate.id],
      [base.buildHash, candidate.buildHash],
      ['stable', '2'],
    ]) {
      const path = `/agent-builds/diff?agentId=compared&base=${from}&candidate=${to}`;
      expect(await taken('GET', path)).toMatchObject({
        ...{ base: { id: base.id, version: '1' }, candidate: { id: candidate.id } },
        ...{ breaking: false, tools: [{ name: 't', change: 'added' }] },
        model: { changed: true, base: 'a', candidate: null },
      });
    }
    const lacking = await ask('GET', '/agent-builds/diff?agentId=other&base=stable&candidate=2');
    expect(lacking).toMatchObject({ status: 404 });
    expect((await ask('GET', '/agent-builds/diff?agentId=compared&base=1')).status).toBe(400);
  });
});

describe('an agent run', () => {
  it('is created by the sessions that name it and a registered build', async () => {
    const { buildHash, id: buildId } = await register('runner');
    const unknown = { slug: 'notes', run: { id: 'r', buildHash: 'missing' } };
    expect(await ask('POST', '/world-sessions', unknown)).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('buildHash "missing"') },
    });
    const run = { id: 'run 1', buildHash, model: 'm', planned: 3 };
    await open({ ...run, model: null, planned: null });
    const sessionId = await open(run);
    await grade(sessionId, 'fail');
    await grade(sessionId, 'pass', { found: 'a\0b' });
    await end(await open(run));
    expect(await runOf('run%201')).toMatchObject({
      ...{ runId: 'run 1', buildId, state: 'RUNNING', model: 'm', world: 'notes', planned: 3 },
      ...{ sessions: 3, graded: 1, passed: 1, going: 1, ungraded: 1, passRate: 1 },
    });
    const other = await register('runner');
    for (const wrong of [
      { ...run, buildHash: other.buildHash },
      { ...run, model: 'n' },
      { ...run, planned: 4 },
    ]) {
      expect(await ask('POST', '/world-sessions', { slug: 'notes', run: wrong })).toMatchObject({
        status: 409,
        body: { error: 'run_differs', message: expect.stringContaining('run "run 1" has') },
      });
    }
    expect(await taken('GET', `/agent-runs?buildId=${buildId}`)).toMatchObject({
      data: [{ runId: 'run 1' }],
      meta: { totalItems: 1 },
    });
  });

  it('can be finished, and accepts no session after that', async () => {
    const { buildHash } = await register('finisher');
    const run = { id: 'finished', buildHash, planned: 9 };
    const sessionId = await open(run);
    await grade(sessionId, 'unknown');
    expect(await runOf(run.id)).toMatchObject({ state: 'RUNNING', graded: 0, passRate: null });
    await grade(sessionId, 'pass');
    const finished = await taken<RunView>('POST', '/agent-runs/finished/finish');
    expect(finished).toMatchObject({ state: 'COMPLETED', finishedAt: expect.any(String) });
    expect(await taken('POST', '/agent-runs/finished/finish')).toEqual(finished);
    expect(await ask('POST', '/world-sessions', { slug: 'notes', run })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('was finished at') },
    });
    expect((await ask('POST', '/agent-runs/missing/finish')).status).toBe(404);
  });

  it('is incomplete a day after its last session', async () => {
    const { buildHash } = await register('idler');
    const run = { id: 'idle', buildHash, planned: 2 };
    await play(run, ['pass']);
    expect(await runOf('idle')).toMatchObject({ state: 'RUNNING' });
    await control.sql(
      `update agent_runs set last_opened_at = now() - interval '25 hours' where id = 'idle'`,
    );
    expect(await runOf('idle')).toMatchObject({ state: 'RUNNING' });
    await control.sql(
      `update sessions set closed_at = now() - interval '25 hours'
        where id in (select session_id from agent_rollouts where run_id = 'idle')`,
    );
    expect(await runOf('idle')).toMatchObject({ state: 'INCOMPLETE' });
    await play(run, ['pass']);
    expect(await runOf('idle')).toMatchObject({ state: 'COMPLETED', graded: 2 });
  });

  it('includes no refused session, and counts a repeated request once', async () => {
    const { buildHash } = await register('repeater');
    const run = { id: 'repeated', buildHash };
    const headers = {
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      'content-type': 'application/json',
      'idempotency-key': 'again',
    };
    const body = JSON.stringify({ slug: 'notes', run });
    const path = '/api/public/world-sessions';
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => control.raw({ method: 'POST', path, headers, body })),
    );
    expect(new Set(answers.map((one) => (one.body as { id: string }).id)).size).toBe(1);
    await setSettings(control, { quotas: { sessions: 1 } });
    expect((await ask('POST', '/world-sessions', { slug: 'notes', run })).status).toBe(429);
    const lone = { id: 'refused', buildHash };
    expect((await ask('POST', '/world-sessions', { slug: 'notes', run: lone })).status).toBe(429);
    await setSettings(control, { quotas: { sessions: null } });
    expect(await runOf('repeated')).toMatchObject({ sessions: 1 });
    expect((await ask('GET', '/agent-runs/refused')).status).toBe(404);
    expect(
      (await taken<{ data: RunView[] }>('GET', '/agent-runs')).data.map(({ runId }) => runId),
    ).not.toContain('refused');
  });

  it('counts each of several sessions that are opened at the same time', async () => {
    const { buildHash } = await register('many');
    await Promise.all(Array.from({ length: 10 }, () => open({ id: 'many', buildHash })));
    expect(await runOf('many')).toMatchObject({ sessions: 10, going: 10 });
  });
});

describe('the gate', () => {
  beforeAll(async () => {
    await setSettings(control, { gate: { floor: 4 } });
  });

  it('has the status untested without runs, and then depends on the results of all runs of the commit', async () => {
    const attribution = { commitSha: 'c0ffee1234567890', branch: 'main' };
    const build = await register('gated', { semanticVer: '3.0.0', attribution });
    const rebuilt = await register('gated', { attribution });
    const neighbour = await register('another agent', { attribution });
    const { id, buildHash } = build;
    expect(await gateOf(build)).toEqual({
      build: { id, agentId: 'gated', version: '3.0.0', buildHash, ...attribution },
      gate: {
        ...{ verdict: 'untested', passRate: null, gradedRollouts: 0 },
        ...{ threshold: 0.7, minGradedRollouts: 4, reasons: ['no agent run names this build'] },
      },
      ...{ evaluatedRuns: [], comparedTo: null },
    });
    const going = await open({ id: 'g-1', buildHash });
    expect((await gateOf(build)).gate).toMatchObject({
      ...{ verdict: 'untested', passRate: null },
      reasons: ['run g-1 is still running: 0 graded, 1 session open'],
    });
    await grade(going, 'fail');
    await play({ id: 'g-2', buildHash: rebuilt.buildHash }, ['pass', 'pass']);
    await play({ id: 'g-3', buildHash: neighbour.buildHash }, ['fail']);
    expect(await gateOf(build)).toMatchObject({
      gate: {
        ...{ verdict: 'blocked', passRate: 2 / 3, gradedRollouts: 3 },
        reasons: [
          'the pass rate 0.67 is below the threshold 0.70',
          '3 graded rollouts, but the gate requires at least 4',
        ],
      },
      evaluatedRuns: [
        { runId: 'g-2', world: 'notes', state: 'COMPLETED', model: null, passRate: 1, graded: 2 },
        { runId: 'g-1', world: 'notes', state: 'COMPLETED', model: null, passRate: 0, graded: 1 },
      ],
    });
    await grade(going, 'pass');
    await play({ id: 'g-1', buildHash }, ['pass']);
    await taken('POST', `/agent-builds/${rebuilt.id}/labels`, { label: 'stable' });
    expect(await gateOf(rebuilt)).toMatchObject({
      gate: { verdict: 'pass', passRate: 1, gradedRollouts: 4, reasons: [] },
      comparedTo: { stableBuildId: rebuilt.id, stableVersion: null },
    });
    await end(await open({ id: 'g-4', buildHash }));
    expect((await gateOf(build)).gate).toMatchObject({
      ...{ verdict: 'blocked', passRate: 1 },
      reasons: [
        expect.stringMatching(/^run g-4 ended without completing: 1 session .*\(ses-\S+\)$/),
      ],
    });
  });

  it('can be requested by version or by commit, but not by both', async () => {
    const attribution = { commitSha: 'facade0123456789' };
    await register('sought', { semanticVer: '1', attribution });
    const newest = await register('sought', { semanticVer: '1', attribution });
    await register('sought', { attribution: { commitSha: 'facade01ffffffff' } });
    const found = async (query: string) => {
      const { status, body } = await ask('GET', `/agent-builds/gate?${query}`);
      return [status, (body as GateView).build?.id];
    };
    expect(await found('agentId=sought&version=1')).toEqual([200, newest.id]);
    expect(await found('commitSha=FACADE0123456789')).toEqual([200, newest.id]);
    expect(await found('commitSha=facade012')).toEqual([200, newest.id]);
    expect(await ask('GET', '/agent-builds/gate?commitSha=facade0')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('facade0123456789, facade01ffffffff') },
    });
    for (const query of [
      ...['', 'agentId=sought', 'version=1', 'commitSha=facade', 'commitSha=face%25__'],
      'agentId=sought&version=1&commitSha=facade012',
      'agentId=sought&commitSha=facade012',
    ]) {
      expect([query, ...(await found(query))]).toEqual([query, 400, undefined]);
    }
    expect(await found('commitSha=0000000')).toEqual([404, undefined]);
    expect(await found('agentId=sought&version=9')).toEqual([404, undefined]);
  });

  it('uses the rule of the settings and evaluates runs over several worlds', async () => {
    await control.send(createWorld, {
      body: { slug: 'second', from: encodeTree(notesWorld()) },
    });
    await setSettings(control, { gate: { threshold: 0.5, floor: 2 } });
    const build = await register('ruled');
    const run = { id: 'ruled', buildHash: build.buildHash, model: 'big' };
    await grade(await open(run), 'pass');
    await grade(await open(run, 'second'), 'fail');
    expect(await gateOf(build)).toMatchObject({
      gate: { verdict: 'pass', passRate: 0.5, threshold: 0.5, minGradedRollouts: 2 },
      evaluatedRuns: [{ world: null, model: 'big', passRate: 0.5, graded: 2 }],
    });
    expect(await runOf('ruled')).toMatchObject({ worlds: ['notes', 'second'] });
    await setSettings(control, { gate: { threshold: null, floor: null } });
    expect((await gateOf(build)).gate).toMatchObject({ threshold: 0.7, minGradedRollouts: 30 });
  });
});
