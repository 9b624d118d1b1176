/**
 * The public API, one name per operation, each from the file of its group. Base address: `{base_url}/api/public`.
 */

export {
  createOrganizationKey,
  createProject,
  createProjectKey,
  createToken,
  deleteOrganization,
  deleteProject,
  getOrganization,
  getProjectSettings,
  getSettings,
  listAuditLog,
  listMemberships,
  listOrganizationKeys,
  listOrganizationProjects,
  listProjectKeys,
  listProjectMemberships,
  listProjects,
  listTokens,
  removeMembership,
  removeProjectMembership,
  revokeOrganizationKey,
  revokeProjectKey,
  revokeToken,
  setMembership,
  setProjectMembership,
  updateOrganization,
  updateProject,
  updateSettings,
} from './account-operations.ts';
export { getAgentEnd, reportAgentEnd } from './agent-end-operations.ts';
export {
  addQueueItem,
  assignQueue,
  createQueue,
  getQueue,
  getQueueItem,
  listQueueItems,
  listQueues,
  removeQueueItem,
  unassignQueue,
  updateQueueItem,
} from './annotation-operations.ts';
export {
  branchContainer,
  dispatchRun,
  getBundle,
  getContainer,
  listBundles,
  pinBundle,
  pushBundle,
} from './bundle-operations.ts';
export {
  enqueueCall,
  getCall,
  listCalls,
  listSessionRequests,
  listWorldRequests,
} from './call-operations.ts';
export { createComment, getComment, listComments } from './comment.ts';
export {
  listConnectors,
  listConnectorVersions,
  publishConnector,
} from './connector-operations.ts';
export {
  createPrompt,
  deleteContext,
  deletePrompt,
  getContext,
  getPrompt,
  labelPrompt,
  listContext,
  listPrompts,
  pushContext,
} from './context-operations.ts';
export {
  createDashboard,
  deleteDashboard,
  getDashboard,
  listDashboards,
  pushDashboardCode,
  renderDashboard,
  testTransform,
} from './dashboard-operations.ts';
export {
  cancelBatch,
  completeBatch,
  confirmChunk,
  createBatch,
  getBatch,
  importData,
  listBatches,
  publishData,
  registerChunk,
} from './data-operations.ts';
export { readData } from './data-read.ts';
export {
  createDataset,
  createDatasetItem,
  createDatasetRunItem,
  createNamedDataset,
  deleteDatasetItem,
  deleteDatasetRun,
  getDataset,
  getDatasetItem,
  getDatasetRun,
  getNamedDataset,
  listDatasetItems,
  listDatasetRunItems,
  listDatasetRunSessions,
  listDatasetRuns,
  listDatasets,
  listNamedDatasets,
  startDatasetRun,
  stopDatasetRun,
} from './dataset-operations.ts';
export { answerDeliveries, listDeliveries, listWebhooks } from './delivery-operations.ts';
export { exportSession } from './export-operations.ts';
export {
  changeFileConnector,
  createFileConnector,
  createFileConnectorOfEnvironment,
  deleteFileConnector,
  listFileConnectors,
  listFileConnectorsOfEnvironment,
  syncFileConnector,
  syncFileConnectorOfEnvironment,
} from './file-connector-operations.ts';
export {
  confirmFileUpload,
  confirmFileUploadOfEnvironment,
  createFolder,
  createFolderOfEnvironment,
  deleteFile,
  deleteFileOfEnvironment,
  downloadFile,
  downloadFileOfEnvironment,
  listFiles,
  listFilesOfEnvironment,
  moveFile,
  moveFileOfEnvironment,
  requestFileUpload,
  requestFileUploadOfEnvironment,
} from './file-operations.ts';
export { ingest } from './ingestion.ts';
export { callService, callSessionServer } from './mcp-operations.ts';
export { getMedia, reportMediaUpload, requestMediaUpload } from './media.ts';
export { getBoundedMetrics, getMetrics, listDailyMetrics } from './metrics-operations.ts';
export { createModel, deleteModel, getModel, listModels } from './model-operations.ts';
export { ingestMetrics, ingestSpans } from './otel.ts';
export { describeProject } from './project-operations.ts';
export { getProof, proveTask } from './proof-operations.ts';
export {
  listDestinations,
  removeDestination,
  setDestination,
} from './push-operations.ts';
export { getRecording, getRecordingFilm } from './recording-operations.ts';
export {
  compareBuilds,
  diffBuilds,
  findGate,
  finishAgentRun,
  getAgentRun,
  getBuild,
  getGate,
  listAgentRuns,
  listBuilds,
  listLabelMoves,
  moveLabel,
  registerBuild,
  resolveBuild,
} from './release-operations.ts';
export { getTestRun, listTestRuns, runTests } from './run-operations.ts';
export {
  createScore,
  createScoreConfig,
  deleteScore,
  getAnyScore,
  getScore,
  getScoreConfig,
  listAllScores,
  listPlainScores,
  listScoreConfigs,
  listScores,
  updateScoreConfig,
} from './score-operations.ts';
export {
  closeSession,
  createSurfaceLink,
  getSession,
  listSessions,
  openSession,
  updateSession,
} from './session-operations.ts';
export {
  createTask,
  deleteTask,
  getTask,
  listTasks,
  saveSessionTask,
  updateTask,
  validateTask,
} from './task-operations.ts';
export {
  createTaskSet,
  deleteTaskSet,
  getTaskSet,
  listTaskSets,
} from './task-set-operations.ts';
export {
  createTrace,
  deleteTrace,
  deleteTraces,
  getObservation,
  getTrace,
  getTraceSession,
  listObservationParts,
  listObservations,
  listTraceSessions,
  listTraces,
} from './trace-operations.ts';
export {
  createUserEvent,
  getUserProfile,
  listUserEvents,
  setUserProfile,
} from './user-operations.ts';
export {
  archiveWorld,
  deleteWorld,
  findMissingFiles,
  getVersion,
  getWorldFile,
  listVersions,
  pushVersion,
  removeLabel,
  renameWorld,
  setLabel,
} from './version-operations.ts';
export {
  createWorld,
  getWorld,
  getWorldOpenApi,
  listTemplates,
  listWorldEntities,
  listWorlds,
  listWorldTasks,
  runWorldCommand,
} from './world-operations.ts';
