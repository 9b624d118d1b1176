/**
 * Tests lists with many entries that have large members, requested with the public key alone. A page has a budget in
 * bytes. Entries omit large members unless the client asks for them, and name requested members that did not fit.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import type { TreeFile } from '#domain/world.ts';
import type { OperationShape } from '#wire/operation.ts';
import * as publicApi from '#wire/public-api/operations.ts';
import { createWorld, enqueueCall, openSession } from '#wire/public-api/operations.ts';
import { type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

/** Upper bound for one answer: the budget of a page, plus a little for each entry. */
const mostBytes = limits.pageBytes + 200_000;

type Json = Record<string, unknown>;
type Tree = { 'x-svc': { tools: Record<string, Json> } };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The world `notes` with very long descriptions of its tools. */
const wordyWorld = (): TreeFile[] =>
  notesWorld().map((file) => {
    if (file.path !== 'schema/world.json') return file;
    const world = JSON.parse(decoder.decode(file.content)) as Tree;
    for (const tool of Object.values(world['x-svc'].tools)) tool.description = 'd'.repeat(300_000);
    return { ...file, content: encoder.encode(JSON.stringify(world)) };
  });

/**
 * The world `notes` with a large definition that many tools refer to, so that the schemas shown to
 * clients are far larger than the file.
 */
const sharingWorld = (): TreeFile[] => {
  const names = Array.from({ length: 20 }, (_, at) => `shared_${at}`);
  const tools = names.map((name) => [
    name,
    { input: { type: 'object', properties: {} }, output: { $ref: '#/$defs/Large' } },
  ]);
  const functions = names.map((name) => `\n\ndef ${name}():\n    return ""\n`).join('');
  const change: Record<string, (text: string) => string> = {
    'schema/world.json': (text) => {
      const world = JSON.parse(text) as Tree & { $defs: Json };
      world.$defs.Large = { type: 'string', description: 'd'.repeat(210_000) };
      Object.assign(world['x-svc'].tools, Object.fromEntries(tools));
      return JSON.stringify(world);
    },
    'svc-env.toml': (text) =>
      text.replace('"count_slowly"', ['count_slowly', ...names].map((name) => `"${name}"`).join()),
    'tools.py': (text) => `${text}${functions}`,
  };
  return notesWorld().map(({ path, content }) => {
    const text = change[path]?.(decoder.decode(content));
    return { path, content: text === undefined ? content : encoder.encode(text) };
  });
};

let control: OwnControl;
let host: PlayedHost;
let sessionId: string;

const sessions = 20;

beforeAll(async () => {
  control = await startNotesControl();
  await control.send(createWorld, { body: { slug: 'wordy', from: encodeTree(wordyWorld()) } });
  host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  sessionId = body.id;
  await host.poll();
  await host.ready();
  const task = { instruction: 'i'.repeat(90_000) };
  for (let count = 0; count < sessions; count += 1) {
    await control.send(openSession, { body: { slug: 'wordy', task } });
  }
});
afterAll(() => control.stop());

type Listed = { data: Json[]; meta: Json; bytes: number };

/** Fetches a list with the public key. */
const list = async (path: string): Promise<Listed> => {
  const answer = await control.running.app.inject({
    url: `/api/public${path}`,
    headers: { authorization: `Bearer ${control.publicKey}` },
  });
  expect(answer.statusCode).toBe(200);
  return { ...answer.json(), bytes: answer.rawPayload.byteLength };
};

const has = (name: string) => (entry: Json) => name in entry;

/** Runs a call with this input and this output. */
const runCall = async (input: Json, output: unknown): Promise<string> => {
  const { body } = await control.send(enqueueCall, {
    params: { sessionId },
    body: { kind: 'tool', name: 'list_notes', input },
  });
  await host.calls();
  await host.answer(body.id, { output });
  return body.id;
};

describe('a list of sessions', () => {
  it('omits tools and instructions unless the client asks for them', async () => {
    const { data, bytes } = await list('/world-sessions?world=wordy&limit=100');
    expect(data).toHaveLength(sessions);
    expect(data.filter(has('tools'))).toEqual([]);
    expect(data.filter(has('instruction'))).toEqual([]);
    expect(bytes).toBeLessThan(50_000);
    const one = await control.raw({
      method: 'GET',
      path: `/api/public/world-sessions/${data[0]?.id}`,
      headers: { authorization: `Bearer ${control.publicKey}` },
    });
    expect((one.body as { tools: unknown[] }).tools).toHaveLength(3);
  });

  it('shows as many requested fields as fit on a page, and names the omitted ones', async () => {
    const asked = '/world-sessions?world=wordy&limit=100&fields=tools,instruction';
    const { data, meta, bytes } = await list(asked);
    expect(bytes).toBeLessThan(mostBytes);
    expect(data).toHaveLength(sessions);
    expect(meta).toMatchObject({ totalItems: sessions });
    const whole = data.filter(has('tools'));
    expect(whole.length).toBeGreaterThan(0);
    expect(whole.length).toBeLessThan(sessions);
    for (const entry of data) {
      const omitted = 'tools' in entry ? undefined : ['tools', 'instruction'];
      expect(entry.omitted).toEqual(omitted);
    }
    const next = await list(`${asked.replace('100', '1')}&page=${sessions}`);
    expect(next.data.filter(has('tools'))).toHaveLength(1);
  });

  it('shows as many instructions as fit on a page, and each of them on smaller pages', async () => {
    const large = 20;
    const task = { instruction: '\u20ac'.repeat(90_000) };
    for (let count = 0; count < large; count += 1) {
      await control.send(openSession, { body: { slug: 'wordy', task } });
    }
    const asked = '/world-sessions?fields=instruction';
    const { data, bytes } = await list(`${asked}&limit=${large}`);
    expect(bytes).toBeLessThan(mostBytes);
    expect(data.filter(has('instruction'))).toHaveLength(15);
    expect(data.at(-1)?.omitted).toEqual(['instruction']);
    const [last] = (await list(`${asked}&limit=1&page=${large}`)).data;
    expect(last?.instruction).toEqual(task.instruction);
  });

  it('is refused for unknown fields', async () => {
    const path = '/api/public/world-sessions?fields=tools,secrets';
    const headers = { authorization: `Bearer ${control.publicKey}` };
    expect((await control.raw({ method: 'GET', path, headers })).status).toBe(400);
  });
});

describe('the tools of worlds whose schemas share a large definition', () => {
  const worlds = 6;
  const asked = '/world-sessions?limit=6&fields=tools';
  const slugs = Array.from({ length: worlds }, (_, at) => `shared-${at}`);

  beforeAll(async () => {
    const from = encodeTree(sharingWorld());
    for (const slug of slugs) {
      await control.send(createWorld, { body: { slug, from } });
      await control.send(openSession, { body: { slug } });
    }
  });

  const textsOf = (slug: string) =>
    control.sql<{ bytes: number }>(
      `select octet_length(text) as bytes from version_texts
        where name = 'toolSchemas' and version_id = (select head_version_id from worlds where slug = $1)`,
      [slug],
    );

  it('are stored when a world is compiled, and count towards the bytes of its project', async () => {
    const [text] = await textsOf('shared-0');
    expect(text?.bytes).toBeGreaterThan(4_000_000);
    const [version] = await control.sql<{ bytes: number }>(
      'select v.bytes::int from versions v join worlds w on w.head_version_id = v.id where w.slug = $1',
      ['shared-0'],
    );
    expect(version?.bytes).toBeGreaterThan(text?.bytes ?? 0);
  });

  it('are read only for the worlds whose tools the page shows', async () => {
    const { data } = await list(asked);
    expect(data.filter(has('tools'))).toHaveLength(1);
    expect(data.filter(has('omitted'))).toHaveLength(data.length - 1);
  });

  it('are computed and stored for the worlds on the page when an earlier release did not store them', async () => {
    const before = await list(asked);
    await control.sql('delete from version_texts', []);
    expect((await list(asked)).data).toEqual(before.data);
    const made = await Promise.all(slugs.map(textsOf));
    const count = made.flat().length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(worlds);
    const listed = await list('/environments?fields=tools,tasks,redact,dependencies');
    expect(listed.data).toHaveLength(worlds + 2);
    expect(listed.data.every(has('dependencies'))).toBe(true);
  });
});

describe('a call log', () => {
  const calls = 8;
  beforeAll(async () => {
    for (let count = 0; count < calls; count += 1) {
      await runCall({ title: 't'.repeat(200_000) }, { text: 'o'.repeat(1_000_000) });
    }
    const { body } = await control.send(enqueueCall, {
      params: { sessionId },
      body: { kind: 'tool', name: 'list_notes' },
    });
    await host.calls();
    const error = { code: 'raised', message: 'no', details: { trace: 'd'.repeat(3_000_000) } };
    await host.answer(body.id, { error });
  });

  it('omits inputs, outputs and details unless the client asks for them', async () => {
    const { data, bytes } = await list(`/world-sessions/${sessionId}/calls?limit=100`);
    expect(data).toHaveLength(calls + 1);
    expect(data.some((call) => 'input' in call || 'output' in call)).toBe(false);
    expect(data.at(-1)?.error).toEqual({ code: 'raised', message: 'no' });
    expect(bytes).toBeLessThan(20_000);
  });

  it.each(['input', 'output', 'details', 'input,output,details'])(
    'shows no more of %s than fits on a page',
    async (fields) => {
      const path = `/world-sessions/${sessionId}/calls?fields=${fields}`;
      const { data, bytes } = await list(path);
      expect(data).toHaveLength(calls + 1);
      expect(bytes).toBeLessThan(mostBytes);
      const last = (await list(`${path}&limit=1&page=${calls + 1}`)).data[0];
      expect(last?.omitted).toBe(undefined);
    },
  );
});

describe('a ledger', () => {
  it('shows as many entries as fit on a page, and each entry on smaller pages', async () => {
    const entries = Array.from({ length: 12 }, (_, index) => ({
      ...{
        id: index + 1,
        at: '2026-01-01T00:00:00.000Z',
        via: 'api',
        operation: 'x',
        method: 'GET',
      },
      ...{ path: '/', status: 200, request: { body: 'b'.repeat(900_000) }, response: null },
      ...{ duration_ms: 1, changes: {}, rows: [], call_id: null },
    }));
    for (const entry of entries) await host.requests([entry]);
    for (const path of [`/world-sessions/${sessionId}/requests`, '/worlds/notes/requests']) {
      const { data, bytes } = await list(path);
      expect(data).toHaveLength(entries.length);
      expect(bytes).toBeLessThan(mostBytes);
      const omitted = data.filter(has('omitted'));
      expect(omitted.length).toBeGreaterThan(0);
      expect(omitted[0]).toMatchObject({
        omitted: ['request', 'response', 'changes', 'rows'],
        request: null,
        changes: {},
        rows: [],
      });
      for (let page = 1; page <= entries.length; page += 1) {
        const [one] = (await list(`${path}?limit=1&page=${page}`)).data;
        expect(one?.request).not.toBe(null);
      }
    }
  });
});

describe('every read of the public API', () => {
  const isRead = (value: unknown): value is OperationShape =>
    typeof value === 'object' && value !== null && 'access' in value && value.access === 'read';
  const reads = Object.values(publicApi as object).filter(isRead);
  const { listWebhooks } = publicApi;

  const ask = (path: string, params: Record<string, unknown>) =>
    control.running.app.inject({
      url: `/api/public${path.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name]))}`,
      headers: { authorization: `Bearer ${control.publicKey}` },
    });

  it(`has a bounded answer when the host answers the request, too: ${listWebhooks.id}`, async () => {
    const asked = ask(listWebhooks.path, { sessionId });
    const { call } = await host.calls();
    expect(call?.kind).toBe('webhooks');
    const output = { data: Array(9).fill('x'.repeat(400_000)), meta: {} };
    await host.answer(call?.id ?? '', { output });
    expect((await asked).rawPayload.byteLength).toBeLessThan(mostBytes);
  });

  it.each(
    reads.filter((shape) => shape !== listWebhooks).map((shape) => [shape.id, shape] as const),
  )(
    'has a bounded answer in a project whose worlds and sessions are large: %s',
    async (_, { path }) => {
      const [large] = (await list('/world-sessions?world=wordy&limit=1')).data;
      const { data } = await list(`/world-sessions/${sessionId}/calls?limit=1`);
      for (const [slug, session] of [
        ['wordy', large?.id],
        ['notes', sessionId],
      ] as const) {
        const params: Record<string, unknown> = { slug, sessionId: session, callId: data[0]?.id };
        const answer = await ask(path, params);
        expect(answer.rawPayload.byteLength).toBeLessThan(mostBytes);
      }
    },
  );
});

describe('lists of worlds and of their tasks', () => {
  it('have counts, and names of tools only when the client asks for them', async () => {
    const { data } = await list('/environments');
    const small = data.filter(({ slug }) => !String(slug).startsWith('shared'));
    expect(small.map(({ slug, toolCount, taskCount }) => [slug, toolCount, taskCount])).toEqual([
      ['wordy', 3, 1],
      ['notes', 3, 1],
    ]);
    expect(data.some((world) => 'tools' in world || 'redact' in world)).toBe(false);
    const named = (await list('/environments?fields=tools,dependencies')).data.at(-1);
    expect(named).toMatchObject({
      tools: ['list_notes', 'create_notes', 'count_slowly'],
      dependencies: [],
    });
    const [task] = (await list('/worlds/notes/tasks')).data;
    expect(Object.keys(task ?? {})).toEqual(['name', 'description', 'seed', 'grader', 'tools']);
  });
});
