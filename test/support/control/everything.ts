/** Creates one of everything that a project may have, for tests that try every route. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import { encodeTree, notesWorld } from '../worlds/worlds.ts';
import { chunkOf, senderTo } from './batches.ts';
import { createAsker } from './client.ts';
import type { TestControl } from './control.ts';
import { driveOf, sumOf } from './file-uploads.ts';
import { warmHost } from './host.ts';

type Stage = { control: TestControl; ask: ReturnType<typeof createAsker> };

export const chunk = chunkOf([{ id: 'n1', title: 'x' }], 'notes');

/** Contents of a file in a world of the first project; no other project has this file. */
export const ownText = 'of the first project alone';
export const ownFile = createHash('sha256').update(ownText).digest('hex');

const spec = { instruction: 'Do it.' };

/** Creates a trace of a session with an observation and a score, and a config of scores. */
const makeTraces = async (
  { control, ask }: Stage,
  sessionId: string,
): Promise<Record<string, string>> => {
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

/** Creates a dataset with an item and a run. */
const makeDataset = async ({ control, ask }: Stage): Promise<Record<string, string>> => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const post = async (path: string, body: object) => (await ask('POST', path, { as, body })).body;
  const datasetName = 'dataset/of mine alone';
  const dataset = (await post('/v2/datasets', { name: datasetName })) as { id: string };
  const datasetItemId = 'item-of-mine-alone-01';
  await post('/dataset-items', { datasetName, id: datasetItemId, input: 'Do it.' });
  const runName = 'run-of-mine-alone-001';
  await post('/dataset-run-items', { runName, datasetItemId, traceId: 'trace-of-mine-0001' });
  const path = encodeURIComponent(datasetName);
  return { datasetName: path, name: path, datasetItemId, runName, datasetId: dataset.id };
};

/** Creates an annotation queue with an item. */
const makeQueue = async (
  { control, ask }: Stage,
  configId = '',
): Promise<Record<string, string>> => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const post = async (path: string, body: object) =>
    (await ask('POST', path, { as, body })).body as { id: string };
  const queue = await post('/annotation-queues', { name: 'mine', scoreConfigIds: [configId] });
  const path = `/annotation-queues/${queue.id}/items`;
  const item = await post(path, { objectId: 'trace-of-mine-0001', objectType: 'TRACE' });
  return { queueId: queue.id, itemId: item.id };
};

/** Creates a build with a label, and a run of it. */
const makeBuild = async ({ control }: Stage): Promise<Record<string, string>> => {
  const body = { agentId: 'mine', buildHash: 'hash-of-mine' };
  const build = (await control.send(api.registerBuild, { body })).body;
  const params = { buildId: build.id };
  await control.send(api.moveLabel, { params, body: { label: 'stable' } });
  const run = { id: 'run-of-mine-00000001', buildHash: body.buildHash };
  const session = await control.send(api.openSession, { body: { slug: 'notes', run } });
  await control.send(api.closeSession, { params: { sessionId: session.body.id }, body: {} });
  return { buildId: build.id, agentRunId: run.id };
};

/** Creates a prompt, which is a kind of context repository. */
const makePrompt = async ({ control, ask }: Stage): Promise<Record<string, string>> => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const promptName = 'prompt-of-mine-alone-01';
  const body = { name: promptName, prompt: 'Do it.', labels: ['production'] };
  expect((await ask('POST', '/v2/prompts', { as, body })).status).toBe(201);
  return { kind: 'prompts', identifier: promptName, promptName, promptVersion: '1' };
};

/** Creates a user with an event, and a comment. */
const makeUser = async ({ control }: Stage): Promise<Record<string, string>> => {
  const userId = 'user-of-mine-alone-01';
  await control.send(api.setUserProfile, { body: { userId, notes: 'mine' } });
  await control.send(api.createUserEvent, { body: { userId, event: 'bought', value: 1 } });
  const on = { objectType: 'TRACE' as const, objectId: 'trace-of-mine-0001' };
  const { body } = await control.send(api.createComment, { body: { ...on, content: 'mine' } });
  return { userId, commentId: body.id };
};

/** Creates a model with a price. */
const makeModel = async ({ control }: Stage): Promise<Record<string, string>> => {
  const body = { modelName: 'mine', matchPattern: '^mine$', inputPrice: 1 };
  return { modelId: (await control.send(api.createModel, { body })).body.id };
};

/** Creates a task set, and a dashboard of it. */
const makeDashboard = async (
  { control }: Stage,
  taskId: string,
): Promise<Record<string, string>> => {
  const set = await control.send(api.createTaskSet, { body: { name: 'mine', taskIds: [taskId] } });
  const body = { name: 'mine', taskSetId: set.body.id, template: 'empty' } as const;
  const dashboard = await control.send(api.createDashboard, { body });
  return { taskSetId: set.body.id, dashboardId: dashboard.body.id };
};

/** Creates a connector of files, on a folder that is never synced. */
const makeFileConnector = async ({ control }: Stage): Promise<Record<string, string>> => {
  const body = { name: 'mine alone', kind: 'folder', folder: 'mine' } as const;
  return { connectorId: (await control.send(api.createFileConnector, { body })).body.id };
};

/** Creates one of everything that has an id; returns the ids, by the names of path arguments. */
export const makeEverything = async (control: TestControl): Promise<Record<string, string>> => {
  const stage: Stage = { control, ask: createAsker(control) };
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
  await driveOf(control).put('mine.txt', 'of the first project');
  const sender = senderTo(control, 'notes');
  const batchId = await sender.open();
  const registered = await sender.register(batchId, 0, chunk);
  const run = await control.send(api.runTests, { params, body: { wait: false } });
  const version = (await control.send(api.listVersions, { params })).body.data[0];
  await control.send(api.setLabel, {
    params: { ...params, label: 'mine' },
    body: { version: '1' },
  });
  const traces = await makeTraces(stage, session.id);
  const { body: media } = await control.send(api.requestMediaUpload, {
    body: {
      ...{ traceId: 'trace-of-mine-0001', field: 'input' as const, contentType: 'image/png' },
      ...{ contentLength: 5, sha256Hash: sumOf('bytes') },
    },
  });
  return {
    mediaId: media.mediaId,
    ...traces,
    ...(await makeDataset(stage)),
    ...(await makeQueue(stage, traces.configId)),
    ...(await makeBuild(stage)),
    ...(await makePrompt(stage)),
    ...(await makeModel(stage)),
    ...(await makeUser(stage)),
    ...(await makeDashboard(stage, task.body.id)),
    ...(await makeFileConnector(stage)),
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

/**
 * Valid bodies for those operations on an existing object that require a body. If the object's owner sends the body,
 * the request is accepted.
 */
export const bodiesOnThings: Record<string, object> = {
  addAnnotationQueueItem: { objectId: 'theirs', objectType: 'TRACE' },
  assignAnnotationQueue: { userId: 'theirs' },
  unassignAnnotationQueue: { userId: 'theirs' },
  updateAnnotationQueueItem: { status: 'COMPLETED' },
  answerDeliveries: { answers: [{ sequence: 1, status: 200, durationMs: 1 }] },
  archiveWorld: { archived: true },
  branchContainer: { slug: 'branched' },
  changeFileConnector: { name: 'theirs' },
  reportAgentEnd: {
    ...{ outcome: 'failed', exitCode: 1, signal: null, seconds: 1.5 },
    ...{ lastLines: ['no module'], output: 'no module\n', outputCut: false },
  },
  createBatch: {},
  confirmFileUploadOfEnvironment: { fileId: 'fil-01kaz4x0pg8q2m5v7n3c1d9e6f', ok: false },
  createFileConnectorOfEnvironment: { name: 'theirs', kind: 'folder', folder: 'theirs' },
  createFolderOfEnvironment: { path: 'theirs' },
  createSurfaceLink: {},
  enqueueCall: { kind: 'reset' },
  findMissingFiles: { sha256: [] },
  moveBuildLabel: { label: 'theirs' },
  labelPrompt: { newLabels: ['theirs'] },
  importData: { rows: { notes: [] } },
  moveFileOfEnvironment: { fromPath: 'mine.txt', toPath: 'theirs.txt' },
  dispatchRun: { dataset: 'dataset/of mine alone' },
  pinBundle: { bundle: '1', label: 'theirs' },
  pushDashboardCode: { files: [], force: true },
  proveTask: { task: 'finish', wait: false },
  publishData: {},
  pushBundle: { base: 1, files: [] },
  pushVersion: { base: 1, files: [] },
  registerChunk: { ordinal: 1, digest: chunk.digest, bytes: chunk.bytes.byteLength, rows: 1 },
  reportMediaUpload: { uploadedAt: '2026-01-01T00:00:00.000Z', uploadHttpStatus: 500 },
  requestFileUploadOfEnvironment: {
    ...{ path: 'theirs.txt', contentLength: 0, contentType: 'text/plain' },
    sha256: createHash('sha256').digest('base64'),
  },
  renameWorld: { name: 'theirs' },
  renderDashboard: {},
  runTests: { wait: false },
  saveSessionTask: {},
  setLabel: { version: '1' },
  setWebhookDestination: { url: 'https://a.example/x', destination: 'https://b.example/y' },
  updateScoreConfig: { isArchived: true },
  updateSession: { pinned: true },
  startDatasetRun: { world: 'notes' },
  syncFileConnectorOfEnvironment: { connectorId: 'fcn-01kaz4x0pg8q2m5v7n3c1d9e6f' },
  testTransform: {},
  updateTask: { name: 'theirs' },
  validateTask: {},
};
