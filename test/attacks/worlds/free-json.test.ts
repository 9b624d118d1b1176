/**
 * Valid JSON that PostgreSQL's operators refuse: the escaped NUL character and escaped halves of a
 * surrogate pair. Every place that stores JSON of clients accepts both, and returns them unchanged.
 */
import { runner } from 'node-pg-migrate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { reap } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  createWorld,
  enqueueCall,
  openSession,
} from '#wire/public-api/operations.ts';
import { migrate } from '../../../src/control/db/core/migrate.ts';
import { startTestControl } from '../../support/control/control.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { emptyDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

const nul = '\0';
const half = '\ud83d';
const odd = { [`x${nul}`]: half, y: [nul, half] };

type Json = Record<string, unknown>;

let control: OwnControl;
let host: PlayedHost;
let sessionId: string;

beforeAll(async () => {
  control = await startNotesControl();
});
afterAll(() => control.stop());

const open = async (task?: object): Promise<void> => {
  await clearPool(control);
  host = await warmHost(control);
  const { body } = await control.send(openSession, {
    body: { slug: 'notes', ...(task === undefined ? {} : { task }) },
  });
  sessionId = body.id;
  await host.poll();
  await host.ready();
};

const get = async (path: string): Promise<Json> => {
  const headers = { authorization: `Bearer ${control.publicKey}` };
  const answer = await control.running.app.inject({ url: `/api/public${path}`, headers });
  expect(answer.statusCode, answer.payload).toBe(200);
  return JSON.parse(answer.payload) as Json;
};

const call = async (body: object): Promise<string> => {
  const answer = await control.send(enqueueCall, {
    params: { sessionId },
    body: body as { kind: 'state' },
  });
  await host.calls();
  return answer.body.id;
};

/**
 * The world `notes`, whose entity has a pattern about control characters and half surrogate pairs.
 */
const patterned = (): TreeFile[] =>
  notesWorld().map((file) => {
    if (file.path !== 'schema/world.json') return file;
    const text = new TextDecoder().decode(file.content);
    const world = JSON.parse(text) as { $defs: { Note: { properties: Json } } };
    world.$defs.Note.properties.odd = { type: 'string', pattern: '[^\u0000-\u001f]' };
    world.$defs.Note.properties.half = { type: 'string', enum: [half] };
    return { ...file, content: new TextEncoder().encode(JSON.stringify(world)) };
  });

const oddNote = { id: 7, folder_id: 1, title: nul, done: false, odd: 'a\u0000', half };

describe('a world with U+0000 and a lone surrogate in its contract', () => {
  it('is created and listed, and refuses a row that contains half a surrogate pair', async () => {
    const make = (row: Json) =>
      control.send(createWorld, {
        body: { slug: 'odd', from: encodeTree(patterned()), data: { rows: { notes: [row] } } },
      });
    await expect(make(oddNote)).rejects.toThrow('/half: contains half of a surrogate pair');
    await make({ ...oddNote, half: undefined });
    const { data } = (await get('/environments')) as { data: Json[] };
    expect(data[0]).toMatchObject({ slug: 'odd', toolCount: 3, taskCount: 1 });
  });
});

describe('a call with U+0000 and a lone surrogate', () => {
  it('is returned unchanged with its output, in lists too', async () => {
    await open();
    const id = await call({ kind: 'tool', name: 'list_notes', input: odd });
    await host.answer(id, { output: odd });
    const { data } = (await get(`/world-sessions/${sessionId}/calls?fields=input,output`)) as {
      data: Json[];
    };
    expect(data[0]).toMatchObject({ input: odd, output: odd });
  });

  it('leaves the list of calls readable when its error contains them', async () => {
    await open();
    const error = { code: 'raised', message: `${nul}${half}`, path: `/${half}` };
    const first = await call({ kind: 'tool', name: 'list_notes' });
    await host.answer(first, { error: { ...error, details: odd } });
    const second = await call({ kind: 'tool', name: 'list_notes' });
    await host.answer(second, { error });
    // The column is null in rows of the previous release.
    await control.sql('update calls set short_error = null where id = $1', [first]);
    const path = `/world-sessions/${sessionId}/calls`;
    const short = (await get(path)) as { data: Json[] };
    expect(short.data.map((each) => each.error)).toEqual([error, error]);
    const whole = (await get(`${path}?fields=details`)) as { data: Json[] };
    expect(whole.data[0]?.error).toEqual({ ...error, details: odd });
  });

  it('may close its session or be refused by its host, and the answer is stored either way', async () => {
    await open();
    const refused = await call({ kind: 'close', input: odd });
    await host.answer(refused, { error: { code: 'invalid_input', message: 'no' } });
    const id = await call({ kind: 'close', input: { ...odd, keepWarm: true } });
    const orders = await host.answer(id, { output: null });
    expect(orders).toMatchObject({ close: { keepWarm: true } });
    const [row] = await control.sql('select keep_warm from sessions where id = $1', [sessionId]);
    expect(row).toEqual({ keep_warm: true });
  });
});

describe('a session with U+0000 and a lone surrogate', () => {
  it('stores them in its task as they were sent', async () => {
    await open({
      name: 'odd',
      instruction: 'do it',
      seed: { rows: { notes: [{ ...oddNote, odd: undefined, half: undefined }] } },
    });
    const [row] = await control.sql<{ task: string }>(
      'select task::text as task from sessions where id = $1',
      [sessionId],
    );
    expect(JSON.parse(row?.task ?? '')).toMatchObject({
      seed: { rows: { notes: [{ title: nul }] } },
    });
  });

  it('stores them in its ledger as they were sent', async () => {
    await open();
    const entry = {
      ...{ id: 1, at: '2026-01-01T00:00:00.000Z', via: 'api', status: 200, duration_ms: 1 },
      ...{ operation: nul, method: half, path: `/${nul}`, call_id: null },
      ...{ request: odd, response: odd, changes: {}, rows: [] },
    };
    await host.requests([entry]);
    const { data } = (await get(`/world-sessions/${sessionId}/requests`)) as { data: Json[] };
    expect(data[0]).toMatchObject({ request: odd, response: odd, operation: '\ufffd' });
  });

  it('ends when its host cannot load it, whatever error the host reports', async () => {
    await clearPool(control);
    host = await warmHost(control);
    const { body } = await control.send(openSession, { body: { slug: 'notes' } });
    await host.poll();
    await host.failed('raised', `${nul}${half}`);
    expect(await get(`/world-sessions/${body.id}`)).toMatchObject({
      state: 'FAILED',
      error: { message: `${nul}${half}` },
    });
    await control.send(closeSession, { params: { sessionId: body.id }, body: {} });
  });
});

const insertOld = `
  insert into organizations (id, slug, name) values ('org', 'org', 'org');
  insert into projects (id, organization_id, slug, name) values ('prj', 'org', 'prj', 'prj');
  begin;
  insert into worlds (id, project_id, slug, kind, name, head_version_id)
    values ('wld', 'prj', 'old', 'mock-tools', 'old', 'ver');
  insert into versions (id, world_id, project_id, number, state, content_hash, contract, files,
      entity_counts, bundle, snapshot)
    values ('ver', 'wld', 'prj', 1, 'READY', 'h',
      '{"api":{"routes":[]},"tools":[{}],"tasks":[],"x":"\\u0000\\ud83d"}',
      '[{"path":"\\u0000","sizeBytes":7,"sha256":"sha256:a"}]', '{}', 'sha256:b', 'sha256:c');
  commit;
  insert into sessions (id, project_id, world_id, version_id, state, surfaces, browser_tier, reuse_warm)
    values ('ses', 'prj', 'wld', 'ver', 'PROVISIONING', '{}', 'none', false);
  insert into calls (id, session_id, seq, kind, input, state, error)
    values ('call', 'ses', 1, 'tool', '{"x":"\\u0000"}', 'failed',
      '{"code":"\\ud83d","message":"\\u0000","details":"\\u0000"}');
  insert into requests (session_id, id, world_id, at, via, duration_ms, request, response, changes, rows, bytes)
    values ('ses', 1, 'wld', now(), 'api', 1, '"\\u0000"', '"\\ud83d"', '{}', '[]', 40),
           ('ses', 2, 'wld', now(), 'api', 1, 'null', 'null', '{}', '[]', 2);`;

describe('a database of the previous release that contains U+0000 and a lone surrogate', () => {
  it('is upgraded, and the numbers used by lists and quotas are computed afterwards', async () => {
    const database = await emptyDatabase();
    try {
      const dir = `${import.meta.dirname}/../../../src/control/db/migrations`;
      await runner({
        ...{ databaseUrl: database.url, dir, direction: 'up', migrationsTable: 'migrations' },
        ...{ count: 9, log: () => undefined },
      });
      await execute(database.url, insertOld);
      expect(await migrate(database.url)).toContain('0013_project_usage');
      // A replica of the previous release is still running.
      await execute(
        database.url,
        `insert into requests (session_id, id, world_id, at, via, duration_ms, request, response, changes, rows, bytes)
         values ('ses', 3, 'wld', now(), 'api', 1, 'null', 'null', '{}', '[]', 8)`,
      );
      const bytes = () => execute(database.url, 'select session_id, bytes::int from ledgers');
      expect(await bytes()).toEqual([{ session_id: 'ses', bytes: 50 }]);
      await execute(database.url, 'delete from ledgers');
      await execute(database.url, 'delete from requests where id = 3');
      expect(await bytes()).toEqual([]);
      const upgraded = await startTestControl({ databaseUrl: database.url });
      try {
        const hour = 3_600_000;
        const body = { idleMs: hour, maxAgeMs: hour, provisionMs: hour, closingMs: hour };
        await upgraded.pool(reap, { body });
        expect(await bytes()).toEqual([{ session_id: 'ses', bytes: 42 }]);
        expect(await execute(database.url, 'select * from ledger_fill')).toEqual([]);
        const [version] = await execute(
          database.url,
          `select has_api, tool_count, task_count, blobs, bytes::int from versions where id = 'ver'`,
        );
        expect(version).toEqual({
          ...{ has_api: true, tool_count: 1, task_count: 0, bytes: 7 },
          blobs: ['sha256:a', 'sha256:b', 'sha256:c'],
        });
      } finally {
        await upgraded.stop();
      }
    } finally {
      await database.drop();
    }
  });
});
