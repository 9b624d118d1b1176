/** Endpoints of the public API, which clients call below `/api/public`. */
import type { Parts } from '../../parts.ts';
import type { Endpoint } from '../server/endpoint.ts';
import type { RequestServices } from '../server/perform.ts';
import { annotationEndpoints } from './evaluation/annotation-queues.ts';
import { datasetEndpoints } from './evaluation/datasets.ts';
import { proofEndpoints } from './evaluation/proofs.ts';
import { releaseEndpoints } from './evaluation/releases.ts';
import { testEndpoints } from './evaluation/tests.ts';
import { dashboardEndpoints } from './observability/dashboards.ts';
import { ingestionEndpoints } from './observability/ingestion.ts';
import { modelEndpoints } from './observability/models.ts';
import { projectMetricsEndpoints } from './observability/project-metrics.ts';
import { scoreEndpoints } from './observability/scores.ts';
import { traceEndpoints } from './observability/traces.ts';
import { commentEndpoints, userEndpoints } from './observability/users.ts';
import { accountEndpoints } from './projects/accounts.ts';
import { connectorEndpoints } from './projects/connectors.ts';
import { contextEndpoints } from './projects/context.ts';
import { fileEndpoints } from './projects/files.ts';
import { mediaEndpoints } from './projects/media.ts';
import { projectEndpoints } from './projects/project.ts';
import { serviceEndpoint } from './service-mcp.ts';
import { agentEndEndpoints } from './sessions/agent-ends.ts';
import { callEndpoints } from './sessions/calls.ts';
import { deliveryEndpoints } from './sessions/deliveries.ts';
import { exportEndpoints } from './sessions/exports.ts';
import { mcpEndpoints } from './sessions/mcp.ts';
import { recordingEndpoints } from './sessions/recordings.ts';
import { requestEndpoints } from './sessions/requests.ts';
import { sessionEndpoints } from './sessions/sessions.ts';
import { webhookPushEndpoints } from './sessions/webhook-push.ts';
import { bundleEndpoints } from './worlds/bundles.ts';
import { dataEndpoints } from './worlds/data.ts';
import { dataReadEndpoints } from './worlds/data-read.ts';
import { linkEndpoints } from './worlds/links.ts';
import { runtimeEndpoints } from './worlds/runtime.ts';
import { taskEndpoints } from './worlds/tasks.ts';
import { versionEndpoints } from './worlds/versions.ts';
import { worldEndpoints } from './worlds/worlds.ts';

/** Returns the endpoints of all operations, and the endpoint of the MCP server that offers the operations as tools. */
export const publicEndpoints = (parts: Parts, services: RequestServices): Endpoint[] => {
  const endpoints = operationEndpoints(parts);
  return [...endpoints, serviceEndpoint(parts, endpoints, services)];
};

const operationEndpoints = (parts: Parts): Endpoint[] => [
  ...accountEndpoints(parts),
  ...worldEndpoints(parts),
  ...versionEndpoints(parts),
  ...dataEndpoints(parts),
  ...taskEndpoints(parts),
  ...proofEndpoints(parts),
  ...testEndpoints(parts),
  ...bundleEndpoints(parts),
  ...dataReadEndpoints(parts),
  ...connectorEndpoints(parts),
  ...runtimeEndpoints(parts),
  ...sessionEndpoints(parts),
  ...linkEndpoints(parts),
  ...webhookPushEndpoints(parts),
  ...callEndpoints(parts),
  ...recordingEndpoints(parts),
  ...agentEndEndpoints(parts),
  ...exportEndpoints(parts),
  ...requestEndpoints(parts),
  ...deliveryEndpoints(parts),
  ...projectEndpoints(parts),
  ...mcpEndpoints(parts),
  ...ingestionEndpoints(parts),
  ...traceEndpoints(parts),
  ...scoreEndpoints(parts),
  ...contextEndpoints(parts),
  ...datasetEndpoints(parts),
  ...annotationEndpoints(parts),
  ...fileEndpoints(parts),
  ...mediaEndpoints(parts),
  ...modelEndpoints(parts),
  ...userEndpoints(parts),
  ...commentEndpoints(parts),
  ...projectMetricsEndpoints(parts),
  ...releaseEndpoints(parts),
  ...dashboardEndpoints(parts),
];
