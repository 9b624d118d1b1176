/**
 * Tests the routes of dashboards: creating, pushing, testing and rendering, with hostile code and hostile transforms.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import { answerCalls } from '../../support/control/answering-host.ts';
import { createAsker } from '../../support/control/client.ts';
import { warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let sessionId: string;

type Problem = { path: string | null; line: number | null; column: number | null; code: string };
type Body = Record<string, unknown> & {
  id: string;
  stamp: string;
  html: string;
  url: string;
  problems: (Problem & { message: string })[];
  files: { path: string; content: string }[];
};

const ask = async (method: string, path: string, body?: object, as?: string) => {
  const pair = basicAuthorization(control.publicKey, control.secretKey);
  const given = body === undefined ? {} : { body };
  const answer = await createAsker(control)(method, path, { as: as ?? pair, ...given });
  return { status: answer.status, body: answer.body as Body };
};

const must = async (method: string, path: string, body?: object): Promise<Body> => {
  const answer = await ask(method, path, body);
  if (answer.status > 201) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

const make = (more: object = {}) => must('POST', '/dashboards', { name: 'mine', ...more });
const push = (id: string, body: object) => ask('PUT', `/dashboards/${id}/code`, body);
const file = (content: string, path = 'dashboard.jsx') => ({ path, content });
const plain = file('export default () => <b>hello</b>;');

beforeAll(async () => {
  control = await startNotesControl();
  const host = await warmHost(control);
  const opened = control.send(api.openSession, { body: { slug: 'notes', task: 'finish' } });
  await host.poll(20);
  await host.ready();
  sessionId = (await opened).body.id;
  const answering = answerCalls(host, ({ kind }) =>
    kind === 'grade'
      ? {
          output: {
            verdict: 'pass',
            passed: true,
            score: 0.5,
            checks: [{ name: '</script><b>', verdict: 'pass' }],
          },
        }
      : { output: {}, changes: { notes: { inserted: 2, updated: 0, deleted: 0 } } },
  );
  const params = { sessionId };
  for (const body of [
    { kind: 'tool', name: 'create_notes', input: {} },
    { kind: 'grade' },
  ] as const) {
    await control.send(api.enqueueCall, { params, body, query: { wait: 30 } });
  }
  await answering.stop();
});
afterAll(() => control.stop());

describe('a dashboard', () => {
  it('is created once for one Idempotency-Key, also by concurrent requests', async () => {
    const body = { name: 'once', template: 'empty' } as const;
    const headers = { 'idempotency-key': 'once' };
    const makeOnce = () => control.send(api.createDashboard, { headers, body });
    const both = await Promise.all([makeOnce(), makeOnce()]);
    const again = await makeOnce();
    expect(both.map(({ status }) => status).sort()).toEqual([200, 201]);
    expect(again.status).toBe(200);
    expect(new Set([...both, again].map(({ body: { id } }) => id)).size).toBe(1);
    const other = { ...body, name: 'another' };
    await expect(control.send(api.createDashboard, { headers, body: other })).rejects.toMatchObject(
      { code: 'conflict' },
    );
  });

  it('is created with working code, for sessions, a task set or a world', async () => {
    const starter = await make();
    expect(starter).toMatchObject({
      ...{ kind: 'session', environmentId: null, taskSetIds: [], hasCode: true },
      ...{
        entrypoint: 'dashboard.jsx',
        compiledOnly: false,
        stamp: expect.stringMatching(/^\w{64}$/),
      },
    });
    const empty = await make({ template: 'empty', environmentId: 'notes' });
    expect(empty).toMatchObject({ kind: 'environment', transform: null });
    expect(empty.files.map(({ path }) => path)).toEqual(['dashboard.jsx']);
    const task = await control.send(api.createTask, {
      body: { world: 'notes', spec: { instruction: 'Do it.' } },
    });
    const set = await must('POST', '/task-sets', { name: 'a set', taskIds: [task.body.id] });
    const ofTasks = await make({ taskSetId: set.id });
    expect(ofTasks).toMatchObject({ kind: 'task', taskSetIds: [set.id] });
    for (const { id, kind } of [starter, empty, ofTasks]) {
      const rendered = await must('POST', `/dashboards/${id}/render`, {});
      expect(rendered).toMatchObject({ success: true, error: null, kind, html: null });
    }
    const listed = await ask(
      'GET',
      '/dashboards?limit=2',
      undefined,
      `Bearer ${control.publicKey}`,
    );
    expect(listed.body).toEqual({
      data: [ofTasks, empty].map(
        ({ files: _, entrypoint: __, transform: ___, compiledOnly: ____, stamp: _____, ...view }) =>
          view,
      ),
    });
    const read = await ask(
      'GET',
      `/dashboards/${empty.id}`,
      undefined,
      `Bearer ${control.publicKey}`,
    );
    expect(read.body).toEqual(empty);
  });

  it.each([
    [{ taskSetId: 'x', environmentId: 'notes' }, 400, 'only one of them'],
    [{ taskSetId: 'tset-none' }, 404, 'task set'],
    [{ environmentId: 'none' }, 404, 'world'],
    [{ name: ' ' }, 400, 'must not be empty'],
    [{ template: 'other' }, 400, 'template'],
    [{ colour: 'red' }, 400, 'colour'],
  ])('is not created with %j', async (more, status, words) => {
    const answer = await ask('POST', '/dashboards', { name: 'x', ...more });
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(words)]);
  });

  it('accepts new code that has the stamp of the code that it replaces, or is forced; equal code has an equal stamp', async () => {
    const { id, stamp } = await make({ template: 'empty' });
    const files = [plain, file('export const x = 1;', 'lib/x.ts')];
    expect(await push(id, { files })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('baseStamp') },
    });
    const dry = await push(id, { files, baseStamp: stamp, dryRun: true });
    expect(dry).toMatchObject({ status: 200, body: { dryRun: true, hasCode: true } });
    expect((await must('GET', `/dashboards/${id}`)).stamp).toBe(stamp);
    const pushed = await push(id, { files: files.toReversed(), baseStamp: stamp });
    expect(pushed.body).toMatchObject({ dryRun: false, stamp: dry.body.stamp, files });
    const late = await push(id, { files: [plain], baseStamp: stamp });
    expect([late.status, late.body]).toMatchObject([
      409,
      { error: 'dashboard_moved', stamp: pushed.body.stamp },
    ]);
    expect((await push(id, { files: [plain], baseStamp: stamp, dryRun: true })).status).toBe(409);
    expect((await must('GET', `/dashboards/${id}`)).files).toEqual(files);
    expect((await push(id, { files: [plain], baseStamp: stamp, force: true })).status).toBe(200);
    const { stamp: baseStamp } = await must('GET', `/dashboards/${id}`);
    const both = await Promise.all(
      ['a', 'b'].map((text) =>
        push(id, { files: [file(`export default () => '${text}';`)], baseStamp }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('may have no code, and then cannot be rendered', async () => {
    const { id, stamp } = await make({ template: 'empty' });
    const bare = await push(id, { files: [], baseStamp: stamp });
    expect(bare.body).toMatchObject({ hasCode: false, files: [], entrypoint: null });
    expect(await must('POST', `/dashboards/${id}/render`, { includeHtml: true })).toMatchObject({
      ...{ success: false, error: expect.stringContaining('no code'), html: null, url: null },
    });
    const alone = await push(id, { files: [], transform: 'export default () => 1', force: true });
    expect(alone.body).toMatchObject({ error: 'dashboard_code_rejected' });
  });
});

describe('pushed dashboard code', () => {
  it('is refused with all its problems, each with file and line, and nothing is written', async () => {
    const { id, stamp } = await make({ template: 'empty' });
    const files = [
      file('import fs from "node:fs";\nimport y from "./y";\nfetch("https://evil.example/a");'),
      file('let x = ;', 'lib/broken.ts'),
      file('a { background: url(//evil.example/x.png) }\n@import "other.css";', 'style.css'),
      file('{', 'data.json'),
      file('x', '../out.js'),
      file('x', 'run.exe'),
      file('x', 'dashboard.json'),
      file('x'.repeat(300_000), 'big.txt'),
    ];
    const small = await push(id, {
      files: files.slice(0, 7),
      baseStamp: stamp,
      transform: 'import "react"',
    });
    const refused = await push(id, { files, baseStamp: stamp });
    expect([small.status, refused.status]).toEqual([400, 400]);
    const placed = small.body.problems.map(({ path, line, code }) => [path, line, code]);
    expect(small.body.error).toBe('dashboard_code_rejected');
    expect(placed).toEqual(
      expect.arrayContaining([
        ['dashboard.jsx', 1, 'import'],
        ['dashboard.jsx', 2, 'import'],
        ['dashboard.jsx', 3, 'address'],
        ['lib/broken.ts', 1, 'syntax'],
        ['style.css', 1, 'address'],
        ['style.css', 2, 'import'],
        ['data.json', null, 'syntax'],
        ['"../out.js"', null, 'path'],
        ['run.exe', null, 'type'],
        ['dashboard.json', null, 'path'],
        ['transform', 1, 'import'],
      ]),
    );
    expect(refused.body.problems).toContainEqual(
      expect.objectContaining({ path: 'big.txt', code: 'size' }),
    );
    const bundled = await push(id, {
      files: [
        file('import { q } from "./b";\nexport default () => q;'),
        file('export const p = 1;', 'b.js'),
      ],
      baseStamp: stamp,
    });
    expect(bundled.body.problems).toEqual([
      expect.objectContaining({
        path: 'dashboard.jsx',
        line: 1,
        code: 'bundle',
        message: expect.stringContaining('"q"'),
      }),
    ]);
    expect(await must('GET', `/dashboards/${id}`)).toMatchObject({ stamp });
  });

  it.each([
    ['none to begin with', [file('export const x = 1', 'other.js')], {}, 'entrypoint'],
    ['a beginning that is none of them', [plain], { entrypoint: 'x.js' }, 'entrypoint'],
    [
      'a beginning that is no code',
      [plain, file('x', 'a.css')],
      { entrypoint: 'a.css' },
      'entrypoint',
    ],
    ['two that some disks take for one', [plain, file('x', 'Dashboard.jsx')], {}, 'path'],
    [
      'more than it may have',
      Array.from({ length: 101 }, (_, n) => file('', `f${n}.js`)),
      {},
      'count',
    ],
    ['files of the machine', [file('import x from "../../../../../etc/passwd";')], {}, 'import'],
    ['files of the service', [file('import x from "../package.json";')], {}, 'import'],
    ['an absolute path', [file('import x from "/etc/passwd";')], {}, 'import'],
    [
      'code that nests too deep',
      [file(`x = ${'('.repeat(30_000)}1${')'.repeat(30_000)}`)],
      {},
      'limit',
    ],
  ])('is refused with %s', async (_, files, more, code) => {
    const { id, stamp } = await make({ template: 'empty' });
    const answer = await push(id, { files, baseStamp: stamp, ...more });
    expect(answer).toMatchObject({ status: 400, body: { error: 'dashboard_code_rejected' } });
    expect(answer.body.problems.map((problem) => problem.code)).toContain(code);
  });

  it('may include a transform only in a dashboard of sessions', async () => {
    const { id } = await make({ template: 'empty', environmentId: 'notes' });
    const transform = 'export default (data) => data;';
    const answer = await push(id, { files: [plain], transform, force: true });
    expect(answer.body.problems).toMatchObject([{ path: 'transform', code: 'transform' }]);
    const tried = await ask('POST', `/dashboards/${id}/test-transform`, { transform });
    expect([tried.status, tried.body.message]).toEqual([400, expect.stringContaining('kind')]);
  });
});

describe('a transform of a dashboard', () => {
  let id: string;
  beforeAll(async () => {
    ({ id } = await make());
  });
  const tryOne = (body: object) => must('POST', `/dashboards/${id}/test-transform`, body);

  it('is tested on a session, and the answer has its output and the shape of the output', async () => {
    const transform = `export default function transform({ session, grade, calls }: any) {
      return { id: session.id, score: grade.score, calls: calls.map(({ seq, changes }: any) => ({ seq, changes })) };
    }`;
    expect(await tryOne({ transform, sessionId })).toEqual({
      ...{ success: true, sessionId, truncated: false, error: null },
      output: {
        ...{ id: sessionId, score: 0.5 },
        calls: [
          { seq: 1, changes: { notes: { inserted: 2, updated: 0, deleted: 0 } } },
          { seq: 2, changes: {} },
        ],
      },
      shape: expect.objectContaining({ type: 'object' }),
    });
    // Without arguments, the stored transform runs on the newest session.
    expect(await tryOne({})).toMatchObject({ success: true, sessionId, shape: { type: 'object' } });
  });

  it('has long output truncated, and is refused if its output exceeds the limit of a page', async () => {
    const long = await tryOne({ transform: 'export default () => "x".repeat(100_000)' });
    expect(long).toMatchObject({ success: true, truncated: true, shape: { type: 'string' } });
    expect((long.output as string).length).toBe(64 * 1024);
    const longer = await tryOne({ transform: 'export default () => "x".repeat(2_000_000)' });
    expect(longer).toMatchObject({
      success: false,
      output: null,
      error: expect.stringContaining('1048576'),
    });
  });

  it('that is missing or does not build is reported, with the line of the error', async () => {
    const wrong = await tryOne({ transform: 'export default () => {\n  let = ;\n}' });
    expect(wrong).toMatchObject({ success: false, error: expect.stringContaining('line 2') });
    const none = await make({ template: 'empty' });
    const path = `/dashboards/${none.id}/test-transform`;
    expect(await must('POST', path, {})).toMatchObject({
      ...{ success: false, error: expect.stringContaining('no transform') },
    });
    const unknown = await ask('POST', path, { sessionId: 'ses-none' });
    expect(unknown.status).toBe(404);
  });

  it('has only the globals of the language, and a clock that stands still', async () => {
    const { output } = await tryOne({
      transform: `export default () => ({
        globals: ['process', 'require', 'fetch', 'setTimeout', 'WebAssembly', 'Deno', 'std', 'os'].filter((name) => name in globalThis),
        clock: new Set(Array.from({ length: 1000 }, () => Date.now())).size,
        made: (() => {}).constructor('return typeof process')(),
      })`,
    });
    expect(output).toEqual({ globals: [], clock: 1, made: 'undefined' });
  });
});

describe('rendering a dashboard', () => {
  it('returns a self-contained document, and its data cannot break out of its script element', async () => {
    const { id } = await make();
    const rendered = await must('POST', `/dashboards/${id}/render`, {
      sessionId,
      includeHtml: true,
    });
    expect(rendered).toMatchObject({
      ...{ success: true, error: null, kind: 'session' },
      target: { sessionId, taskSetId: null, taskId: null, environmentId: null },
    });
    expect(rendered.html).toContain("default-src 'none'");
    expect(rendered.html).toContain('\\u003c/script>\\u003cb>');
    expect(rendered.html.match(/<\/script>/g)).toHaveLength(2);
    expect(rendered.html).not.toMatch(/(?:src|href)="?(?:https?:)?\/\//);
  });

  it('reports why a transform failed, and refuses targets that the kind of dashboard does not have', async () => {
    const { id } = await make();
    await push(id, {
      files: [plain],
      transform: 'export default () => { throw new Error("no") }',
      force: true,
    });
    expect(await must('POST', `/dashboards/${id}/render`, {})).toMatchObject({
      ...{ success: false, error: expect.stringContaining('Error: no'), url: null },
    });
    expect((await ask('POST', `/dashboards/${id}/render`, { taskId: 'x' })).status).toBe(400);
    expect((await ask('POST', `/dashboards/${id}/render`, { sessionId: 'ses-none' })).status).toBe(
      404,
    );
  });

  it('returns a signed address that shows the page in a sandboxed frame without a key; an altered address gets 403', async () => {
    const { id } = await make();
    const { url } = await must('POST', `/dashboards/${id}/render`, {});
    const { pathname, search } = new URL(url);
    const get = (path: string, headers: Record<string, string> = {}) =>
      control.raw({ method: 'GET', path, headers });
    const page = await get(`${pathname}${search}`);
    expect(page.headers['content-security-policy']).toContain("frame-src 'self'");
    const [, source = ''] =
      /<iframe [^>]*sandbox="allow-scripts"[^>]* src="([^"]+)"/.exec(String(page.body)) ?? [];
    const frame = new URL(source.replaceAll('&amp;', '&'));
    const framePath = `${frame.pathname}${frame.search}`;
    const shown = await get(framePath, { 'sec-fetch-dest': 'iframe' });
    expect(shown.headers['content-security-policy']).toContain('sandbox allow-scripts');
    expect(String(shown.body)).toContain('dashboard-data');
    expect((await get(framePath)).status).toBe(403);
    for (const changed of [
      search.replace(id, (await make()).id),
      search.replace(/until=\d+/, 'until=99999999999'),
      search.replace(
        /signature=lt-./,
        (start) => `signature=lt-${start.endsWith('x') ? 'y' : 'x'}`,
      ),
      `${search}&taskId=x`,
    ]) {
      expect((await get(`${pathname}${changed}`)).status).toBe(403);
    }
    expect((await get(`${frame.pathname}${search}`, { 'sec-fetch-dest': 'iframe' })).status).toBe(
      403,
    );
    const address = new URL((await must('GET', `/dashboards/${id}`)).url as string).pathname;
    expect((await get(address)).status).toBe(401);
    expect((await get(address, { authorization: `Bearer ${control.publicKey}` })).status).toBe(403);
    const pair = basicAuthorization(control.publicKey, control.secretKey);
    expect(String((await get(address, { authorization: pair })).body)).toContain('<iframe');
  });
});

describe('the page of a dashboard of a world', () => {
  it('links to the sessions that it shows, and to no other', async () => {
    const { id } = await make({ environmentId: 'notes' });
    const { url } = await must('POST', `/dashboards/${id}/render`, {});
    const get = (address: string, headers: Record<string, string> = {}) => {
      const { pathname, search } = new URL(address);
      return control.raw({ method: 'GET', path: `${pathname}${search}`, headers });
    };
    const valueIn = (html: unknown, name: string): string => {
      const [, value = ''] = new RegExp(`${name}="([^"]+)"`).exec(String(html)) ?? [];
      return value.replaceAll('&amp;', '&');
    };
    const page = await get(url);
    expect(page.headers['content-security-policy']).toMatch(/script-src 'sha256-[^']+';/);
    const sessions = valueIn(page.body, 'data-sessions');
    const led = await get(`${sessions}${sessionId}`);
    expect(led.status).toBe(302);
    const address = String(led.headers.location);
    const ofSession = await get(address);
    expect(valueIn(ofSession.body, 'href')).toContain('/api/dashboards/page?');
    expect(valueIn(ofSession.body, 'data-sessions')).toBe('');
    const frame = await get(valueIn(ofSession.body, 'src'), { 'sec-fetch-dest': 'iframe' });
    expect(String(frame.body)).toContain(`"id":"${sessionId}"`);
    expect(String(frame.body)).toContain('"ways":');
    expect((await get(`${sessions}ses-none`)).status).toBe(404);
    expect((await get(sessions.replace(id, (await make()).id) + sessionId)).status).toBe(403);
    expect((await get(`${sessions}${sessionId}&session=x`)).status).toBe(400);
  });
});

describe('a task set', () => {
  it('is a list of distinct stored tasks with a unique name', async () => {
    const tasks = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const body = { world: 'notes', name, spec: { instruction: name } };
        return (await control.send(api.createTask, { body })).body.id;
      }),
    );
    const made = await must('POST', '/task-sets', { name: 'both', taskIds: tasks });
    expect(made).toMatchObject({ name: 'both', description: null, taskIds: tasks });
    expect((await ask('POST', '/task-sets', { name: 'both', taskIds: tasks })).body).toMatchObject({
      taskSetId: made.id,
    });
    for (const taskIds of [[tasks[0], tasks[0]], ['tsk-none'], []]) {
      expect((await ask('POST', '/task-sets', { name: 'other', taskIds })).status).toBe(400);
    }
    await control.send(api.deleteTask, { params: { taskId: tasks[0] ?? '' } });
    expect(await must('GET', `/task-sets/${made.id}`)).toMatchObject({ taskIds: [tasks[1]] });
    const listed = await ask('GET', '/task-sets', undefined, `Bearer ${control.publicKey}`);
    expect((listed.body.data as Body[])[0]).toMatchObject({ id: made.id });
    const { id } = await make({ taskSetId: made.id });
    const narrowed = await must('POST', `/dashboards/${id}/render`, { taskId: tasks[1] });
    expect(narrowed).toMatchObject({
      success: true,
      target: { taskSetId: made.id, taskId: tasks[1] },
    });
    expect((await ask('POST', `/dashboards/${id}/render`, { taskId: tasks[0] })).status).toBe(404);
  });
});

it('a task set can be deleted once no dashboard uses it', async () => {
  const task = await must('POST', '/world-tasks', { world: 'notes', spec: { instruction: 'x' } });
  const set = await must('POST', '/task-sets', { name: 'to go', taskIds: [task.id] });
  const { id } = await make({ taskSetId: set.id });
  const held = await ask('DELETE', `/task-sets/${set.id}`);
  expect(held).toMatchObject({ status: 409, body: { dashboardIds: [id] } });
  expect((await ask('DELETE', `/dashboards/${id}`)).body).toEqual({ deleted: id });
  expect((await ask('GET', `/dashboards/${id}`)).status).toBe(404);
  expect((await ask('DELETE', `/dashboards/${id}`)).status).toBe(404);
  expect((await ask('DELETE', `/task-sets/${set.id}`)).body).toEqual({ deleted: set.id });
  expect((await ask('DELETE', `/task-sets/${set.id}`)).status).toBe(404);
  expect((await ask('GET', `/world-tasks/${task.id}`)).status).toBe(200);
});
