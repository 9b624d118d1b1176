/**
 * Projects are apart: whatever a project has, another one that knows every id of it is told that there is no such
 * thing, and nothing changes. Every route with an argument in its path is tried, those that are added, too.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOrganization } from '#wire/admin-api/operations.ts';
import { basicAuthorization } from '#wire/client.ts';
import type { OperationShape } from '#wire/operation.ts';
import * as api from '#wire/public-api/operations.ts';
import { createAsker } from '../support/asker.ts';
import { chunkOf, senderTo } from '../support/batches.ts';
import { warmHost } from '../support/host.ts';
import { addNeighbour } from '../support/neighbour.ts';
import { type OwnControl, startNotesControl } from '../support/own-control.ts';
import { setSettings } from '../support/settings.ts';
import { encodeTree, notesWorld } from '../support/worlds.ts';

let control: OwnControl;
let ask: ReturnType<typeof createAsker>;
/** Of another project, and of another organization. */
let strangers: [name: string, authorization: string][];
/** What the first project has, by the names that arguments of paths have. */
let ids: Record<string, string>;

const chunk = chunkOf([{ id: 'n1', title: 'x' }], 'notes');

/** A project in an organization of its own. */
const addForeigner = async (): Promise<string> => {
  const { body } = await control.admin(createOrganization, { body: { slug: 'foreign' } });
  const as = basicAuthorization(body.apiKey.publicKey, body.apiKey.secretKey);
  const project = await ask('POST', '/projects', { as, body: { name: 'theirs' } });
  const { id } = project.body as { id: string };
  const key = await ask('POST', `/projects/${id}/apiKeys`, { as, body: {} });
  const { publicKey, secretKey } = key.body as { publicKey: string; secretKey: string };
  return basicAuthorization(publicKey, secretKey);
};

/** A file that the first project alone has, in a world of its own. */
const ownText = 'of the first project alone';
const ownFile = createHash('sha256').update(ownText).digest('hex');

const spec = { instruction: 'Do it.' };

/** A trace of a session with an observation and a score, and a config of scores. */
const makeTraces = async (sessionId: string): Promise<Record<string, string>> => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const timestamp = new Date().toISOString();
  const event = (type: string, body: object) => ({ id: `of ${type}`, type, timestamp, body });
  const batch = [
    event('trace-create', { id: 'trace-of-mine-0001', name: 'mine', sessionId }),
    event('span-create', { id: 'span-of-mine-00001', traceId: 'trace-of-mine-0001' }),
    event('score-create', {
      ...{ id: 'score-of-mine-0001', name: 'right' },
      ...{ traceId: 'trace-of-mine-0001', value: 1 },
    }),
  ];
  const taken = await ask('POST', '/ingestion', { as, body: { batch } });
  expect(taken.body).toMatchObject({ errors: [] });
  const config = await ask('POST', '/score-configs', {
    as,
    body: { name: 'right', dataType: 'NUMERIC' },
  });
  return {
    traceId: 'trace-of-mine-0001',
    observationId: 'span-of-mine-00001',
    scoreId: 'score-of-mine-0001',
    configId: (config.body as { id: string }).id,
  };
};

/** Makes one of everything that has an id. */
const makeAll = async (): Promise<Record<string, string>> => {
  const params = { slug: 'notes' };
  const world = (await control.send(api.getWorld, { params })).body;
  const host = await warmHost(control);
  const session = (await control.send(api.openSession, { body: { slug: 'notes', task: spec } }))
    .body;
  await host.poll();
  await host.ready();
  const called = await control.send(api.enqueueCall, {
    params: { sessionId: session.id },
    body: { kind: 'state' },
  });
  const task = await control.send(api.createTask, { body: { world: 'notes', spec } });
  const extra = { path: 'extra.md', content: Buffer.from(ownText).toString('base64') };
  await control.send(api.createWorld, {
    body: { slug: 'extra', from: [...encodeTree(notesWorld()), extra] },
  });
  const sender = senderTo(control, 'notes');
  const batchId = await sender.open();
  const registered = await sender.register(batchId, 0, chunk);
  const run = await control.send(api.runTests, { params, body: { wait: false } });
  const version = (await control.send(api.listVersions, { params })).body.data[0];
  await control.send(api.setLabel, {
    params: { ...params, label: 'mine' },
    body: { version: '1' },
  });
  return {
    ...(await makeTraces(session.id)),
    slug: 'notes',
    containerId: world.id,
    bundle: version?.id ?? '',
    version: version?.id ?? '',
    sessionId: session.id,
    callId: called.body.id,
    taskId: task.body.id,
    batchId,
    chunkId: registered.chunkId,
    runId: run.body.runId,
    label: 'mine',
    sha256: world.files[0]?.sha256.replace('sha256:', '') ?? '',
  };
};

/** Of operations that need a body: one that would be taken of whoever has the thing. */
const bodies: Record<string, object> = {
  answerDeliveries: { answers: [{ sequence: 1, status: 200, durationMs: 1 }] },
  archiveWorld: { archived: true },
  branchContainer: { slug: 'branched' },
  createBatch: {},
  createSurfaceLink: {},
  enqueueCall: { kind: 'reset' },
  findMissingFiles: { sha256: [] },
  importData: { rows: { notes: [] } },
  pinBundle: { bundle: '1', label: 'theirs' },
  proveTask: { task: 'finish' },
  publishData: {},
  pushBundle: { base: 1, files: [] },
  pushVersion: { base: 1, files: [] },
  registerChunk: { ordinal: 1, digest: chunk.digest, bytes: chunk.bytes.byteLength, rows: 1 },
  renameWorld: { name: 'theirs' },
  runTests: { wait: false },
  saveSessionTask: {},
  setLabel: { version: '1' },
  setWebhookDestination: { url: 'https://a.example/x', destination: 'https://b.example/y' },
  updateScoreConfig: { isArchived: true },
  updateSession: { pinned: true },
  updateTask: { name: 'theirs' },
  validateTask: {},
};

const isProjects = ({ access }: OperationShape): boolean => access === 'read' || access === 'write';

/** Connectors are what an organization shares; they have a test of their own. */
const operations = Object.values(api as Record<string, unknown>)
  .filter(
    (value): value is OperationShape =>
      typeof value === 'object' && value !== null && 'answers' in value,
  )
  .filter((operation) => isProjects(operation) && !operation.path.startsWith('/connectors'));
const aimed = operations.filter(({ path }) => path.includes('{'));

const pathOf = ({ path, id }: OperationShape, own: Record<string, string> = {}): string => {
  const filled = path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => own[name] ?? ids[name] ?? `lacks-${name}`,
  );
  return id === 'removeWebhookDestination' ? `${filled}?url=https://a.example/x` : filled;
};

const send = (operation: OperationShape, as: string, own?: Record<string, string>) => {
  const body = bodies[operation.id];
  return ask(operation.method, pathOf(operation, own), {
    as,
    ...(body === undefined ? {} : { body }),
  });
};

/** All that the first project has, as rows. */
const readAll = async (): Promise<string> => {
  const tables = [
    'worlds',
    'versions',
    'sessions',
    'calls',
    'world_tasks',
    'data_batches',
    'data_chunks',
    'world_runs',
    'traces',
    'observations',
    'scores',
    'score_configs',
  ];
  const rows = await Promise.all(
    tables.map((table) =>
      control.sql<{ text: string }>(`select t::text as text from ${table} t order by 1`),
    ),
  );
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
};

beforeAll(async () => {
  control = await startNotesControl();
  ask = createAsker(control);
  ids = await makeAll();
  const neighbour = await addNeighbour(control);
  strangers = [
    ['another project', neighbour.authorization],
    ['another organization', await addForeigner()],
  ];
});
afterAll(() => control.stop());

describe('what a project has', () => {
  it('has an id for every argument of a path', () => {
    const names = aimed.flatMap(({ path }) =>
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    );
    expect([...new Set(names)].filter((name) => !ids[name ?? '']).sort()).toEqual([]);
  });

  it('is not there for others, by any route with an argument, and stays as it is', async () => {
    const before = await readAll();
    const wrong: unknown[] = [];
    for (const [name, as] of strangers) {
      for (const operation of aimed) {
        const { status, body } = await send(operation, as);
        if (status !== 404) wrong.push([operation.id, name, status, body]);
        const text = JSON.stringify(body);
        // What they sent may be named; what they did not know may not.
        if (text.includes('notes@') || text.includes('Do it.'))
          wrong.push([operation.id, name, text]);
      }
    }
    expect(wrong).toEqual([]);
    expect(await readAll()).toBe(before);
  });

  it('is not in their lists', async () => {
    const values = Object.values(ids).filter((id) => id.length > 20);
    for (const [name, as] of strangers) {
      for (const operation of operations.filter(
        ({ method, path }) => method === 'GET' && !path.includes('{'),
      )) {
        const { status, body } = await send(operation, as);
        const seen = values.filter((id) => JSON.stringify(body).includes(id));
        expect([operation.id, name, status, seen]).toEqual([operation.id, name, 200, []]);
      }
    }
  });

  it('cannot be named in what they ask for', async () => {
    const { version: versionId, taskId } = ids;
    for (const [, as] of strangers) {
      const post = async (path: string, body: object) =>
        (await ask('POST', path, { as, body })).status;
      expect(await post('/world-sessions', { versionId })).toBe(404);
      expect(await post('/world-sessions', { slug: 'notes' })).toBe(404);
      expect(await post('/world-tasks', { world: 'notes', spec })).toBe(404);
      await ask('POST', '/worlds', { as, body: { slug: 'own', from: encodeTree(notesWorld()) } });
      expect(await post('/world-sessions', { slug: 'own', task: { id: taskId } })).toBe(404);
      const moved = await ask('PATCH', `/world-tasks/${taskId}`, { as, body: { world: 'own' } });
      expect(moved.status).toBe(404);
      const labelled = await ask('PUT', '/worlds/own/labels/x', {
        as,
        body: { version: versionId },
      });
      expect([400, 404]).toContain(labelled.status);
    }
  });
});

describe('a project with names of another', () => {
  const inner = (operation: OperationShape) => /\{(?!slug\})/.test(operation.path);

  it('has its own under them, and reaches no more by them', async () => {
    for (const [name, as] of strangers) {
      const made = await ask('POST', '/worlds', {
        as,
        body: { slug: 'notes', name, from: encodeTree(notesWorld()) },
      });
      expect(made.status).toBe(201);
      // By the slug they both have: what is within is still the first one's alone.
      const shared = ['bundle', 'version', 'label', 'sha256'];
      for (const operation of aimed.filter(inner)) {
        if (operation.path.split('/').some((part) => shared.includes(part.slice(1, -1)))) continue;
        expect([operation.id, (await send(operation, as)).status]).toEqual([operation.id, 404]);
      }
      const version = await ask('GET', `/worlds/notes/versions/${ids.version}`, { as });
      expect(version.status).toBe(404);
    }
    const names = async (as: string) =>
      ((await ask('GET', '/worlds/notes', { as })).body as { name: string }).name;
    const mine = basicAuthorization(control.publicKey, control.secretKey);
    for (let turn = 0; turn < 3; turn += 1) {
      for (const [name, as] of strangers) expect(await names(as)).toBe(name);
      expect(strangers.map(([name]) => name)).not.toContain(await names(mine));
    }
  });

  it('has keys of requests, uploads and bytes of its own', async () => {
    const headers = { 'idempotency-key': 'the-same' };
    const body = { slug: 'notes' };
    const opened = await Promise.all(
      [
        basicAuthorization(control.publicKey, control.secretKey),
        ...strangers.map(([, as]) => as),
      ].map(async (as) => ask('POST', '/world-sessions', { as, body, headers })),
    );
    expect(opened.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(opened.map((one) => (one.body as { id: string }).id)).size).toBe(3);
    for (const [, as] of strangers) {
      const batch = await ask('POST', '/worlds/notes/data/batches', { as, body: {} });
      const { batchId } = batch.body as { batchId: string };
      const registered = await ask('POST', `/worlds/notes/data/batches/${batchId}/chunks`, {
        as,
        body: {
          ordinal: 0,
          digest: chunk.digest,
          bytes: chunk.bytes.byteLength,
          rows: 1,
          entity: 'notes',
        },
      });
      expect(registered.body).toMatchObject({ uploaded: false, uploadUrl: expect.any(String) });
      // A file that the first project alone has is to be sent again.
      const missing = await ask('POST', '/worlds/notes/versions/missing', {
        as,
        body: { sha256: [ownFile] },
      });
      expect(missing.body).toMatchObject({ missing: [ownFile] });
    }
  });

  it('has quotas of its own', async () => {
    const mine = basicAuthorization(control.publicKey, control.secretKey);
    const open = async (as: string) => {
      const { status } = await ask('POST', '/world-sessions', { as, body: { slug: 'notes' } });
      return status;
    };
    await setSettings(control, { quotas: { sessions: 1 } });
    expect(await open(mine)).toBe(429);
    for (const [, as] of strangers) expect(await open(as)).toBe(201);
    await setSettings(control, { quotas: { sessions: null } });
  });
});
