/** Valid bodies for every operation that takes one. `%n` in a body is another number each time. */
import { createHash } from 'node:crypto';
import { bodiesOnThings } from '../control/everything.ts';
import { encodeTree, notesWorld } from '../worlds/worlds.ts';

const file = {
  ...{ path: 'f%n.txt', contentLength: 0, contentType: 'text/plain' },
  sha256: createHash('sha256').digest('base64'),
};
const event = (type: string, body: object) => ({
  ...{ id: `${type} %n`, type, timestamp: '2026-01-01T00:00:00.000Z' },
  body,
});

/** Returns bodies for existing objects by their ids. */
export const goodBodies = (ids: Record<string, string>): Record<string, object> => ({
  ...bodiesOnThings,
  addAnnotationQueueItem: { objectId: 'o%n', objectType: 'TRACE' },
  branchContainer: { slug: 'branched-%n' },
  confirmFileUpload: { fileId: 'fil-01kaz4x0pg8q2m5v7n3c1d9e6f', ok: false },
  createAnnotationQueue: { name: 'q%n', scoreConfigIds: [ids.configId] },
  createComment: { objectType: 'TRACE', objectId: 't', content: 'c' },
  createDashboard: { name: 'd', taskSetId: ids.taskSetId, template: 'empty' },
  createDataset: { name: 'd%n' },
  createDatasetItem: { datasetName: 'filled', input: 1 },
  createDatasetRunItem: { runName: 'r', datasetItemId: ids.datasetItemId, traceId: 't%n' },
  createFileConnector: { name: 'c%n', kind: 'folder', folder: 'mine' },
  createFileConnectorOfEnvironment: { name: 'c%n', kind: 'folder', folder: 'mine' },
  createFolder: { path: 'folder' },
  createModel: { modelName: 'm%n', matchPattern: '^m$', inputPrice: 1 },
  createNamedDataset: { name: 'n%n' },
  createOrganizationKey: {},
  createProject: { name: 'p%n' },
  createProjectKey: {},
  createPrompt: { name: 'p%n', prompt: 'Do it.' },
  createScore: { name: 's', traceId: 't', value: 1 },
  createScoreConfig: { name: 'config', dataType: 'NUMERIC' },
  createTask: { world: 'notes', spec: { instruction: 'Do it.' } },
  createTaskSet: { name: 's%n', taskIds: [ids.taskId] },
  createToken: { name: 't', email: 'a@example.org' },
  createTrace: { name: 't' },
  createUserEvent: { userId: 'u', event: 'e' },
  createWorld: { slug: 'w%n', from: encodeTree(notesWorld()) },
  deleteTraces: { traceIds: ['none'] },
  ingest: { batch: [event('trace-create', { id: 't%n' })] },
  ingestMetrics: { resourceMetrics: [] },
  ingestSpans: { resourceSpans: [] },
  labelPrompt: { newLabels: ['theirs'] },
  moveFile: { fromPath: 'none.txt', toPath: 'nowhere.txt' },
  openSession: { slug: 'notes', task: { instruction: 'Do it.' } },
  publishConnector: { world: 'notes' },
  pushContext: { content: { a: '%n' } },
  registerBuild: { agentId: 'a', buildHash: 'h%n', manifest: {}, attribution: {} },
  removeMembership: { userId: 'none' },
  removeProjectMembership: { userId: 'none' },
  requestFileUpload: file,
  requestFileUploadOfEnvironment: file,
  requestMediaUpload: {
    ...{ traceId: 't', field: 'input', contentType: 'image/png', contentLength: 5 },
    sha256Hash: file.sha256,
  },
  runWorldCommand: { command: 'templates' },
  setMembership: { email: 'm%n@example.org', role: 'MEMBER' },
  setProjectMembership: { userId: 'none', role: 'MEMBER' },
  setUserProfile: { userId: 'u', attributes: {} },
  dispatchRun: { dataset: 'filled', name: 'dispatched' },
  startDatasetRun: { world: 'notes', name: 'played' },
  syncFileConnector: { connectorId: ids.connectorId },
  updateOrganization: { name: 'renamed' },
  updateProject: { name: 'renamed' },
  updateSettings: { gate: { floor: 30 } },
});
