/** Endpoint of the MCP server of a session. */
import * as api from '#wire/public-api/operations.ts';
import { rpcRefusal, serveMcp } from '../../../mcp/serve.ts';
import { createSessionFace } from '../../../mcp/session-face.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint } from '../../server/endpoint.ts';

export const mcpEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(
    api.callSessionServer,
    async ({ params, headers, body }, { caller: { projectId }, signal }) =>
      serveMcp(parts, { headers, body, projectId, signal }, () =>
        createSessionFace(parts, { ...params, projectId }, headers.traceparent),
      ),
    rpcRefusal,
  ),
];
