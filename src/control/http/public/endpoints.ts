/** The public API: what is served below `/api/public`. */
import type { Parts } from '../../parts.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Ways } from '../perform.ts';
import { accountEndpoints } from './accounts.ts';
import { agentEndEndpoints } from './agent-ends.ts';
import { annotationEndpoints } from './annotation-queues.ts';
import { bundleEndpoints } from './bundles.ts';
import { callEndpoints } from './calls.ts';
import { connectorEndpoints } from './connectors.ts';
import { contextEndpoints } from './context.ts';
import { dashboardEndpoints } from './dashboards.ts';
import { dataEndpoints } from './data.ts';
import { dataReadEndpoints } from './data-read.ts';
import { datasetEndpoints } from './datasets.ts';
import { deliveryEndpoints } from './deliveries.ts';
import { exportEndpoints } from './exports.ts';
import { fileEndpoints } from './files.ts';
import { ingestionEndpoints } from './ingestion.ts';
import { linkEndpoints } from './links.ts';
import { mcpEndpoints } from './mcp.ts';
import { mediaEndpoints } from './media.ts';
import { modelEndpoints } from './models.ts';
import { projectEndpoints } from './project.ts';
import { projectMetricsEndpoints } from './project-metrics.ts';
import { proofEndpoints } from './proofs.ts';
import { recordingEndpoints } from './recordings.ts';
import { releaseEndpoints } from './releases.ts';
import { requestEndpoints } from './requests.ts';
import { runtimeEndpoints } from './runtime.ts';
import { scoreEndpoints } from './scores.ts';
import { serviceEndpoint } from './service-mcp.ts';
import { sessionEndpoints } from './sessions.ts';
import { taskEndpoints } from './tasks.ts';
import { testEndpoints } from './tests.ts';
import { traceEndpoints } from './traces.ts';
import { commentEndpoints, userEndpoints } from './users.ts';
import { versionEndpoints } from './versions.ts';
import { webhookPushEndpoints } from './webhook-push.ts';
import { worldEndpoints } from './worlds.ts';

/** All operations, and over them the MCP server. */
export const publicEndpoints = (parts: Parts, ways: Ways): Endpoint[] => {
  const endpoints = operationEndpoints(parts);
  return [...endpoints, serviceEndpoint(parts, endpoints, ways)];
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
