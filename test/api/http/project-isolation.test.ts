/**
 * Tests that projects are isolated. A caller of another project that knows every id gets 404 from every route with an
 * argument in its path, and changes nothing. New routes are covered, too.
 */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { createOrganization } from '#wire/admin-api/operations.ts';
import { basicAuthorization } from '#wire/client.ts';
import { type OperationShape, operationsOf } from '#wire/operation.ts';
import * as api from '#wire/public-api/operations.ts';
import { createAsker } from '../../support/control/client.ts';
import {
  bodiesOnThings,
  chunk,
  makeEverything,
  ownFile,
} from '../../support/control/everything.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { addNeighbour } from '../../support/control/second-project.ts';
import { setSettings } from '../../support/control/settings.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let ask: ReturnType<typeof createAsker>;
/** Callers of another project, and of another organization. */
let strangers: [name: string, authorization: string][];
/** Ids of the objects of the first project, by the names of path arguments. */
let ids: Record<string, string>;

/** Adds a project in an organization of its own and returns its authorization. */
const addForeigner = async (): Promise<string> => {
  const { body } = await control.admin(createOrganization, { body: { slug: 'foreign' } });
  const as = basicAuthorization(body.apiKey.publicKey, body.apiKey.secretKey);
  const project = await ask('POST', '/projects', { as, body: { name: 'theirs' } });
  const { id } = project.body as { id: string };
  const key = await ask('POST', `/projects/${id}/apiKeys`, { as, body: {} });
  const { publicKey, secretKey } = key.body as { publicKey: string; secretKey: string };
  return basicAuthorization(publicKey, secretKey);
};

const ofProjects = new Set<string>(['read', 'inspect', 'send', 'write']);
const isProjects = ({ access }: OperationShape): boolean => ofProjects.has(access);

/** Operations whose path arguments name objects of the caller's own project, so that another project gets no 404. */
const namesOwn = new Set(['listContext', 'pushContext']);

/**
 * Operations to test. Those on connectors are left out: an organization shares its connectors, and they have a test of
 * their own.
 */
const operations = operationsOf(api).filter(
  (operation) => isProjects(operation) && !operation.path.startsWith('/connectors'),
);
const aimed = operations.filter(({ id, path }) => path.includes('{') && !namesOwn.has(id));

const metricsOf = (view: string, field: string): string => {
  const metrics = [{ measure: 'count', aggregation: 'count' }];
  const times = { fromTimestamp: '2020-01-01T00:00:00Z', toTimestamp: '2199-01-01T00:00:00Z' };
  const asked = { view, metrics, dimensions: [{ field }], ...times };
  return `?query=${encodeURIComponent(JSON.stringify(asked))}`;
};

/** Valid queries for operations that require one. With such a query, the owner of the object gets an answer. */
const queries: Record<string, string> = {
  getMetrics: metricsOf('traces', 'id'),
  getBoundedMetrics: metricsOf('user-events', 'event'),
  compareBuilds: '?base=hash-of-mine&candidate=hash-of-mine',
  diffBuilds: '?agentId=mine&base=hash-of-mine&candidate=hash-of-mine',
  findBuildGate: '?commitSha=0123456789abcdef',
  resolveBuild: '?agentId=mine&label=stable',
  deleteFileOfEnvironment: '?path=mine.txt',
  downloadFileOfEnvironment: '?path=mine.txt',
  removeWebhookDestination: '?url=https://a.example/x',
};

/** Operations that answer 404 because their query names an object of the first project. */
const ofOne = new Set([
  'compareBuilds',
  'diffBuilds',
  'findBuildGate',
  'listDatasetRunItems',
  'resolveBuild',
]);

const pathOf = ({ path, id }: OperationShape, own: Record<string, string> = {}): string => {
  const filled = path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => own[name] ?? ids[name] ?? `lacks-${name}`,
  );
  if (id === 'listDatasetRunItems') {
    return `${filled}?datasetId=${ids.datasetId}&runName=${ids.runName}`;
  }
  return `${filled}${queries[id] ?? ''}`;
};

const send = (operation: OperationShape, as: string, own?: Record<string, string>) => {
  const body = bodiesOnThings[operation.id];
  return ask(operation.method, pathOf(operation, own), {
    as,
    ...(body === undefined ? {} : { body }),
  });
};

/** Returns a digest of the rows of each table. Leases are left out because workers renew them. */
const readAll = async (): Promise<Record<string, string>> => {
  const waiting = () => control.sql('select from trace_dues limit 1');
  await until(async () => (await waiting()).length === 0, {
    timeoutMs: 20_000,
    what: 'sessions are reported in their traces',
  });
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
    'datasets',
    'dataset_items',
    'dataset_runs',
    'dataset_run_items',
    'annotation_queues',
    'annotation_queue_items',
    'models',
    'user_profiles',
    'user_events',
    'user_event_sums',
    'comments',
    'file_folders',
    'files',
    'awaited_files',
    'file_connectors',
    'media',
    'task_sets',
    'task_set_tasks',
    'dashboards',
    'agent_builds',
    'agent_labels',
    'agent_runs',
    'context_repos',
    'context_versions',
    'context_labels',
  ];
  const digests = await Promise.all(
    tables.map(async (table): Promise<[string, string]> => {
      const rows = await control.sql(
        `select (to_jsonb(t) - 'lease_until')::text as text from ${table} t order by 1`,
      );
      return [table, createHash('sha256').update(JSON.stringify(rows)).digest('hex')];
    }),
  );
  return Object.fromEntries(digests);
};

beforeAll(async () => {
  control = await startNotesControl({ files: { folder: tmpdir(), endpoints: [] } });
  ask = createAsker(control);
  ids = await makeEverything(control);
  const neighbour = await addNeighbour(control);
  strangers = [
    ['another project', neighbour.authorization],
    ['another organization', await addForeigner()],
  ];
});
afterAll(() => control.stop());

describe('the data of a project', () => {
  it('includes an object with an id for every path argument of every route', () => {
    const names = aimed.flatMap(({ path }) =>
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    );
    expect([...new Set(names)].filter((name) => !ids[name ?? '']).sort()).toEqual([]);
  });

  it('is not found by callers of other projects on any route with an argument, and stays unchanged', async () => {
    const before = await readAll();
    const wrong: unknown[] = [];
    for (const [name, as] of strangers) {
      for (const operation of aimed) {
        const { status, body } = await send(operation, as);
        if (status !== 404) wrong.push([operation.id, name, status, body]);
        const text = JSON.stringify(body);
        // An answer may repeat what the caller sent, but nothing that the caller did not know.
        if (text.includes('notes@') || text.includes('Do it.'))
          wrong.push([operation.id, name, text]);
      }
    }
    expect(wrong).toEqual([]);
    expect(await readAll()).toEqual(before);
  });

  it('does not appear in the lists of other projects', async () => {
    const values = Object.values(ids).filter((id) => id.length > 20);
    for (const [name, as] of strangers) {
      for (const operation of operations.filter(
        ({ id, method, path }) => method === 'GET' && !path.includes('{') && id !== 'downloadFile',
      )) {
        const { status, body } = await send(operation, as);
        const seen = values.filter((id) => JSON.stringify(body).includes(id));
        const expected = [operation.id, name, ofOne.has(operation.id) ? 404 : 200, []];
        expect([operation.id, name, status, seen]).toEqual(expected);
      }
    }
  });

  it('cannot be named in request bodies of other projects', async () => {
    const { version: versionId, taskId } = ids;
    for (const [, as] of strangers) {
      const post = async (path: string, body: object) =>
        (await ask('POST', path, { as, body })).status;
      expect(await post('/world-sessions', { versionId })).toBe(404);
      expect(await post('/world-sessions', { slug: 'notes' })).toBe(404);
      expect(await post('/world-tasks', { world: 'notes', spec: { instruction: 'Do it.' } })).toBe(
        404,
      );
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

describe('a project whose world has the same name as a world of another project', () => {
  const inner = (operation: OperationShape) => /\{(?!slug\})/.test(operation.path);

  it('reads its own world by that name, and reaches nothing of the other world', async () => {
    for (const [name, as] of strangers) {
      const made = await ask('POST', '/worlds', {
        as,
        body: { slug: 'notes', name, from: encodeTree(notesWorld()) },
      });
      expect(made.status).toBe(201);
      // Both worlds have this slug. Everything within the world still belongs to the first project only.
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

  it('has its own idempotency keys, uploads and stored bytes', async () => {
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
      // A file that only the first project has must be uploaded again.
      const missing = await ask('POST', '/worlds/notes/versions/missing', {
        as,
        body: { sha256: [ownFile] },
      });
      expect(missing.body).toMatchObject({ missing: [ownFile] });
    }
  });

  it('has its own quotas', async () => {
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
