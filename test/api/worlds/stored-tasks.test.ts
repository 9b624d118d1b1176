/** Tests stored tasks: versioned, listed, changed, validated against worlds, and opened as sessions. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createTask,
  createWorld,
  deleteTask,
  deleteWorld,
  getSession,
  getTask,
  getWorldFile,
  listTasks,
  openSession,
  saveSessionTask,
  updateTask,
  validateTask,
} from '#wire/public-api/operations.ts';
import type { CreateTaskBody, StoredTaskDetail } from '#wire/public-api/worlds/task.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { changed, push } from '../../support/control/pushes.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let neighbour: Neighbour;

const createNotes = (slug: string) =>
  control.send(createWorld, { body: { slug, from: encodeTree(notesWorld()) } });

beforeAll(async () => {
  control = await startOwnControl();
  neighbour = await addNeighbour(control);
  await createNotes('notes');
  await createNotes('others');
  await push(control.send, 'notes', changed(notesWorld(), { 'README.md': '# Notes' }));
});

afterAll(() => control.stop());
afterEach(() => clearPool(control));

const spec: TaskSpec = {
  instruction: 'Finish note 7.',
  tools: ['list_notes', 'create_notes'],
  seed: { rows: { notes: [{ id: 7, folder_id: 1, title: 'seven', done: false }] } },
  grader: { kind: 'assertions', checks: [{ entity: 'notes', where: { id: 7, done: true } }] },
  metadata: { difficulty: 'hard', level: 3, customer: 'ann', nested: { a: 1 } },
};

const store = async (body: Partial<CreateTaskBody> = {}): Promise<StoredTaskDetail> =>
  (await control.send(createTask, { body: { world: 'notes', spec, ...body } })).body;

const read = async (taskId: string, version?: number): Promise<StoredTaskDetail> =>
  (
    await control.read(getTask, {
      params: { taskId },
      query: version === undefined ? {} : { version },
    })
  ).body;

describe('a stored task', () => {
  it('is returned as it was sent, at version 1', async () => {
    const task = await store({ name: 'seven', message: 'to begin with' });
    expect(task).toMatchObject({
      id: expect.stringMatching(/^tsk-/),
      name: 'seven',
      world: 'notes',
      pin: null,
      version: 1,
      shownVersion: 1,
      spec,
      versions: [
        {
          version: 1,
          contentHash: task.contentHash,
          message: 'to begin with',
          author: control.publicKey,
        },
      ],
    });
    expect(await read(task.id)).toEqual(task);
  });

  it('takes the name of its spec when the request gives no name', async () => {
    expect(await store({ spec: { ...spec, name: 'own name' } })).toMatchObject({
      name: 'own name',
      spec,
    });
  });

  it('is stored once by requests with one idempotency key', async () => {
    const send = (name: string) =>
      control.send(createTask, {
        body: { world: 'notes', spec, name },
        headers: { 'idempotency-key': 'once' },
      });
    const [first, second] = await Promise.all([send('one'), send('one')]);
    expect([first.status, second.status].sort()).toEqual([200, 201]);
    expect(second.body.id).toBe(first.body.id);
    await expect(send('two')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('may merge rows that give only their keys and the fields that they change', async () => {
    const seed = { mode: 'merge' as const, rows: { notes: [{ id: 1, title: 'Merged' }] } };
    const { body } = await control.send(openSession, { body: { slug: 'notes', task: { seed } } });
    expect(body.task).toMatchObject({ form: 'inline' });
    const refused = (row: object) =>
      control.send(openSession, {
        body: { slug: 'notes', task: { seed: { ...seed, rows: { notes: [row] } } } } as never,
      });
    await expect(refused({ id: 1, title: 7 })).rejects.toMatchObject({
      fields: [{ path: ['task', 'seed', 'rows', 'notes', '0', 'title'] }],
    });
    await expect(refused({ title: 'Merged' })).rejects.toMatchObject({
      fields: [{ path: ['task', 'seed', 'rows', 'notes', '0'] }],
    });
  });

  it('is pinned to a version by the address of its world or by version id', async () => {
    const pinned = await store({ world: 'notes@1' });
    expect(pinned.pin).toMatchObject({ number: 1 });
    const versionId = pinned.pin?.versionId ?? '';
    expect((await store({ versionId })).pin).toEqual(pinned.pin);
    await expect(store({ world: 'others', versionId })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(store({ world: 'notes@2', versionId })).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ path: ['versionId'] }],
    });
    await expect(store({ world: 'nothing' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a change of a stored task', () => {
  it('that changes the spec creates the next version and keeps the previous one', async () => {
    const { id, contentHash } = await store();
    const next = { ...spec, instruction: 'Finish it.' };
    const { body } = await control.send(updateTask, {
      params: { taskId: id },
      body: { spec: next, message: 'shorter' },
    });
    expect(body).toMatchObject({ version: 2, shownVersion: 2, spec: next });
    expect(body.versions.map(({ version, message }) => [version, message])).toEqual([
      [2, 'shorter'],
      [1, null],
    ]);
    expect(await read(id, 1)).toMatchObject({ version: 2, shownVersion: 1, spec });
    expect(body.versions[1]?.contentHash).toBe(contentHash);
    await expect(read(id, 3)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that changes only name, world or pin creates no version', async () => {
    const { id } = await store({ name: 'first' });
    const change = async (body: Parameters<typeof control.send<typeof updateTask>>[1]['body']) =>
      (await control.send(updateTask, { params: { taskId: id }, body })).body;
    expect(await change({ name: 'second', world: 'notes@1' })).toMatchObject({
      name: 'second',
      version: 1,
      pin: { number: 1 },
    });
    expect(await change({ versionId: null, name: null })).toMatchObject({
      name: null,
      pin: null,
      version: 1,
    });
    expect(await change({ world: 'others' })).toMatchObject({ world: 'others', version: 1 });
    expect(await change({ spec })).toMatchObject({ version: 1 });
    expect((await change({})).versions).toHaveLength(1);
  });

  it('creates versions one after the other when several changes arrive at once', async () => {
    const { id } = await store();
    const change = (instruction: string) =>
      control.send(updateTask, {
        params: { taskId: id },
        body: { spec: { ...spec, instruction } },
      });
    await Promise.all(['a', 'b', 'c', 'd'].map(change));
    expect((await read(id)).versions.map(({ version }) => version)).toEqual([5, 4, 3, 2, 1]);
  });
});

describe('the list of stored tasks', () => {
  it('is newest first, page by page, and filtered by world and metadata', async () => {
    await createNotes('listed');
    const body = (metadata: NonNullable<TaskSpec['metadata']>) => ({
      world: 'listed',
      spec: { ...spec, metadata },
    });
    const one = await store(body({ difficulty: 'easy', level: 1 }));
    const two = await store(body({ difficulty: 'hard', level: 1, odd: 'a\0b' }));
    const list = async (query: Record<string, string | string[]>) => {
      const { body: page } = await control.read(listTasks, {
        query: { world: 'listed', ...query },
      });
      return [page.data.map(({ id }) => id), page.meta.totalItems];
    };
    expect(await list({})).toEqual([[two.id, one.id], 2]);
    expect(await list({ limit: '1', page: '2' })).toEqual([[one.id], 2]);
    expect(await list({ 'metadata.difficulty': 'hard' })).toEqual([[two.id], 1]);
    expect(await list({ 'metadata.level': '1', 'metadata.difficulty': 'easy' })).toEqual([
      [one.id],
      1,
    ]);
    expect(await list({ 'metadata.level': ['1', '2'] })).toEqual([[], 0]);
    expect(await list({ 'metadata.none': '1' })).toEqual([[], 0]);
    await expect(list({ other: '1' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(list({ world: 'nothing' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the validation of a stored task', () => {
  const validate = async (
    taskId: string,
    body: Parameters<typeof control.read<typeof validateTask>>[1]['body'] = {},
  ) => (await control.read(validateTask, { params: { taskId }, body })).body;

  it('reports what does not fit a version of a world and changes nothing', async () => {
    const { id } = await store();
    expect(await validate(id)).toMatchObject({
      valid: true,
      version: 1,
      world: 'notes',
      worldVersion: 2,
      problems: [],
    });
    expect(await validate(id, { world: 'notes@1' })).toMatchObject({ worldVersion: 1 });
    const wrong = await store({
      spec: {
        tools: ['list_note'],
        seed: { rows: { notes: [{ id: 'x' }] } },
        grader: { kind: 'assertions', checks: [{ entity: 'notez', where: {} }] },
      },
    });
    const { valid, problems } = await validate(wrong.id);
    expect(valid).toBe(false);
    expect(problems.map(({ path }) => path.join('.'))).toEqual(
      expect.arrayContaining(['tools.0', 'grader.checks.0.entity']),
    );
    expect(problems.some(({ path }) => path.join('.').startsWith('seed.rows.notes.0'))).toBe(true);
    await expect(validate(id, { version: 9 })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a session on a stored task', () => {
  it("opens in the task's world, with the latest version or a named one", async () => {
    const { id } = await store({ name: 'seven', world: 'notes@1' });
    const next = { ...spec, instruction: 'Finish it.' };
    await control.send(updateTask, { params: { taskId: id }, body: { spec: next } });
    const host = await warmHost(control);
    const { body: session } = await control.send(openSession, { body: { task: { id } } });
    const { versions, pin, contentHash } = await read(id);
    expect(session).toMatchObject({
      versionId: pin?.versionId,
      instruction: 'Finish it.',
      task: { form: 'stored', name: 'seven', id, version: 2, contentHash },
    });
    expect(session.tools.map(({ name }) => name)).toEqual(spec.tools);
    await host.poll();
    expect(host.assignment?.task).toEqual({ name: 'seven', ...next });
    const { body: older } = await control.send(openSession, {
      body: { slug: 'notes', task: { id, version: 1 } },
    });
    expect(older).toMatchObject({
      versionId: pin?.versionId,
      instruction: spec.instruction,
      task: { version: 1, contentHash: versions[1]?.contentHash },
    });
    await control.send(deleteTask, { params: { taskId: id } });
    const params = { sessionId: session.id };
    expect((await control.send(getSession, { params })).body.task).toEqual(session.task);
    await expect(control.send(openSession, { body: { task: { id } } })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is refused if the task does not fit its world or the world was deleted', async () => {
    const { id } = await store({ spec: { tools: ['nothing'] } });
    await expect(control.send(openSession, { body: { task: { id } } })).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ path: ['task', 'tools', '0'] }],
    });
    await createNotes('gone');
    const other = await store({ world: 'gone' });
    await control.send(deleteWorld, { params: { slug: 'gone' } });
    const opened = control.send(openSession, { body: { task: { id: other.id } } });
    await expect(opened).rejects.toMatchObject({
      code: 'not_found',
      message: `the world "gone" of task "${other.id}" was deleted`,
    });
  });

  it('can store its inline task, pinned to the version of the session', async () => {
    const task = { ...spec, name: 'inline' };
    const { body: session } = await control.send(openSession, { body: { slug: 'notes@1', task } });
    const params = { sessionId: session.id };
    const saved = await control.send(saveSessionTask, { params, body: { message: 'kept' } });
    expect(saved).toMatchObject({
      status: 201,
      body: { name: 'inline', spec, pin: { versionId: session.versionId }, version: 1 },
    });
    const { contentHash, id } = saved.body;
    expect(session.task).toMatchObject({ form: 'inline', contentHash });
    const { body: again } = await control.send(openSession, { body: { task: { id } } });
    expect(again.task).toMatchObject({ form: 'stored', contentHash });
    const { body: bundled } = await control.send(openSession, {
      body: { slug: 'notes', task: 'finish' },
    });
    const refused = control.send(saveSessionTask, {
      params: { sessionId: bundled.id },
      body: {},
    });
    await expect(refused).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a solution', () => {
  const solution = { steps: [{ tool: 'create_notes', input: { id: 8, title: 'the answer' } }] };

  it('of a stored task is readable with the secret key only', async () => {
    const { id, spec: stored } = await store({ spec: { ...spec, solution } });
    expect(stored.solution).toEqual(solution);
    const params = { taskId: id };
    expect((await control.send(getTask, { params })).body.spec).toEqual(stored);
    expect((await read(id)).spec).toEqual(spec);
    const wrong = { steps: [{ tool: 'get_answer' }] };
    await control.send(updateTask, { params, body: { spec: { ...spec, solution: wrong } } });
    const { body: result } = await control.send(validateTask, { params, body: {} });
    expect(result.problems[0]).toMatchObject({ path: ['solution', 'steps', '0', 'tool'] });
    const { body: hidden } = await control.read(validateTask, { params, body: {} });
    expect(hidden.valid).toBe(false);
    expect(JSON.stringify(hidden)).not.toContain('get_answer');
  });

  it('of a bundled task is in no file that a public key can read', async () => {
    const path = 'scenarios/finish/scenario.toml';
    const written = new TextDecoder().decode(
      notesWorld().find((file) => file.path === path)?.content,
    );
    const steps = '\n[[solution.steps]]\ntool = "create_notes"\ninput = { title = "the answer" }\n';
    const tree = changed(notesWorld(), { [path]: `${written}${steps}` });
    const made = await control.send(createWorld, {
      body: { slug: 'solved', from: encodeTree(tree) },
    });
    for (const file of made.body.files) {
      const params = { slug: 'solved', sha256: file.sha256 };
      if (file.path === path) {
        await expect(control.read(getWorldFile, { params })).rejects.toMatchObject({
          code: 'forbidden',
        });
        expect((await control.send(getWorldFile, { params })).status).toBe(200);
      } else {
        const { body } = await control.read(getWorldFile, { params });
        expect(Buffer.from(body).toString('utf8'), file.path).not.toContain('the answer');
      }
    }
  });
});

describe('the routes of stored tasks', () => {
  it('show nothing to other projects and refuse writes with a public key', async () => {
    const { id } = await store();
    for (const [method, path, body] of [
      ['GET', `/world-tasks/${id}`, undefined],
      ['PATCH', `/world-tasks/${id}`, { name: 'theirs' }],
      ['DELETE', `/world-tasks/${id}`, undefined],
      ['POST', `/world-tasks/${id}/validate`, {}],
    ] as const) {
      expect((await neighbour.ask(method, path, body)).status, `${method} ${path}`).toBe(404);
    }
    expect((await neighbour.ask('GET', '/world-tasks')).body).toMatchObject({ data: [] });
    const params = { taskId: id };
    await expect(control.read(updateTask, { params, body: { name: 'no' } })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(control.read(deleteTask, { params })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(
      control.read(createTask, { body: { world: 'notes', spec } }),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });
});
