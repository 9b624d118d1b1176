/** Tests opening, reading, pinning, listing and closing sessions, as clients see it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  closeSession,
  createWorld,
  getSession,
  getWorld,
  listSessions,
  listWorlds,
  openSession,
  updateSession,
} from '#wire/public-api/operations.ts';
import type { OpenSessionBody, SessionView } from '#wire/public-api/sessions/session.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { clearPool, type PlayedHost, playedAddress, warmHost } from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  await control.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
  await control.send(createWorld, { body: { slug: 'code-hosting', from: 'code-hosting' } });
});

afterAll(async () => {
  await control.stop();
  await database.drop();
});

afterEach(() => clearPool(control));

const open = async (body: OpenSessionBody = {}, headers = {}): Promise<SessionView> =>
  (await control.send(openSession, { body: { slug: 'notes', ...body }, headers })).body;

const read = async (sessionId: string): Promise<SessionView> =>
  (await control.send(getSession, { params: { sessionId } })).body;

const close = (sessionId: string, query = {}) =>
  control.send(closeSession, { params: { sessionId }, query, body: {} });

/** Opens a session on a host of its own and loads it. */
const openReady = async (body: OpenSessionBody = {}): Promise<[SessionView, PlayedHost]> => {
  const host = await warmHost(control);
  const session = await open(body);
  await host.poll();
  await host.ready();
  return [session, host];
};

describe('opening a session', () => {
  it('answers at once, waiting for a host when none is warm', async () => {
    const { status, body } = await control.send(openSession, { body: { slug: 'notes' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      slug: 'notes',
      state: 'PROVISIONING',
      ready: false,
      assignedAt: null,
      surfaces: {},
      task: null,
      instruction: null,
    });
    expect(body.tools.map(({ name }) => name)).toEqual([
      'list_notes',
      'create_notes',
      'count_slowly',
    ]);
    const closed = await close(body.id);
    expect(closed.body).toMatchObject({ state: 'CLOSED', endReason: 'requested' });
  });

  it('claims a warm host in the same step, and waits until the session is ready', async () => {
    const host = await warmHost(control);
    const opening = control.send(openSession, {
      body: { slug: 'code-hosting', task: 'close-duplicate' },
      query: { wait: 10 },
    });
    const assignment = await host.poll();
    expect(assignment).toMatchObject({ worldSlug: 'code-hosting', generation: 1 });
    expect(await host.ready()).toEqual({});
    const { body } = await opening;
    expect(body).toMatchObject({ state: 'READY', ready: true, hostReused: false });
    expect(body.surfaces.api).toEqual({
      url: playedAddress(host.id),
      token: assignment?.sessionToken,
    });
    expect(body.task).toMatchObject({ form: 'bundled', name: 'close-duplicate', id: null });
    expect(body.instruction).toBe(assignment?.task?.instruction);
    expect(assignment?.task?.seed?.rows).not.toEqual({});
  });

  it('shows the API token only to clients with the secret key', async () => {
    const [session] = await openReady({ slug: 'code-hosting' });
    const params = { sessionId: session.id };
    const whole = await control.send(getSession, { params });
    const partial = await control.read(getSession, { params });
    expect(whole.body.surfaces.api?.token).toMatch(/^st-/);
    expect(partial.body.surfaces.api).toEqual({ url: whole.body.surfaces.api?.url });
  });

  it('shows self-contained tool schemas', async () => {
    const session = await open();
    const created = session.tools.find(({ name }) => name === 'create_notes');
    expect(created?.inputSchema).toMatchObject({
      $ref: '#/$defs/Note',
      $defs: { Note: { type: 'object' } },
    });
    await close(session.id);
  });

  it('returns the first session for a repeated Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'open-once' };
    const first = await control.send(openSession, { body: { slug: 'notes' }, headers });
    const second = await control.send(openSession, { body: { slug: 'notes' }, headers });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body.id).toBe(first.body.id);
    const other = control.send(openSession, { body: { slug: 'code-hosting' }, headers });
    await expect(other).rejects.toMatchObject({ code: 'conflict' });
    await close(first.body.id);
  });

  it('opens one session for one key, even when many requests arrive at once', async () => {
    const hosts = await Promise.all([warmHost(control), warmHost(control)]);
    const headers = { 'idempotency-key': 'open-together' };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        control.send(openSession, { body: { slug: 'notes' }, headers }),
      ),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const assigned = await control.sql(
      `select id from hosts where state = 'assigned' and id = any($1)`,
      [hosts.map(({ id }) => id)],
    );
    expect(assigned).toHaveLength(1);
  });

  it('passes the clock and the seed to its host, and shows them', async () => {
    const seed = Number.MAX_SAFE_INTEGER;
    const clock = { at: '2026-03-01T10:00:00+01:00', mode: 'stepped' as const, rate: 60 };
    const [session, host] = await openReady({ clock, seed });
    const resolved = { ...clock, at: '2026-03-01T09:00:00.000Z' };
    expect(session).toMatchObject({ clock: resolved, seed });
    expect(host.assignment).toMatchObject({ clock: resolved, seed });
    const [usual, usualHost] = await openReady();
    const machine = { clock: { at: null, mode: 'real', rate: 1 }, seed: null };
    expect(usual).toMatchObject(machine);
    expect(usualHost.assignment).toMatchObject(machine);
  });

  it('is refused with every problem of the request', async () => {
    const body: OpenSessionBody = {
      slug: 'notes',
      task: 'finnish',
      surfaces: ['browser', 'ui'],
      clock: { at: 'noon' },
    };
    const refused = await control.send(openSession, { body }).catch((error: unknown) => error);
    expect((refused as { fields: { path: string[] }[] }).fields.map(({ path }) => path)).toEqual([
      ['task'],
      ['surfaces', '0'],
      ['surfaces', '1'],
      ['clock', 'at'],
    ]);
  });

  it('offers a page if the world declares one and the request asks for it', async () => {
    const from = encodeTree(toTree(unlinkedWorld()));
    await control.send(createWorld, { body: { slug: 'with-ui', from } });
    const { body: world } = await control.read(getWorld, { params: { slug: 'with-ui' } });
    expect(world.surfaces).toEqual(['api', 'ui', 'browser']);
    const { body: listed } = await control.read(listWorlds, { query: {} });
    const found = listed.data.find(({ slug }) => slug === 'with-ui');
    expect(found?.surfaces).toEqual(['api', 'ui', 'browser']);
    const asked = await control.send(openSession, { body: { slug: 'with-ui', surfaces: ['ui'] } });
    const [row] = await control.sql<{ surfaces: string[] }>(
      'select surfaces from sessions where id = $1',
      [asked.body.id],
    );
    expect(row?.surfaces).toEqual(['api', 'ui']);
    const usual = await control.send(openSession, { body: { slug: 'with-ui' } });
    const [other] = await control.sql<{ surfaces: string[] }>(
      'select surfaces from sessions where id = $1',
      [usual.body.id],
    );
    expect(other?.surfaces).toEqual(['api']);
  });

  const refusals: [string, OpenSessionBody, string[], RegExp][] = [
    ['an unknown task', { task: 'finnish' }, ['task'], /its tasks are finish/],
    ['a surface it lacks', { surfaces: ['ui'] }, ['surfaces', '0'], /no surface "ui"; it has none/],
    ['a clock without a date', { clock: { at: 'noon' } }, ['clock', 'at'], /no date and time/],
    ['a clock that goes back', { clock: { rate: -1 } }, ['clock', 'rate'], /above 0/],
    ['a seed that is no whole number', { seed: 1.5 }, ['seed'], /integer/],
    ['a seed below 0', { seed: -1 }, ['seed'], />= 0/],
    [
      'a seed row that breaks the contract',
      { task: { seed: { rows: { notes: [{ id: 'x', folder_id: 1, title: 'a', done: true }] } } } },
      ['task', 'seed', 'rows', 'notes', '0', 'id'],
      /integer/,
    ],
    [
      'a seed for an entity it lacks',
      { task: { seed: { rows: { note: [{}] } } } },
      ['task', 'seed', 'rows', 'note', '0'],
      /did you mean "notes"/,
    ],
    [
      'a check of an entity it lacks',
      { task: { grader: { kind: 'assertions', checks: [{ entity: 'folder', where: {} }] } } },
      ['task', 'grader', 'checks', '0', 'entity'],
      /did you mean "folders"/,
    ],
    [
      'a check of a field it lacks',
      {
        task: {
          grader: { kind: 'assertions', checks: [{ entity: 'notes', where: { tittle: 1 } }] },
        },
      },
      ['task', 'grader', 'checks', '0', 'where', 'tittle'],
      /did you mean "title"/,
    ],
    [
      'a check of a field that the ledger lacks, inside a list',
      {
        task: {
          grader: {
            kind: 'assertions',
            checks: [{ entity: 'svc_requests', where: { 'rows.0.entiy': 'notes' } }],
          },
        },
      },
      ['task', 'grader', 'checks', '0', 'where', 'rows.0.entiy'],
      /did you mean "entity"/,
    ],
    [
      'a check that no row can meet',
      {
        task: { grader: { kind: 'assertions', checks: [{ entity: 'notes', where: { id: '1' } }] } },
      },
      ['task', 'grader', 'checks', '0', 'where', 'id'],
      /notes.id is integer, never "1"/,
    ],
    [
      'a query of a table it lacks',
      { task: { grader: { kind: 'sql', source: 'select 1 as passed from note' } } },
      ['task', 'grader', 'source'],
      /no such table: note; did you mean "notes"/,
    ],
    [
      'a query that writes',
      { task: { grader: { kind: 'sql', source: 'delete from notes' } } },
      ['task', 'grader', 'source'],
      /the query may only read/,
    ],
  ];

  it.each(refusals)('refuses %s and names the field', async (_, body, path, message) => {
    await expect(open(body)).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ path, message: expect.stringMatching(message) }],
    });
  });

  it('is refused without a world and with a version of another world', async () => {
    await expect(control.send(openSession, { body: {} })).rejects.toMatchObject({
      fields: [{ path: ['slug'], message: expect.stringMatching(/name the world/) }],
    });
    const { versionId } = await open();
    await expect(open({ slug: 'code-hosting', versionId })).rejects.toMatchObject({
      fields: [{ path: ['versionId'], message: expect.stringMatching(/is a version of "notes"/) }],
    });
    expect((await control.send(openSession, { body: { versionId } })).body.slug).toBe('notes');
  });

  it('answers 404 for a world, a version or a session that does not exist', async () => {
    const notFound = { code: 'not_found' };
    await expect(open({ slug: 'nothing' })).rejects.toMatchObject(notFound);
    await expect(open({ versionId: 'ver-1' })).rejects.toMatchObject(notFound);
    await expect(read('ses-1')).rejects.toMatchObject(notFound);
    await expect(close('ses-1')).rejects.toMatchObject(notFound);
  });

  it('accepts an inline task with rows and a grader that reads the ledger', async () => {
    const task = {
      name: 'by hand',
      instruction: 'Do it.',
      seed: { rows: { notes: [{ id: 2, folder_id: 1, title: 'b', done: false }] } },
      grader: {
        kind: 'assertions' as const,
        checks: [{ entity: 'svc_requests', where: { via: 'tool' } }],
      },
    };
    const session = await open({ task });
    expect(session).toMatchObject({
      instruction: 'Do it.',
      task: { form: 'inline', name: 'by hand', contentHash: expect.stringMatching(/^sha256:/) },
    });
    const again = await open({ task });
    expect(again.task?.contentHash).toBe(session.task?.contentHash);
    await Promise.all([close(session.id), close(again.id)]);
  });
});

describe('closing a session', () => {
  it('waits for the host to release it, and closing again changes nothing', async () => {
    const [session, host] = await openReady();
    const closing = close(session.id, { wait: 10 });
    expect(await host.calls()).toEqual({ close: { keepWarm: false } });
    expect(await read(session.id)).toMatchObject({ state: 'CLOSING', endReason: 'requested' });
    expect(await host.closed()).toBe('exit');
    expect((await closing).body).toMatchObject({ state: 'CLOSED', surfaces: {} });
    const again = await close(session.id);
    expect(again.body.closedAt).toBe((await closing).body.closedAt);
  });

  it('makes a host that is still loading close the session as soon as the host reports ready', async () => {
    const host = await warmHost(control);
    const session = await open();
    await host.poll();
    await close(session.id);
    expect(await host.ready()).toEqual({ close: { keepWarm: false } });
    expect(await host.closed()).toBe('exit');
    expect(await read(session.id)).toMatchObject({ state: 'CLOSED' });
  });

  it('accepts no body, an empty object or keepWarm, and nothing else', async () => {
    const authorization = `Basic ${btoa(`${control.publicKey}:${control.secretKey}`)}`;
    const remove = async (body: string | undefined) => {
      const session = await open();
      const path = `/api/public/world-sessions/${session.id}`;
      const headers = { authorization, 'content-type': 'application/json' };
      const request = { method: 'DELETE', path, headers };
      return (await control.raw(body === undefined ? request : { ...request, body })).status;
    };
    expect(await remove(undefined)).toBe(200);
    expect(await remove('')).toBe(200);
    expect(await remove('{}')).toBe(200);
    expect(await remove('{"keepWarm":true}')).toBe(200);
    expect(await remove('{"keepwarm":true}')).toBe(400);
  });
});

describe('reading sessions', () => {
  it('keeps a waiting read open until the session is ready', async () => {
    const host = await warmHost(control);
    const session = await open();
    const held = control.read(getSession, {
      params: { sessionId: session.id },
      query: { wait: 10 },
    });
    await host.poll();
    await host.ready();
    expect((await held).body.ready).toBe(true);
  });

  it('answers a waiting read with the current state when the wait time is over', async () => {
    const session = await open();
    const held = await control.read(getSession, {
      params: { sessionId: session.id },
      query: { wait: 0.05 },
    });
    expect(held.body.state).toBe('PROVISIONING');
    await close(session.id);
  });

  it('pins an open session, and refuses one that has ended', async () => {
    const session = await open();
    const params = { sessionId: session.id };
    const pinned = await control.send(updateSession, { params, body: { pinned: true } });
    expect(pinned.body.pinned).toBe(true);
    await close(session.id);
    await expect(
      control.send(updateSession, { params, body: { pinned: false } }),
    ).rejects.toMatchObject({ code: 'conflict', detail: { state: 'CLOSED' } });
  });

  it('lists sessions newest first, by page, state and world', async () => {
    const made = [];
    for (let i = 0; i < 3; i += 1) made.push(await open({ slug: 'code-hosting' }));
    const query = { world: 'code-hosting', state: 'PROVISIONING' as const, limit: 2 };
    const { body } = await control.read(listSessions, { query });
    expect(body.data.map(({ id }) => id)).toEqual([made[2]?.id, made[1]?.id]);
    const { nextCursor: cursor = '', ...meta } = body.meta;
    expect(meta).toEqual({ page: 1, limit: 2, totalItems: 3, totalPages: 2 });
    const rest = await control.read(listSessions, { query: { ...query, page: 2 } });
    expect(rest.body.data.map(({ id }) => id)).toEqual([made[0]?.id]);
    made.push(await open({ slug: 'code-hosting' }));
    const following = await control.read(listSessions, { query: { ...query, cursor } });
    expect(following.body.data.map(({ id }) => id)).toEqual([made[0]?.id]);
    expect(following.body.meta).toEqual({ page: 2, limit: 2, totalItems: 4, totalPages: 2 });
    for (const wrong of ['x', Buffer.from('[2,"x","ses"]').toString('base64url')]) {
      await expect(control.read(listSessions, { query: { cursor: wrong } })).rejects.toMatchObject({
        fields: [{ path: ['cursor'] }],
      });
    }
    const none = await control.read(listSessions, { query: { world: 'nothing' } });
    expect(none.body).toMatchObject({ data: [], meta: { totalItems: 0, totalPages: 0 } });
    await Promise.all(made.map(({ id }) => close(id)));
  });
});
